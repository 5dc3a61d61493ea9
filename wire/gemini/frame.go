package gemini

import (
	"bytes"

	"backstop/sse"
	"backstop/wire/internal/edit"
)

const crlf = "\r\n"

// frame appends an event as one line of data, or as its bytes if it came so.
//
// All events of a stream end their lines alike, as its first one does: Google's
// SDK for Go looks for an empty line of LFs first, and takes whatever stands
// before it for one event, events that end with CRLF too.
func (w *writer) frame(dst, data, raw []byte) []byte {
	end := oneLiner(raw)
	if w.end == "" {
		w.end = end
	}
	switch {
	case end != "" && end == w.end:
		return append(dst, raw...)
	case w.end == crlf:
		dst = append(append(dst, "data: "...), edit.OneLine(data)...)
		return append(dst, crlf+crlf...)
	}
	w.end = "\n"
	return sse.Append(dst, "", edit.OneLine(data))
}

// Blank is an event of nothing, which keeps a stream open: a comment would be a
// broken event to Google's SDKs.
func (w *writer) Blank() []byte {
	if w.end == crlf {
		return []byte(crlf + crlf)
	}
	return []byte("\n\n")
}

// oneLiner returns how the lines of an event end that is one line of data and
// its end, and "" for others. The last event of a stream that was cut may lack
// the latter.
func oneLiner(raw []byte) (end string) {
	end = "\n"
	line, ok := bytes.CutSuffix(raw, []byte("\n\n"))
	if !ok {
		end = crlf
		line, ok = bytes.CutSuffix(raw, []byte(crlf+crlf))
	}
	if !ok || !bytes.HasPrefix(line, []byte("data:")) || bytes.IndexByte(line, '\n') >= 0 || bytes.IndexByte(line, '\r') >= 0 {
		return ""
	}
	return end
}
