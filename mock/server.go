package mock

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// Options say how a healthy answer looks and which models are broken from
// the start. The zero value is a fast, healthy server.
type Options struct {
	// Seed moves the text of every answer and the draws of p:P:FAULT. Two
	// servers with one seed give the same answer to the same prompt.
	Seed uint64
	// Name stands in every answer as header x-mock-name, and as
	// system_fingerprint "mock-NAME" where the dialect has that, so that a
	// test can tell two servers apart. Default "mock".
	Name string
	// Faults ties faults to model names; the name "*" stands for all models.
	Faults map[string]string

	// Delay passes before the first token of an answer, Gap between two
	// tokens. A plain body takes as long as its tokens would have taken.
	Delay, Gap time.Duration
	// Tokens is the length of a healthy text, default 48.
	Tokens int

	// LogSize bounds the attempts that are kept, default 10,000.
	LogSize int
	// Key, if set, is the only key that is accepted; others get 401.
	Key string
}

// Server is the mock. It is an [http.Handler] and safe for concurrent use.
type Server struct {
	opts   Options
	mux    *http.ServeMux
	rules  rules
	log    attemptLog
	closed chan struct{}
	once   sync.Once

	mu    sync.Mutex
	draws *rand.Rand
	start time.Time
}

const (
	defaultTokens  = 48
	maxTokens      = 100_000
	defaultLogSize = 10_000
	maxBody        = 32 << 20
)

// New makes a server. It panics if a fault in opts does not parse, as a
// broken regular expression would: both are written into the program.
func New(opts Options) *Server {
	if opts.Tokens <= 0 {
		opts.Tokens = defaultTokens
	}
	opts.Tokens = min(opts.Tokens, maxTokens)
	if opts.LogSize <= 0 {
		opts.LogSize = defaultLogSize
	}
	if opts.Name == "" {
		opts.Name = "mock"
	}
	s := &Server{opts: opts, closed: make(chan struct{}), start: time.Now()}
	s.draws = rand.New(rand.NewPCG(opts.Seed, 0x6d6f636b))
	s.log.size = opts.LogSize
	for model, fault := range opts.Faults {
		if err := s.SetFault(model, fault); err != nil {
			panic(err)
		}
	}
	s.mux = s.routes()
	return s
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Close ends every wait, as if the peers of all hanging attempts had left.
// Call it before closing the HTTP server around it. The mock goes on
// answering, but faults that would wait end at once.
func (s *Server) Close() { s.once.Do(func() { close(s.closed) }) }

// Reset forgets the log and the counts, takes all faults back to those of
// Options and starts the clock of flap anew.
func (s *Server) Reset() {
	s.log.reset()
	s.rules.clear()
	for model, fault := range s.opts.Faults {
		_ = s.SetFault(model, fault) // parsed once already, in New
	}
	s.mu.Lock()
	s.start = time.Now()
	s.draws = rand.New(rand.NewPCG(s.opts.Seed, 0x6d6f636b))
	s.mu.Unlock()
}

// routes binds the paths of all dialects.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, rm := range rooms() {
		for _, path := range rm.paths {
			mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, rm) })
		}
	}
	for _, prefix := range []string{"", "/v1", "/v1beta"} {
		mux.HandleFunc("GET "+prefix+"/models", s.listModels)
		mux.HandleFunc("GET "+prefix+"/models/{id...}", s.oneModel)
	}
	mux.HandleFunc("GET /mock/faults", s.guard(s.showFaults))
	mux.HandleFunc("POST /mock/faults", s.guard(s.switchFault))
	mux.HandleFunc("GET /mock/log", s.guard(s.showLog))
	mux.HandleFunc("DELETE /mock/log", s.guard(s.clearLog))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeFailure(w, speakerOf(r), failure{Status: 404, Type: "invalid_request_error", Code: "unknown_url",
			Message: "unknown path: POST /v1/chat/completions, /v1/completions, /v1/embeddings, /v1/responses, /v1/messages or /v1beta/models/MODEL:generateContent, GET /v1/models"})
	})
	return mux
}

// draw returns the next random number in [0, 1).
func (s *Server) draw() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.draws.Float64()
}

// began is when the server was made or reset.
func (s *Server) began() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start
}
