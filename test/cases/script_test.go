package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// exchange is one request at a fake and what is written back.
type exchange struct {
	f    *fake
	line *line
	n    int // of the fake's requests, from 1
	nth  int // of the connection's requests, from 1

	head   string // as it came, with the blank line
	path   string
	header http.Header
	body   string
	began  time.Time

	shut bool // the connection is not used again
	over bool // the script is through
}

// streams reports whether an event stream was asked for.
func (x *exchange) streams() bool {
	if strings.Contains(x.path, ":streamGenerateContent") {
		return true
	}
	var q struct{ Stream bool }
	_ = json.Unmarshal([]byte(x.body), &q)
	return q.Stream
}

// at waits until t seconds of the page after the request came. It reports
// false if the peer left or the case is over.
func (x *exchange) at(t float64) bool {
	timer := time.NewTimer(time.Until(x.began.Add(x.f.pace.sec(t))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-x.line.gone:
	case <-x.f.stop:
	}
	x.shut = true
	return false
}

// hold stays open and silent until the peer leaves.
func (x *exchange) hold() {
	x.shut = true
	select {
	case <-x.line.gone:
	case <-x.f.stop:
	}
}

// every plays an event every so many seconds from a time on, for ever.
func (x *exchange) every(from, step float64, event string) {
	for t := from; x.at(t); t += step {
		x.event(event)
	}
}

func (x *exchange) raw(text string) {
	if _, err := x.line.conn.Write([]byte(text)); err != nil {
		x.shut = true
	}
}

// chunk writes one HTTP/1.1 chunk; an empty one would be the end.
func (x *exchange) chunk(data string) {
	if data != "" {
		x.raw(fmt.Sprintf("%x\r\n%s\r\n", len(data), data))
	}
}

// event writes events, each as one chunk.
func (x *exchange) event(events ...string) {
	for _, e := range events {
		x.chunk(e + "\n\n")
	}
}

func (x *exchange) cleanEnd() { x.raw("0\r\n\r\n") }

// fin closes the connection; what is not read yet does not turn it into a
// reset, for the fake has read the whole request.
func (x *exchange) fin() { x.shut = true; _ = x.line.conn.Close() }

const open200 = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

func (x *exchange) open200() { x.raw(open200) }

// chunked begins a chunked answer of another type.
func (x *exchange) chunked(contentType string, headers ...string) {
	x.raw("HTTP/1.1 200 OK\r\nContent-Type: " + contentType + "\r\nTransfer-Encoding: chunked\r\n" + lines(headers) + "\r\n")
}

// answer writes a whole answer with its length.
func (x *exchange) answer(status int, contentType, body string, headers ...string) {
	x.raw(fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s",
		status, http.StatusText(status), contentType, len(body), lines(headers), body))
}

func (x *exchange) json(status int, body string, headers ...string) {
	x.answer(status, "application/json", body, headers...)
}

func lines(headers []string) string {
	var b strings.Builder
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	return b.String()
}

// voice is what tells the answers of two upstreams apart.
type voice struct{ id, model string }

var (
	primaryVoice = voice{"c1", "m"}
	backupVoice  = voice{"b1", "mb"}
)

func (v voice) ch(delta, finish string) string {
	return fmt.Sprintf(`data: {"id":%q,"object":"chat.completion.chunk","created":1,"model":%q,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`,
		v.id, v.model, delta, finish)
}

func (v voice) role() string             { return v.ch(`{"role":"assistant","content":""}`, "null") }
func (v voice) tok(x string) string      { return v.ch(`{"content":`+quote(x)+`}`, "null") }
func (v voice) end(reason string) string { return v.ch(`{}`, quote(reason)) }

func (v voice) usage(prompt, completion int) string {
	return fmt.Sprintf(`data: {"id":%q,"object":"chat.completion.chunk","created":1,"model":%q,"choices":[],"usage":%s}`,
		v.id, v.model, usageOf(prompt, completion))
}

// whole is a non-stream answer.
func (v voice) whole(text, reason string) string {
	return fmt.Sprintf(`{"id":%q,"object":"chat.completion","created":1,"model":%q,"choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":%q}],"usage":%s}`,
		v.id, v.model, quote(text), reason, usageOf(10, 5))
}

// good is a stream of some tokens with everything that belongs to it.
func (v voice) good(tokens ...string) script {
	return func(x *exchange) {
		x.open200()
		x.event(v.role())
		for _, t := range tokens {
			x.event(v.tok(t))
		}
		x.event(v.end("stop"), v.usage(10, len(tokens)), done)
		x.cleanEnd()
	}
}

func usageOf(prompt, completion int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, prompt, completion, prompt+completion)
}

// The macros of the page, for the primary.
const done = "data: [DONE]"

func ch(delta, finish string) string      { return primaryVoice.ch(delta, finish) }
func role() string                        { return primaryVoice.role() }
func tok(x string) string                 { return primaryVoice.tok(x) }
func end(reason string) string            { return primaryVoice.end(reason) }
func usage(prompt, completion int) string { return primaryVoice.usage(prompt, completion) }
func whole(text, reason string) string    { return primaryVoice.whole(text, reason) }

// good answers well, in the form that was asked for.
func good(x *exchange) { healthy(primaryVoice, "a", "b")(x) }

// healthy answers well in either form.
func healthy(v voice, tokens ...string) script {
	return func(x *exchange) {
		if x.streams() {
			v.good(tokens...)(x)
			return
		}
		x.json(200, v.whole(strings.Join(tokens, ""), "stop"))
	}
}

// opened writes events after the head of a stream; what follows is the caller's.
func opened(events ...string) script {
	return func(x *exchange) {
		x.open200()
		x.event(events...)
	}
}

// streamed is a stream of the given events with a clean end.
func streamed(events ...string) script {
	return func(x *exchange) {
		opened(events...)(x)
		x.cleanEnd()
	}
}

// then plays scripts one after another for the same request.
func then(list ...script) script {
	return func(x *exchange) {
		for _, s := range list {
			s(x)
		}
	}
}

func hold(x *exchange) { x.hold() }
func fin(x *exchange)  { x.fin() }

// status answers with a status and a JSON body.
func status(code int, body string, headers ...string) script {
	return func(x *exchange) { x.json(code, body, headers...) }
}

// quote is a JSON string, with <, > and & as they are.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
