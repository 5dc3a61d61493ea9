package backstophttp

import (
	"bytes"
	"net/http"
)

// array is the http.ResponseWriter of a caller who gets a stream as one JSON
// array, an element an event, and an error as the only element or the last one.
// What goes through it is a stream of events as a dialect's writer makes it.
type array struct {
	w      http.ResponseWriter
	status int
	events bool   // it is a stream; else a plain body is the only element
	some   bool   // an element is out
	over   bool   // so is the end
	line   []byte // that is not over yet
	data   []byte // of an event that is not over yet
	out    []byte
}

// Header implements http.ResponseWriter.
func (a *array) Header() http.Header { return a.w.Header() }

// Unwrap lets http.ResponseController set deadlines on the connection.
func (a *array) Unwrap() http.ResponseWriter { return a.w }

// WriteHeader implements http.ResponseWriter.
func (a *array) WriteHeader(status int) {
	if a.status != 0 {
		return
	}
	a.status = status
	h := a.w.Header()
	a.events = isEventStream(h.Get("Content-Type"))
	h["Content-Type"] = []string{"application/json"}
	delete(h, "Content-Length") // it would be that of the element
	a.w.WriteHeader(status)
}

// Write implements http.ResponseWriter. Every piece makes whole elements go
// out, and blanks where there is no element: those are signs of life.
func (a *array) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.over {
		return len(p), nil
	}
	a.out = a.out[:0]
	if a.events {
		a.lines(p)
	} else {
		a.out = append(a.separated(), p...)
		a.some = true
	}
	if len(a.out) > 0 {
		if _, err := a.w.Write(a.out); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// separated is what goes out with what comes in front of an element. A plain
// body is one element, in however many pieces it comes.
func (a *array) separated() []byte {
	switch {
	case !a.some:
		return append(a.out, '[')
	case a.events:
		return append(a.out, ',', '\n')
	}
	return a.out
}

// lines takes the stream apart, wherever the writes were cut.
func (a *array) lines(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			a.line = append(a.line, p...)
			return
		}
		line := p[:end]
		if len(a.line) > 0 {
			a.line = append(a.line, line...)
			line = a.line
		}
		a.take(bytes.TrimSuffix(line, []byte{'\r'}))
		a.line, p = a.line[:0], p[end+1:]
	}
}

func (a *array) take(line []byte) {
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case ok:
		if len(a.data) > 0 {
			a.data = append(a.data, '\n')
		}
		a.data = append(a.data, bytes.TrimPrefix(data, []byte{' '})...)
	case len(line) > 0: // the dialect has neither names nor comments
	case len(a.data) > 0:
		a.out = append(a.separated(), a.data...)
		a.some, a.data = true, a.data[:0]
	default:
		a.out = append(a.out, '\n')
	}
}

// FlushError sends what is there.
func (a *array) FlushError() error { return http.NewResponseController(a.w).Flush() }

// Flush is FlushError for those who ask for an http.Flusher.
func (a *array) Flush() { _ = a.FlushError() }

// finish ends the array.
func (a *array) finish() {
	if a.over || a.status == 0 {
		return
	}
	end := "]"
	if !a.some {
		end = "[]"
	}
	_, _ = a.w.Write([]byte(end))
	a.over = true
}
