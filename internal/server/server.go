// Package server is the data plane: the listener's limits, the one door where
// a caller is identified, request ids, one handler a dialect path, and the
// article's /api/agent. It refuses what must not cost anything and hands the
// rest to the live driver; it decides nothing about upstreams.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"backstop"
	"backstop/backstophttp"
	"backstop/limit"
	"backstop/wire"
)

// Runner answers one call, headers and errors included, and returns its
// record. backstophttp.Driver is one.
type Runner interface {
	Serve(ctx context.Context, w http.ResponseWriter, c *backstophttp.Call) *backstop.Event
}

// Passer is a Runner that also carries requests that are no calls to the
// upstream that takes them as they are. backstophttp.Driver is one. cut means
// that the answer broke off.
type Passer interface {
	Pass(ctx context.Context, w http.ResponseWriter, p *backstophttp.Passage) (e *backstop.Event, cut bool)
}

// Room is what the server needs of a dialect: wire.Room has it all.
type Room interface {
	// Read checks a caller's body.
	Read(op wire.Op, body []byte) (*wire.Request, *backstop.Failure)
	// Failure makes the body of an error answer.
	Failure(f *backstop.Failure, id string) []byte
	// Content returns text and finish reason of a plain answer.
	Content(body []byte) (text string, finish string, ok bool)
}

// Bounds of the listener unless [Options] say otherwise.
const (
	DefaultMaxBody    = 20 << 20  // of one request, also after inflating
	DefaultBodyBudget = 128 << 20 // of all large requests together
	DefaultMaxConns   = 16384
)

// Options are what a server needs for its whole life.
type Options struct {
	// Rooms are the dialects that are served. Chat, embeddings and the agent
	// need backstop.OpenAI.
	Rooms map[backstop.Dialect]Room
	// Observe gets the record of each call exactly once: the runner's, or the
	// server's own for a call of a known caller that it refused. So the
	// runner's own observer stays unset. It must not block. nil = nobody
	// listens.
	Observe func(*backstop.Event)
	// Trace finds the place of a call in a trace from the caller's traceparent,
	// "" if it sent none. nil = calls are not traced, and what the caller sent
	// is passed on as it is.
	Trace func(traceparent string) backstop.Trace
	Log   *slog.Logger     // nil = slog.Default
	Clock func() time.Time // nil = time.Now

	MaxBody    int64 // 0 = DefaultMaxBody
	BodyBudget int64 // 0 = DefaultBodyBudget
	MaxConns   int   // 0 = DefaultMaxConns
}

// Plane is one configuration of the server. It is immutable once it was given
// to [Server.Swap].
type Plane struct {
	Plan    *backstop.Plan
	Runner  Runner
	Callers []Caller // none = anyone who reaches the loopback listener
	Agent   Agent
	// Adaptive is errors.retry_signal: final errors are dressed for SDKs that
	// would repeat the call.
	Adaptive bool
}

// Agent configures POST /api/agent.
type Agent struct {
	Model string // when the body names none; "" = by the first route
	JSON  bool   // every answer is promised to be JSON
}

// Phase is how far the process is on its way down.
type Phase int32

// Serving takes calls; Draining still takes them while /readyz says 503, so
// that load balancers look elsewhere; Refusing answers new calls with 503.
const (
	Serving Phase = iota
	Draining
	Refusing
)

// Server is the handler of the data plane. It is safe for concurrent use.
type Server struct {
	rooms   map[backstop.Dialect]Room
	observe func(*backstop.Event)
	trace   func(traceparent string) backstop.Trace
	log     *slog.Logger
	clock   func() time.Time
	epoch   time.Time
	maxBody int64
	budget  budget

	lines  *limit.Rate  // of log lines about strangers
	unsaid atomic.Int64 // … that were not written

	http    *http.Server
	conns   gate
	streams streams

	swapping sync.Mutex
	plane    atomic.Pointer[plane]
	phase    atomic.Int32
}

// plane is a Plane with the lookups that calls need.
type plane struct {
	Plane
	door   *door
	models []string // exact route names, in order
	since  time.Time
	agent  string // model of agent calls that name none, "" = they must
}

// New returns a server without a plane: it is alive but not ready, and calls
// get 503 until [Server.Swap].
func New(o Options) *Server {
	s := &Server{rooms: o.Rooms, observe: o.Observe, trace: o.Trace, log: o.Log, clock: o.Clock, maxBody: o.MaxBody}
	if s.observe == nil {
		s.observe = func(*backstop.Event) {}
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.maxBody <= 0 {
		s.maxBody = DefaultMaxBody
	}
	s.budget.left.Store(orDefault(o.BodyBudget, DefaultBodyBudget))
	s.conns.most = orDefault(int64(o.MaxConns), DefaultMaxConns)
	s.epoch = s.clock()
	s.lines = limit.NewRate(2, 10, s.epoch)
	s.http = newHTTP(s, s.log)
	return s
}

func orDefault(n, otherwise int64) int64 {
	if n <= 0 {
		return otherwise
	}
	return n
}

// Swap puts a new plane in force. Calls that run keep the old one. Limits of
// callers whose settings did not change keep their memory.
func (s *Server) Swap(p *Plane) {
	s.swapping.Lock()
	defer s.swapping.Unlock()
	var before *door
	if old := s.plane.Load(); old != nil {
		before = old.door
	}
	s.plane.Store(&plane{
		Plane: *p, door: newDoor(p.Callers, before, s.epoch),
		models: exactModels(p.Plan), since: s.clock(), agent: agentModel(p),
	})
}

// SetPhase moves the server on its way down; the caller decides when.
func (s *Server) SetPhase(p Phase) { s.phase.Store(int32(p)) }

// Phase tells how far the server is on its way down.
func (s *Server) Phase() Phase { return Phase(s.phase.Load()) }
