package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// question is one call of a caller.
type question struct {
	model, prompt string
	plain         bool   // no stream
	most          int    // max_tokens, 0 = not said
	header        string // one header, "name: value"
	leave         int    // the caller leaves after so many tokens, 0 = never
}

// answer is what the caller got.
type answer struct {
	status      int
	header      http.Header
	text        string
	finish      string
	voice       string // id and model
	voices      int    // changes of it within one stream
	usage       *usage
	done        bool // [DONE]
	events      int  // data events, the end mark apart
	code, words string
	err         error         // of the transport, or of bytes that are no answer
	hung        bool          // it did not end in time
	first, took time.Duration // from the start
	began, last time.Time     // the start, the last token
	ended       time.Time
}

type usage struct {
	In  int `json:"prompt_tokens"`
	Out int `json:"completion_tokens"`
}

type failure struct {
	Code, Type, Message string
}

// whole reports a success with all of the text.
func (a *answer) whole(text string) bool { return a.success() && a.text == text }

// success is what any SDK would take for one.
func (a *answer) success() bool {
	return !a.hung && a.err == nil && a.status == 200 && a.code == "" && a.finish != ""
}

// typed reports an error that a program can tell apart.
func (a *answer) typed() bool { return !a.hung && a.code != "" }

func (a *answer) String() string {
	switch {
	case a.hung:
		return fmt.Sprintf("no end within %.1f s", a.took.Seconds())
	case a.code != "" && a.status == 200:
		return fmt.Sprintf("error %s in the stream: %s", a.code, a.words)
	case a.code != "":
		return fmt.Sprintf("%d %s: %s", a.status, a.code, a.words)
	case a.err != nil:
		return a.err.Error()
	case !a.success():
		return fmt.Sprintf("%d without a finish reason", a.status)
	}
	why := ""
	if r := a.header.Get("X-Backstop-Reason"); r != "" {
		why = " because of " + r
	}
	return fmt.Sprintf("%d, %d bytes from %s%s, %s", a.status, len(a.text), a.by(), why, a.finish)
}

// ask sends one call to an address and reads the answer to its end, or until
// limit is over.
func (h *gateway) ask(ctx context.Context, url string, q question, limit time.Duration) *answer {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	a := &answer{began: time.Now()}
	a.err = h.exchange(ctx, cancel, url, &q, a)
	a.ended = time.Now()
	a.took = a.ended.Sub(a.began)
	a.hung = errors.Is(a.err, context.DeadlineExceeded)
	return a
}

func (q *question) body() []byte {
	m := map[string]any{"model": q.model, "messages": []any{map[string]any{"role": "user", "content": q.prompt}}}
	if !q.plain {
		m["stream"], m["stream_options"] = true, map[string]any{"include_usage": true}
	}
	if q.most > 0 {
		m["max_tokens"] = q.most
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers
	}
	return b
}

func (h *gateway) exchange(ctx context.Context, leave func(), url string, q *question, a *answer) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(q.body()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	if name, value, ok := strings.Cut(q.header, ": "); ok {
		req.Header.Set(name, value)
	}
	resp, err := h.conns.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	a.status, a.header = resp.StatusCode, resp.Header
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return a.stream(resp.Body, q.leave, leave)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return a.event(body)
}

// stream reads events.
func (a *answer) stream(body io.Reader, most int, leave func()) error {
	r := bufio.NewReader(body)
	seen := 0
	for {
		line, err := r.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data: ")); ok {
			switch {
			case a.done:
				return errors.New("an event after the end mark")
			case string(data) == "[DONE]":
				a.done = true
			default:
				before := len(a.text)
				if err := a.event(data); err != nil {
					return err
				}
				if len(a.text) > before {
					if seen++; seen == most {
						leave()
					}
				}
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// event reads one event, or a whole body.
func (a *answer) event(data []byte) error {
	var e struct {
		ID, Model string
		Choices   []struct {
			Delta, Message struct{ Content string }
			Finish         string `json:"finish_reason"`
		}
		Usage *usage
		Error *failure
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("%q is no JSON", data[:min(len(data), 80)])
	}
	a.events++
	if e.Error != nil {
		a.code, a.words = e.Error.Code, e.Error.Message
		if a.code == "" {
			a.code = e.Error.Type
		}
		return nil
	}
	if voice := e.ID + " " + e.Model; a.voice == "" {
		a.voice = voice
	} else if a.voice != voice {
		a.voices++
	}
	if e.Usage != nil {
		a.usage = e.Usage
	}
	for _, c := range e.Choices {
		if text := c.Delta.Content + c.Message.Content; text != "" {
			a.token(text)
		}
		if c.Finish != "" {
			a.finish = c.Finish
		}
	}
	return nil
}

// token adds a piece of text.
func (a *answer) token(text string) {
	a.last = time.Now()
	if a.text == "" {
		a.first = a.last.Sub(a.began)
	}
	a.text += text
}

// by is the model that answered.
func (a *answer) by() string {
	_, model, _ := strings.Cut(a.voice, " ")
	return model
}
