package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"backstop/sse"
)

// seen is an Event that outlives the next read.
type seen struct {
	raw, name, data string
	comment         bool
}

func (s seen) String() string {
	return fmt.Sprintf("{raw %q name %q data %q comment %v}", s.raw, s.name, s.data, s.comment)
}

// drain reads a stream to its end and returns the error that ended it; an
// event that came with it is the last of the events.
func drain(r *sse.Reader) (events []seen, err error) {
	for {
		ev, err := r.Next()
		if ev != nil {
			events = append(events, seen{string(ev.Raw), ev.Name, string(ev.Data), ev.Comment})
		}
		if err != nil {
			return events, err
		}
	}
}

func TestEventsOfAStream(t *testing.T) {
	for _, tt := range []struct {
		name   string
		stream string
		want   []seen
	}{
		{"an empty stream has none", "", nil},
		{"one data line is one event", "data: x\n\n", []seen{{"data: x\n\n", "", "x", false}}},
		{"two events are told apart", "data: x\n\ndata: y\n\n", []seen{{"data: x\n\n", "", "x", false}, {"data: y\n\n", "", "y", false}}},
		{"CRLF ends lines", "data: x\r\n\r\ndata: y\r\n\r\n", []seen{{"data: x\r\n\r\n", "", "x", false}, {"data: y\r\n\r\n", "", "y", false}}},
		{"CR alone ends lines", "data: x\r\rdata: y\r\r", []seen{{"data: x\r\r", "", "x", false}, {"data: y\r\r", "", "y", false}}},
		{"line endings may mix", "event: a\r\ndata: x\rdata: y\n\r\ndata: z\n\n", []seen{{"event: a\r\ndata: x\rdata: y\n\r\n", "a", "x\ny", false}, {"data: z\n\n", "", "z", false}}},
		{"an LF after the CR that ended an event is the rest of that line ending", "data: x\r\r\ndata: y\n\n", []seen{{"data: x\r\r", "", "x", false}, {"\ndata: y\n\n", "", "y", false}}},
		{"an LF after the last CR is kept and loses nothing", "data: x\r\r\n", []seen{{"data: x\r\r", "", "x", false}, {"\n", "", "", true}}},
		{"several data lines are joined by LF", "data: a\ndata: b\ndata:\ndata: c\n\n", []seen{{"data: a\ndata: b\ndata:\ndata: c\n\n", "", "a\nb\n\nc", false}}},
		{"other fields between data lines do not show in the data", "data: a\nid: 7\n: c\ndata: b\r\n\n", []seen{{"data: a\nid: 7\n: c\ndata: b\r\n\n", "", "a\nb", false}}},
		{"the space after the colon may be missing", "data:x\nevent:e\n\n", []seen{{"data:x\nevent:e\n\n", "e", "x", false}}},
		{"only one space is taken off", "data:  x \n\n", []seen{{"data:  x \n\n", "", " x ", false}}},
		{"a tab is part of the value", "data:\tx\n\n", []seen{{"data:\tx\n\n", "", "\tx", false}}},
		{"a field without a colon has an empty value", "data\n\n", []seen{{"data\n\n", "", "", false}}},
		{"empty data is data", "data:\n\n", []seen{{"data:\n\n", "", "", false}}},
		{"the last name counts", "event: a\nevent: b\ndata: x\n\n", []seen{{"event: a\nevent: b\ndata: x\n\n", "b", "x", false}}},
		{"a name does not outlive its event", "event: a\ndata: x\n\ndata: y\n\n", []seen{{"event: a\ndata: x\n\n", "a", "x", false}, {"data: y\n\n", "", "y", false}}},
		{"field names are case-sensitive", "Data: x\nDATA: y\n\n", []seen{{"Data: x\nDATA: y\n\n", "", "", true}}},
		{"a comment is reported apart", ": ping\n\ndata: x\n\n", []seen{{": ping\n\n", "", "", true}, {"data: x\n\n", "", "x", false}}},
		{"a comment within an event belongs to it", ": ping\ndata: x\n\n", []seen{{": ping\ndata: x\n\n", "", "x", false}}},
		{"id and retry are no data and stay in the bytes", "id: 7\nretry: 3000\n\n", []seen{{"id: 7\nretry: 3000\n\n", "", "", true}}},
		{"a name without data is no data", "event: ping\n\n", []seen{{"event: ping\n\n", "ping", "", true}}},
		{"blank lines too many are reported apart", "\n\ndata: x\n\n\n", []seen{{"\n", "", "", true}, {"\n", "", "", true}, {"data: x\n\n", "", "x", false}, {"\n", "", "", true}}},
		{"a byte-order mark at the start is kept and not read", "\uFEFFdata: x\n\n", []seen{{"\uFEFFdata: x\n\n", "", "x", false}}},
		{"a byte-order mark later is part of the field name", "data: x\n\n\uFEFFdata: y\n\n", []seen{{"data: x\n\n", "", "x", false}, {"\uFEFFdata: y\n\n", "", "", true}}},
		{"U+2028, U+0085 and form feed end no line", "data: a\u2028b\u2029c\u0085d\fe\n\n", []seen{{"data: a\u2028b\u2029c\u0085d\fe\n\n", "", "a\u2028b\u2029c\u0085d\fe", false}}},
		{"NUL and bytes that are no UTF-8 pass", "data: \x00\xff\xfe\n\n", []seen{{"data: \x00\xff\xfe\n\n", "", "\x00\xff\xfe", false}}},
		{"a whole comment line at the end loses nothing", "data: x\n\n: bye\n", []seen{{"data: x\n\n", "", "x", false}, {": bye\n", "", "", true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for way, src := range portions(tt.stream) {
				got, err := drain(sse.NewReader(src, 0))
				if err != io.EOF {
					t.Fatalf("%s: ended with %v, want io.EOF", way, err)
				}
				if !slices.Equal(got, tt.want) {
					t.Fatalf("%s:\n got %v\nwant %v", way, got, tt.want)
				}
			}
		})
	}
}

// portions gives the same stream in portions of several sizes.
func portions(stream string) map[string]io.Reader {
	return map[string]io.Reader{
		"at once":                strings.NewReader(stream),
		"at once, EOF with data": iotest.DataErrReader(strings.NewReader(stream)),
		"byte by byte":           iotest.OneByteReader(strings.NewReader(stream)),
		"in halves":              iotest.HalfReader(strings.NewReader(stream)),
		"byte by byte, EOF too":  iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(stream))),
	}
}

