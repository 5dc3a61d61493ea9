package sse_test

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"backstop/sse"
)

// pieces gives a stream in portions whose sizes are the bytes of cuts, over
// and over; a size of 0 is one byte.
type pieces struct {
	rest []byte
	cuts []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	size := len(p.rest)
	if len(p.cuts) > 0 {
		size = max(int(p.cuts[p.n%len(p.cuts)]), 1)
		p.n++
	}
	n := copy(b, p.rest[:min(size, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

// reference reads the data of a whole stream in the words of the standard,
// the event that the end cuts off included.
func reference(stream string) (data []string) {
	stream = strings.TrimPrefix(stream, "\uFEFF")
	stream = strings.ReplaceAll(stream, "\r\n", "\n")
	stream = strings.ReplaceAll(stream, "\r", "\n")
	var values []string
	for line := range strings.SplitSeq(stream+"\n\n", "\n") {
		if line == "" {
			if values != nil {
				data = append(data, strings.Join(values, "\n"))
			}
			values = nil
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		if field == "data" {
			values = append(values, strings.TrimPrefix(value, " "))
		}
	}
	return data
}

var seeds = []string{
	"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n",
	"event: message_start\r\ndata: {}\r\n\r\n: ping\r\n\r\n",
	"data: a\rdata: b\r\r\ndata: c\n\r\n\n",
	"\uFEFFid: 1\nretry: 5\ndata\ndata:x\n\nda",
	": ping\n: ping\n\r\r\n\r",
}

func FuzzReader(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed), []byte{1, 7, 2}, 0)
		f.Add([]byte(seed), []byte{}, 12)
	}
	f.Fuzz(func(t *testing.T, stream, cuts []byte, limit int) {
		whole, wholeErr := drain(sse.NewReader(bytes.NewReader(stream), limit))
		parts, partsErr := drain(sse.NewReader(&pieces{rest: stream, cuts: cuts}, limit))
		if !slices.Equal(whole, parts) || wholeErr != partsErr {
			t.Fatalf("portions of %v change the reading:\nat once %v, %v\nin parts %v, %v", cuts, whole, wholeErr, parts, partsErr)
		}
		if wholeErr == sse.ErrTooLarge {
			return
		}
		var raw strings.Builder
		var data []string
		for _, ev := range whole {
			raw.WriteString(ev.raw)
			if !ev.comment {
				data = append(data, ev.data)
			}
			if limit > 0 && len(ev.raw) > limit {
				t.Fatalf("an event of %d bytes passed a limit of %d", len(ev.raw), limit)
			}
		}
		if raw.String() != string(stream) {
			t.Fatalf("the events' bytes are %q, the stream was %q", raw.String(), stream)
		}
		if want := reference(string(stream)); !slices.Equal(data, want) {
			t.Fatalf("data is %q, want %q", data, want)
		}
	})
}

func FuzzAppend(f *testing.F) {
	f.Add("delta", []byte(`{"a":1}`), "ping")
	f.Add("a\nb\rc", []byte("x\n\ndata: forged\r\revent: forged\r\n\r\n"), "\n\ndata: forged\n\n")
	f.Add("", []byte{}, "")
	f.Fuzz(func(t *testing.T, name string, data []byte, comment string) {
		stream := sse.AppendComment(nil, comment)
		stream = sse.Append(stream, name, data)
		stream = sse.AppendComment(stream, comment)
		got, err := drain(sse.NewReader(bytes.NewReader(stream), len(stream)))
		if err != io.EOF || len(got) != 3 {
			t.Fatalf("%d events and %v from %q, want 3 and io.EOF", len(got), err, stream)
		}
		if !got[0].comment || !got[2].comment || got[1].comment {
			t.Fatalf("comment and event changed places: %v", got)
		}
		wantName := strings.NewReplacer("\r", "", "\n", "").Replace(name)
		wantData := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
		if got[1].name != wantName || got[1].data != wantData {
			t.Fatalf("read back %q and %q, want %q and %q", got[1].name, got[1].data, wantName, wantData)
		}
	})
}
