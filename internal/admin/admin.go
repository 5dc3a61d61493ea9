// Package admin is the admin plane: a handler for a listener of its own, with
// a token from the first second. It shows the engine's state and the recent
// calls, and has few switches: force a breaker, break our own mock, reload from
// disk, drain. It takes no URL, no path and no configuration from anyone.
package admin

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"time"

	"backstop"
	"backstop/secret"
)

// Recent remembers the last calls and transitions. observe.Recent is one.
type Recent interface {
	// Calls returns the latest calls that keep wants, newest first.
	Calls(limit int, keep func(*backstop.Event) bool) []*backstop.Event
	// Call returns the latest call with an id, nil if it is forgotten.
	Call(id string) *backstop.Event
	// Transitions returns those after the first n, the number to ask with the
	// next time, and a channel that is closed at the next one.
	Transitions(n uint64) ([]backstop.Transition, uint64, <-chan struct{})
}

// Options are what the admin plane shows and switches.
type Options struct {
	Token   secret.Value // never empty
	Addrs   []string     // host:port of its listeners
	Version string
	Debug   bool // serve /debug/pprof/

	State   func() backstop.State
	Plan    func() *backstop.Plan // in force
	Config  func() Config
	Seconds func(after time.Time) []Second // finished seconds, oldest first
	Tally   func(upstream string) Tally
	Recent  Recent
	Metrics http.Handler
	Force   func(upstream, state string, d time.Duration) error
	Reload  func() error
	Drain   func() // starts the way down; returns at once
	// Log tells of the orders that were carried out and would else leave no
	// trace. nil = nobody reads it.
	Log *slog.Logger

	// Stop, when it is closed, ends the streams of /api/events, so that a
	// shutdown need not wait for browsers. nil = never.
	Stop  <-chan struct{}
	Clock func() time.Time // nil = time.Now
}

// plane is the handler's memory.
type plane struct {
	Options
	gate    gate
	started time.Time
	streams chan struct{} // places for event streams
	mocks   *http.Client  // reaches private addresses only
}

// mostStreams bounds the event streams that are open at the same time.
const mostStreams = 16

// New returns the handler of the admin plane. An empty token is refused at
// every request rather than let in.
func New(o Options) http.Handler {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	p := &plane{Options: o, gate: newGate(&o), started: o.Clock(), streams: make(chan struct{}, mostStreams), mocks: newMocks()}
	mux := http.NewServeMux()
	for _, a := range assets() {
		mux.Handle("GET "+a.path, a)
	}
	mux.Handle("GET /api/openapi.json", openAPI())
	mux.HandleFunc("GET /api/state", p.state)
	mux.HandleFunc("GET /api/history", p.history)
	mux.HandleFunc("GET /api/config", p.config)
	mux.HandleFunc("GET /api/calls", p.calls)
	mux.HandleFunc("GET /api/calls/{id}", p.call)
	mux.HandleFunc("GET /api/events", p.events)
	mux.HandleFunc("POST /api/breakers/{upstream}", p.breaker)
	mux.HandleFunc("GET /api/faults", p.faults)
	mux.HandleFunc("POST /api/faults/{upstream}", p.inject)
	mux.HandleFunc("POST /api/reload", p.reload)
	mux.HandleFunc("POST /api/drain", p.drain)
	mux.Handle("GET /metrics", o.Metrics)
	if o.Debug {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	return p.gate.guard(inJSON(mux))
}

// MetricsOnly is the handler of the metrics listener, which needs no token
// because it has nothing else.
func MetricsOnly(metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	return inJSON(mux)
}

// inJSON answers for paths that are not there, and for wrong methods, in JSON
// like everything else.
func inJSON(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := &statusOnly{header: http.Header{}}
		mux.ServeHTTP(probe, r)
		if allow := probe.header.Get("Allow"); allow != "" {
			w.Header().Set("Allow", allow)
			fail(w, http.StatusMethodNotAllowed, "invalid_request", "this path takes "+allow)
			return
		}
		fail(w, http.StatusNotFound, "not_found", "there is nothing at this path of the admin plane")
	})
}

// statusOnly learns which methods a path takes.
type statusOnly struct{ header http.Header }

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(int)             {}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(body))
}

func fail(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

// encode is for values that can always be encoded.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte(`{"error":{"code":"internal","message":"the answer could not be written"}}`)
	}
	return b.Bytes()
}