func TestAStreamThatEndsInsideAnEvent(t *testing.T) {
	broken := errors.New("connection reset")
	for _, tt := range []struct {
		name   string
		stream string
		raw    string
		data   string
	}{
		{"inside a data line", "data: x\n\ndata: [DO", "data: [DO", "[DO"},
		{"before the blank line", "data: x\n\ndata: [DONE]\n", "data: [DONE]\n", "[DONE]"},
		{"between CR and LF of the line", "data: x\n\ndata: [DONE]\r", "data: [DONE]\r", "[DONE]"},
		{"inside the second data line", "data: x\n\ndata: a\ndata: b", "data: a\ndata: b", "a\nb"},
		{"inside the field name", "data: x\n\nda", "da", ""},
		{"inside a comment", "data: x\n\n: pi", ": pi", ""},
		{"after a name without data", "data: x\n\nevent: e\n", "event: e\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for way, src := range portions(tt.stream) {
				r := sse.NewReader(src, 0)
				got, err := drain(r)
				if err != sse.ErrTruncated {
					t.Fatalf("%s: ended with %v, want ErrTruncated", way, err)
				}
				if last := got[len(got)-1]; len(got) != 2 || last.raw != tt.raw || last.data != tt.data {
					t.Fatalf("%s: got %v", way, got)
				}
				if ev, err := r.Next(); ev != nil || err != io.EOF {
					t.Fatalf("%s: after the end Next gives %v, %v, want io.EOF", way, ev, err)
				}
			}
			r := sse.NewReader(io.MultiReader(strings.NewReader(tt.stream), iotest.ErrReader(broken)), 0)
			got, err := drain(r)
			if len(got) != 2 || !errors.Is(err, sse.ErrTruncated) || !errors.Is(err, broken) {
				t.Fatalf("a source that fails: got %v and %v", got, err)
			}
			if ev, err := r.Next(); ev != nil || err != broken {
				t.Fatalf("after the failure Next gives %v, %v", ev, err)
			}
		})
	}
}

