package server

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"

	"backstop"
)

// maxAnswer bounds the text of an agent answer; maxHeld what is held of the
// driver's bytes, in which that text may be escaped.
const (
	maxAnswer = 8 << 20
	maxHeld   = maxAnswer + 64<<10
)

var errAnswerTooLarge = errors.New("the answer is larger than 8 MiB; ask for less")

// agentWriter is the http.ResponseWriter that the driver writes a chat answer
// to, and that tells it to the caller in the agent's words. A stream is told
// as it comes; everything else is held until [agentWriter.finish].
type agentWriter struct {
	w        http.ResponseWriter
	room     Room
	id       string
	promised bool

	status int
	stream bool
	held   bytes.Buffer // a plain answer, or the unfinished line of a stream
	data   []byte       // of the unfinished event of a stream
	text   []byte
	ending string
	fault  []byte // an error event of the stream
	over   bool   // more than maxAnswer
	out    []byte
}

func newAgentWriter(w http.ResponseWriter, room Room, id string, promised bool) *agentWriter {
	return &agentWriter{w: w, room: room, id: id, promised: promised}
}

// Header is the caller's: what the driver says about the call holds for the
// agent's answer as well.
func (a *agentWriter) Header() http.Header { return a.w.Header() }

// Unwrap lets the driver set deadlines on the connection.
func (a *agentWriter) Unwrap() http.ResponseWriter { return a.w }

// WriteHeader decides between the two ways of telling.
func (a *agentWriter) WriteHeader(status int) {
	if a.status != 0 || status < 200 {
		return
	}
	a.status = status
	media, _, _ := mime.ParseMediaType(a.w.Header().Get("Content-Type"))
	if a.stream = status == http.StatusOK && media == "text/event-stream"; a.stream {
		a.w.Header().Del("Content-Length")
		a.w.WriteHeader(status)
	}
}

func (a *agentWriter) Write(p []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.over || a.held.Len()+len(a.data)+len(p) > maxHeld {
		a.over = true
		return 0, errAnswerTooLarge
	}
	if !a.stream {
		return a.held.Write(p)
	}
	a.out = a.out[:0]
	a.lines(p)
	if len(a.out) > 0 {
		if _, err := a.w.Write(a.out); err != nil {
			return 0, err
		}
	}
	if a.over {
		return 0, errAnswerTooLarge
	}
	return len(p), nil
}

// FlushError sends what is there. Nothing is, of a plain answer.
func (a *agentWriter) FlushError() error {
	if !a.stream {
		return nil
	}
	return http.NewResponseController(a.w).Flush()
}

// Flush is FlushError for those who ask for an http.Flusher.
func (a *agentWriter) Flush() { _ = a.FlushError() }

// lines takes the lines of a chat stream, wherever the writes were cut.
func (a *agentWriter) lines(p []byte) {
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			a.held.Write(p)
			return
		}
		line := p[:end]
		if a.held.Len() > 0 {
			a.held.Write(line)
			line = a.held.Bytes()
		}
		a.line(bytes.TrimSuffix(line, []byte("\r")))
		a.held.Reset()
		p = p[end+1:]
	}
}

func (a *agentWriter) line(line []byte) {
	switch {
	case len(line) == 0:
		a.event(a.data)
		a.data = a.data[:0]
	case line[0] == ':':
		a.out = append(append(a.out, line...), "\n\n"...)
	case bytes.HasPrefix(line, []byte("data:")):
		if len(a.data) > 0 {
			a.data = append(a.data, '\n')
		}
		a.data = append(a.data, bytes.TrimPrefix(line[len("data:"):], []byte(" "))...)
	}
}

// event tells one chunk. The driver's own [DONE] is not passed on: the agent's
// comes after the final object.
func (a *agentWriter) event(data []byte) {
	if len(data) == 0 || string(data) == "[DONE]" || a.fault != nil {
		return
	}
	if gjson.GetBytes(data, "error").IsObject() {
		a.fault = bytes.Clone(data)
		return
	}
	choice := gjson.GetBytes(data, "choices.0")
	if why := choice.Get("finish_reason"); why.Type == gjson.String {
		a.ending = why.String()
	}
	delta := choice.Get("delta.content")
	if delta.Type != gjson.String || delta.Str == "" {
		delta = choice.Get("delta.refusal")
	}
	if delta.Type != gjson.String || delta.Str == "" {
		return
	}
	if len(a.text)+len(delta.Str) > maxAnswer {
		a.over = true
		return
	}
	a.text = append(a.text, delta.Str...)
	a.frame(marshal(map[string]string{"delta": delta.Str}))
}

func (a *agentWriter) frame(body []byte) {
	a.out = append(append(append(a.out, "data: "...), body...), "\n\n"...)
}

// finish tells the end, when the driver is done.
func (a *agentWriter) finish(e *backstop.Event) {
	if e == nil || e.Outcome == backstop.Canceled && a.status == 0 {
		return // the caller left, nobody reads
	}
	if a.stream {
		a.finishStream(e)
		return
	}
	a.finishPlain(e)
}

func (a *agentWriter) finishStream(e *backstop.Event) {
	a.out = a.out[:0]
	switch {
	case a.over:
		a.frame(agentError(string(backstop.CodeEventTooLarge), errAnswerTooLarge.Error(), a.id))
	case a.fault != nil || e.Failure != nil:
		a.frame(retold(a.fault, e, a.id))
	default:
		a.frame(marshal(newAnswer(e, string(a.text), a.ending, a.promised)))
		a.out = append(a.out, "data: [DONE]\n\n"...)
	}
	_, _ = portioned(a.w, a.out)
	_ = a.FlushError()
}

func (a *agentWriter) finishPlain(e *backstop.Event) {
	status, body := a.status, a.held.Bytes()
	text, finish, ok := "", "", false
	if status == http.StatusOK && !a.over {
		if text, finish, ok = a.room.Content(body); !ok {
			text, finish, ok = withoutContent(body)
		}
	}
	switch {
	case ok && len(text) <= maxAnswer:
		body = marshal(newAnswer(e, text, finish, a.promised))
	case a.over || ok:
		status, body = http.StatusBadGateway, agentError(string(backstop.CodeEventTooLarge), errAnswerTooLarge.Error(), a.id)
	case status == http.StatusOK || status == 0:
		status, body = failureStatus(e), retold(nil, e, a.id)
	default:
		body = retold(body, e, a.id)
	}
	h := a.w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	a.w.WriteHeader(status)
	_, _ = portioned(a.w, body)
}

// withoutContent reads an answer whose content is null: a refusal gives its
// words; a tool call, or an answer that ended while the model was still
// thinking, gives none. It is an answer all the same.
func withoutContent(body []byte) (text, finish string, ok bool) {
	choice := gjson.GetBytes(body, "choices.0")
	if !choice.Get("message").IsObject() {
		return "", "", false
	}
	return choice.Get("message.refusal").String(), choice.Get("finish_reason").String(), true
}

// failureStatus is for answers that the driver called good, or did not give,
// and that have no text.
func failureStatus(e *backstop.Event) int {
	if e.Failure != nil && e.Failure.Code.Status() >= 400 {
		return e.Failure.Code.Status()
	}
	return http.StatusBadGateway
}
