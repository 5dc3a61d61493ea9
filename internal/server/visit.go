package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"time"

	"backstop"
)

// visit is one request on its way through the server.
type visit struct {
	id      string
	start   time.Time
	plane   *plane
	at      place
	dialect backstop.Dialect // of the answer
	caller  *caller
	asked   string // model name, once it is known
	known   bool   // the door let it in
	eaten   bool   // the body was read to its end
	array   bool   // a stream is to be one JSON array, and so is an error instead of it
	trace   backstop.Trace
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := visit{start: s.clock(), plane: s.plane.Load(), at: locate(r.URL.Path), eaten: r.Body == nil || r.Body == http.NoBody}
	v.id = requestID(r.Header.Get("X-Request-Id"), v.start)
	v.dialect = v.at.speaks(r.Header)
	v.array = v.at.stream && !asEvents(r.URL.RawQuery)
	defer s.contain(&v)
	s.greet(w, r, &v)
	if f := malformed(r); f != nil {
		s.refuse(w, r, &v, f)
		return
	}
	if v.at.kind == alive || v.at.kind == ready {
		s.health(w, r, &v)
		return
	}
	if v.plane == nil {
		s.refuse(w, r, &v, deny(backstop.CodeOverloaded, "the gateway is starting; try again in a second"))
		return
	}
	var f *backstop.Failure
	if v.caller, f = v.plane.door.admit(r); f != nil {
		s.refuse(w, r, &v, f)
		return
	}
	v.known = true
	s.route(w, r, &v)
}

// greet sets what every answer carries, and says when a connection ends with
// this answer: HTTP/1.0 and messages of unknown length are never followed by
// another one (see framed), and a server on its way down lets callers go.
func (s *Server) greet(w http.ResponseWriter, r *http.Request, v *visit) {
	h := w.Header()
	values := [...]string{v.id, "no-store"}
	h["X-Request-Id"] = values[:1:1]
	h["Request-Id"] = values[:1:1]
	h["Cache-Control"] = values[1:]
	if !r.ProtoAtLeast(1, 1) || r.ProtoMajor != 1 || len(r.TransferEncoding) > 0 || s.Phase() != Serving {
		h["Connection"] = []string{"close"}
	}
}

// malformed refuses what would be read differently by different parsers.
func malformed(r *http.Request) *backstop.Failure {
	switch {
	case len(r.Header[framingHeader]) > 0:
		return deny(backstop.CodeInvalidRequest, "the message has two lengths or a folded header; send one Content-Length or chunked coding")
	case len(r.Header["Upgrade"]) > 0:
		return deny(backstop.CodeInvalidRequest, "no upgrade is supported; speak plain HTTP/1.1 (Java: HttpClient.Version.HTTP_1_1)")
	}
	return nil
}

// route leads a known caller to its place.
func (s *Server) route(w http.ResponseWriter, r *http.Request, v *visit) {
	if v.at.elsewhere(r.Method) {
		u, want := v.passes(r)
		if u != nil {
			s.pass(w, r, v, u)
			return
		}
		if v.at.kind != callPlace {
			s.refuse(w, r, v, deny(backstop.CodeNotFound, "there is nothing at this path; "+endpoints(v.at.dialect)+want))
			return
		}
	}
	if v.at.kind == callPlace && s.rooms[v.at.dialect] == nil {
		s.refuse(w, r, v, deny(backstop.CodeNotFound, "this build does not speak the dialect of this path; use /v1/chat/completions"))
		return
	}
	if !v.at.takes(r.Method) {
		w.Header().Set("Allow", v.at.methods)
		f := deny(backstop.CodeInvalidRequest, "this path takes "+v.at.methods)
		f.Status = http.StatusMethodNotAllowed
		s.refuse(w, r, v, f)
		return
	}
	if r.Method == http.MethodOptions {
		// No CORS header: pages of other origins stay outside.
		w.Header().Set("Allow", v.at.methods)
		s.answer(w, r, v, http.StatusNoContent, nil)
		return
	}
	switch v.at.kind {
	case listPlace:
		s.list(w, r, v)
	case modelPlace:
		s.model(w, r, v)
	default:
		s.call(w, r, v)
	}
}

func (s *Server) health(w http.ResponseWriter, r *http.Request, v *visit) {
	status, word := http.StatusOK, "ok"
	switch {
	case !v.at.takes(r.Method):
		w.Header().Set("Allow", v.at.methods)
		status, word = http.StatusMethodNotAllowed, "this path takes "+v.at.methods
	case v.at.kind == alive:
	case v.plane == nil:
		status, word = http.StatusServiceUnavailable, "starting"
	case s.Phase() != Serving:
		status, word = http.StatusServiceUnavailable, "draining"
	default:
		word = "ready"
	}
	s.answer(w, r, v, status, []byte(`{"status":"`+word+`"}`))
}

// contain keeps a panic to its own call: the connection is cut and the place
// of the fault logged, without its data and without a stack.
func (s *Server) contain(v *visit) {
	fault := recover()
	if fault == nil {
		return
	}
	if fault != http.ErrAbortHandler {
		s.log.LogAttrs(context.Background(), slog.LevelError, "internal fault: please report it",
			slog.String("id", v.id), slog.String("kind", fmt.Sprintf("%T", fault)), slog.String("at", culprit()))
	}
	panic(http.ErrAbortHandler)
}

// culprit is where the panic began: the first frame below the runtime's.
func culprit() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			return fmt.Sprintf("%s:%d", f.Function, f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}