func TestASourceThatFailsBetweenEventsTruncatesNothing(t *testing.T) {
	broken := errors.New("connection reset")
	got, err := drain(sse.NewReader(io.MultiReader(strings.NewReader("data: x\n\n: c\n"), iotest.ErrReader(broken)), 0))
	if len(got) != 2 || err != broken {
		t.Fatalf("got %v and %v, want two events and the error of the source", got, err)
	}
}

func TestTheLimitIsTheSizeOfOneEvent(t *testing.T) {
	event := "data: " + strings.Repeat("x", 100) + "\n\n"
	for way, src := range portions(strings.Repeat(event, 50)) {
		got, err := drain(sse.NewReader(src, len(event)))
		if len(got) != 50 || err != io.EOF {
			t.Fatalf("%s: %d events of just the limit, then %v", way, len(got), err)
		}
	}
	for way, src := range portions("data: y\n\n" + event + "data: z\n\n") {
		r := sse.NewReader(src, len(event)-1)
		got, err := drain(r)
		if len(got) != 1 || err != sse.ErrTooLarge {
			t.Fatalf("%s: %d events and %v, want one and ErrTooLarge", way, len(got), err)
		}
		if ev, err := r.Next(); ev != nil || err != sse.ErrTooLarge {
			t.Fatalf("%s: after it Next gives %v, %v", way, ev, err)
		}
	}
}

// endless repeats its text for ever and counts what was taken.
type endless struct {
	text  string
	taken int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		n += copy(p[n:], e.text)
	}
	e.taken += n
	return n, nil
}

func TestAnEndlessEventIsRefusedAtTheLimit(t *testing.T) {
	for _, text := range []string{"x", "data: x\n", ": ping\n", ":\r", "event: x\r\n"} {
		src := &endless{text: text}
		_, err := sse.NewReader(src, 64<<10).Next()
		if err != sse.ErrTooLarge {
			t.Fatalf("%q for ever gives %v", text, err)
		}
		if src.taken > 65<<10 {
			t.Fatalf("%q for ever: %d bytes were taken for a limit of 64 KiB", text, src.taken)
		}
	}
}

func TestAnEventIsReturnedBeforeTheNextByteComes(t *testing.T) {
	for _, stream := range []string{"data: x\n\n", "data: x\r\n\r\n", "data: x\r\r", ": ping\n\n"} {
		from, to := io.Pipe()
		go to.Write([]byte(stream))
		ev, err := sse.NewReader(from, 0).Next()
		if err != nil || string(ev.Raw) != stream {
			t.Fatalf("%q: got %v, %v", stream, ev, err)
		}
		to.Close()
	}
}

func TestAppendingToAnEventsSlicesHarmsNoLaterEvent(t *testing.T) {
	r := sse.NewReader(strings.NewReader("data: a\n\ndata: b\n\n"), 0)
	ev, _ := r.Next()
	_ = append(ev.Raw, "XXXXXXXX"...)
	_ = append(ev.Data, "XXXXXXXX"...)
	if ev, err := r.Next(); err != nil || string(ev.Data) != "b" {
		t.Fatalf("the next event is %q, %v", ev.Data, err)
	}
}

// idler returns nothing at all, then a count that cannot be.
type idler struct{ count int }

func (i idler) Read(p []byte) (int, error) { return i.count * (len(p) + 1), nil }

func TestSourcesThatBreakTheReaderContractEndInAnError(t *testing.T) {
	if _, err := sse.NewReader(idler{}, 0).Next(); err != io.ErrNoProgress {
		t.Fatalf("a source that returns nothing for ever gives %v", err)
	}
	for _, count := range []int{-1, 1} {
		if _, err := sse.NewReader(idler{count}, 0).Next(); err == nil || err == io.EOF {
			t.Fatalf("an impossible count gives %v", err)
		}
	}
}

func TestLargeEventsComeWholeBetweenSmallOnes(t *testing.T) {
	var stream bytes.Buffer
	var want []string
	for i := range 40 {
		data := strings.Repeat(string(rune('a'+i%26)), 1<<(i%18))
		want = append(want, data)
		stream.Write(sse.Append(nil, "", []byte(data)))
	}
	got, err := drain(sse.NewReader(&stream, 0))
	if err != io.EOF || len(got) != len(want) {
		t.Fatalf("%d events and %v", len(got), err)
	}
	for i := range want {
		if got[i].data != want[i] {
			t.Fatalf("event %d has %d bytes, want %d", i, len(got[i].data), len(want[i]))
		}
	}
}
