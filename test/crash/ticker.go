package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// tick makes an upstream's answer of n events, one every step, that carry
// their number and the time of their sending in nanoseconds.
func tick(n int, step time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		t := time.NewTicker(step)
		defer t.Stop()
		for i := range n {
			if i > 0 {
				select {
				case <-t.C:
				case <-r.Context().Done():
					return
				}
			}
			fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"tick","choices":[{"index":0,"delta":{"content":"%d:%d "},"finish_reason":null}]}`+"\n\n", i, time.Now().UnixNano())
			if out.Flush() != nil {
				return
			}
		}
		_, _ = io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"tick","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}
}

// ticked is one stream of a ticker as its reader saw it.
type ticked struct {
	first    time.Duration   // from the call to the first event
	lags     []time.Duration // from the sending of an event to its arrival
	events   int
	disorder string // the first event that was not the next one
	finished bool
	from     string // the tier that answered, and why not the first
	err      error
}

const contentMark = `"content":"`

// follow reads a ticker's stream; most bounds how many lags are kept.
func (h *gateway) follow(ctx context.Context, url, model string, most int) (s ticked) {
	q := question{model: model, prompt: "tick"}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", bytes.NewReader(q.body()))
	if err != nil {
		return ticked{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	began := time.Now()
	resp, err := h.conns.RoundTrip(req)
	if err != nil {
		return ticked{err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return ticked{err: fmt.Errorf("status %d", resp.StatusCode)}
	}
	s.from = resp.Header.Get("X-Backstop-Tier") + " " + resp.Header.Get("X-Backstop-Reason")
	for r := bufio.NewReaderSize(resp.Body, 1<<10); ; {
		line, err := r.ReadSlice('\n')
		if s.read(line, most) && s.events == 1 {
			s.first = time.Since(began)
		}
		if err != nil {
			if err != io.EOF {
				s.err = err
			}
			return s
		}
	}
}

// read takes one line; it reports an event with a token.
func (s *ticked) read(line []byte, most int) bool {
	if bytes.HasPrefix(line, []byte("data: [DONE]")) {
		s.finished = true
	}
	_, rest, ok := bytes.Cut(line, []byte(contentMark))
	if !ok {
		return false
	}
	now := time.Now()
	token, _, _ := bytes.Cut(rest, []byte(` "`))
	number, at, ok := strings.Cut(string(token), ":")
	if !ok {
		return false
	}
	if number != strconv.Itoa(s.events) && s.disorder == "" {
		s.disorder = fmt.Sprintf("event %s came as number %d", number, s.events)
	}
	s.events++
	if sent, err := strconv.ParseInt(at, 10, 64); err == nil && len(s.lags) < most {
		s.lags = append(s.lags, now.Sub(time.Unix(0, sent)))
	}
	return true
}
