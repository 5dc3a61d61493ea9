package gemini

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// asGoReads cuts a stream into events as Google's SDK for Go does, with all of
// it in the buffer.
func asGoReads(stream []byte) (events []string) {
	for len(stream) > 0 {
		n, end := bytes.Index(stream, []byte("\n\n")), 2
		if n < 0 {
			n, end = bytes.Index(stream, []byte("\r\n\r\n")), 4
		}
		if n < 0 {
			n, end = len(stream), 0
		}
		if n > 0 {
			events = append(events, strings.TrimSuffix(string(stream[:n]), "\r"))
		}
		stream = stream[n+end:]
	}
	return events
}

func TestAllEventsOfAStreamEndTheirLinesAsTheFirstOne(t *testing.T) {
	lf := func(list ...string) string { return strings.ReplaceAll(framed(list...), "\r\n", "\n") }
	blocked := endsWith("BLOCKED_BY_SOMEBODY") // needs a word of the dialect
	for name, c := range map[string]struct {
		stream string
		note   *wire.Note
		fails  bool
		want   int
	}{
		"CRLF and a note":                   {framed(hello, world, stopped), &wire.Note{Tier: "primary"}, false, 3},
		"CRLF and a failure":                {framed(hello, world), nil, true, 3},
		"CRLF and an event framed anew":     {framed(hello, world, blocked), nil, false, 3},
		"CRLF, then LF of another upstream": {framed(hello) + lf(world, stopped), nil, false, 3},
		"LF, then CRLF of another upstream": {lf(hello) + framed(world, stopped), nil, false, 3},
		"LF and a note":                     {lf(hello, stopped), &wire.Note{Tier: "primary"}, false, 2},
		"several lines of data, then CRLF":  {strings.Replace(lf(hello), ",", ",\ndata: ", 1) + framed(stopped), nil, false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := &wire.Request{Op: wire.Chat, Stream: true, Dialect: backstop.Gemini}
			write := Room{}.Writer(r)
			events := sse.NewReader(strings.NewReader(c.stream), 0)
			var out []byte
			for ev, err := events.Next(); err == nil; ev, err = events.Next() {
				out = append(out, write.Event(ev, nil)...)
				out = append(out, write.(*writer).Blank()...)
			}
			if c.fails {
				out = append(out, write.Failure(&backstop.Failure{Status: 502, Code: "stream_incomplete", Message: "cut"}, "id")...)
			} else {
				out = append(out, write.Close(c.note)...)
			}
			got := asGoReads(out)
			if len(got) != c.want {
				t.Fatalf("%d events in %q", len(got), out)
			}
			for _, event := range got {
				if data, ok := strings.CutPrefix(event, "data: "); !ok || !json.Valid([]byte(data)) {
					t.Errorf("event %q of %q", event, out)
				}
			}
		})
	}
}
