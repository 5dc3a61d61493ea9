package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"backstop"
)

const (
	writeTime   = 10 * time.Second // for a portion of an answer of our own
	drainTime   = time.Second      // for the rest of a small body
	lingerTime  = 2 * time.Second  // for the rest of a large one
	lingerBytes = 64 << 20
	clampWait   = 10 * time.Second // no caller is told to wait longer
)

// refuse answers with an error in the caller's dialect, and records the call if
// its caller is known.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, v *visit, f *backstop.Failure) {
	h := w.Header()
	h["X-Should-Retry"] = []string{strconv.FormatBool(f.Retryable)}
	if wait := min(f.RetryAfter, clampWait); wait > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		h.Set("Retry-After-Ms", strconv.FormatInt(max(wait.Milliseconds(), 1), 10))
	}
	if len(r.Header["Upgrade"]) > 0 || len(r.Header[framingHeader]) > 0 {
		h["Connection"] = []string{"close"}
	}
	status := f.Status
	if status == 0 {
		status = f.Code.Status()
	}
	body := s.errorBody(v.dialect, f, v.id)
	if v.array {
		body = append(append([]byte{'['}, body...), ']')
	}
	s.answer(w, r, v, status, body)
	s.note(r, v, f, status)
}

// answer sends an answer of our own, nil = without a body, and deals with what
// the request has of one: nobody will read that, and it may never come.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, v *visit, status int, body []byte) {
	large := s.unread(w, r, v)
	if body == nil {
		w.WriteHeader(status)
	} else {
		s.write(w, status, body)
	}
	if large {
		linger(w, r)
	}
}

// note leaves a trace of a refusal: an event for a call, a line for a request
// that found no endpoint or no way in. Strangers cannot flood the log.
func (s *Server) note(r *http.Request, v *visit, f *backstop.Failure, status int) {
	if v.known && (v.at.kind == callPlace || v.at.kind == agentPlace) {
		s.record(v, f, status)
		return
	}
	if !s.lines.Allow(s.clock()) {
		s.unsaid.Add(1)
		return
	}
	s.log.LogAttrs(r.Context(), slog.LevelInfo, "refused", slog.String("id", v.id), slog.String("method", clipped(r.Method)),
		slog.String("path", clipped(r.URL.Path)), slog.Int("status", status), slog.String("code", string(f.Code)),
		slog.Int64("unsaid", s.unsaid.Swap(0)))
}

// unread arranges for a body that was not read to its end. The rest of a small
// one is read by net/http, under a clock, so that the connection can go on;
// otherwise the connection ends, and it reports whether to [linger].
func (s *Server) unread(w http.ResponseWriter, r *http.Request, v *visit) bool {
	if v.eaten {
		return false
	}
	rc := http.NewResponseController(w)
	switch {
	case r.Header.Get("Expect") != "":
		// Nothing was sent yet, and after this answer nothing needs to be.
		_ = rc.SetReadDeadline(time.Now())
	case 0 <= r.ContentLength && r.ContentLength <= smallBody:
		_ = rc.SetReadDeadline(time.Now().Add(drainTime))
		return false
	}
	w.Header()["Connection"] = []string{"close"}
	return r.Header.Get("Expect") == ""
}

// linger reads on for a while after the answer was sent: a connection that is
// closed while its caller is still sending is reset, and the answer lost.
func linger(w http.ResponseWriter, r *http.Request) {
	rc := http.NewResponseController(w)
	if rc.Flush() != nil || rc.SetReadDeadline(time.Now().Add(lingerTime)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r.Body, lingerBytes)
}

// write sends an answer of our own.
func (s *Server) write(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	_, _ = portioned(w, body)
}

// record makes the event of a call that the server refused by itself.
func (s *Server) record(v *visit, f *backstop.Failure, status int) {
	e := &backstop.Event{
		ID: v.id, Time: v.start, Caller: v.caller.name(), Dialect: v.dialect, Op: opOf(&v.at), Asked: v.asked,
		TierIndex: -1, Outcome: backstop.Rejected, Failure: f, Status: status,
		Duration: s.clock().Sub(v.start), InputTokens: -1, OutputTokens: -1, Trace: v.trace,
	}
	switch f.Code {
	case backstop.CodeRateLimited, backstop.CodeOverloaded, backstop.CodeDraining:
		e.Outcome = backstop.Limited
	}
	s.observe(e)
}

func opOf(at *place) string {
	if at.kind == agentPlace {
		return "agent"
	}
	return string(at.op)
}

// errorBody is an error in the shape that the dialect's SDKs read.
func (s *Server) errorBody(dialect backstop.Dialect, f *backstop.Failure, id string) []byte {
	if room := s.rooms[dialect]; room != nil {
		return room.Failure(f, id)
	}
	return agentError(string(f.Code), f.Message, id)
}

// marshal encodes values that cannot fail, and leaves <, > and & alone: the
// answers are read by programs.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// clipped is a caller's text as it may appear in a line or a message.
func clipped(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

func bytesText(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
