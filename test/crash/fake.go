package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"backstop/mock"
)

// tokens is the length of every healthy answer.
const tokens = 60

// fake is an upstream on a real socket. The faults are those of package mock;
// added here is when one acts, and an upstream that refuses a prefill.
type fake struct {
	addr            string
	broken, healthy *mock.Server
	server          *http.Server
	done            chan struct{}

	mu    sync.Mutex
	armed map[string]*armed
	extra map[string]http.HandlerFunc
	seen  []*sighting
}

// armed is a fault of one model: for its first attempt, until a time, or for
// ever.
type armed struct {
	once  bool
	until time.Time
	hits  int
}

// sighting is one request as the upstream saw it.
type sighting struct {
	tag, model      string // tag: first word of the caller's prompt
	at, ended       time.Time
	probe, prefill  bool
	refused         bool // the prefill was
	faulty, dropped bool // answered by the fault; the peer left before the end
}

// newFake starts an upstream. Unless a model is armed, its name picks the
// fault when byName is set, and it is healthy otherwise.
func newFake(gap time.Duration, byName bool) (*fake, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := mock.Options{Gap: gap, Tokens: tokens, LogSize: 1}
	f := &fake{
		addr: ln.Addr().String(), broken: mock.New(o), done: make(chan struct{}),
		armed: map[string]*armed{}, extra: map[string]http.HandlerFunc{},
	}
	f.healthy = f.broken
	if !byName {
		o.Faults = map[string]string{"*": "ok"}
		f.healthy = mock.New(o)
	}
	f.server = &http.Server{Handler: f, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		defer close(f.done)
		_ = f.server.Serve(ln)
	}()
	return f, nil
}

func (f *fake) close() {
	f.broken.Close()
	f.healthy.Close()
	_ = f.server.Close()
	<-f.done
}

// arm ties a fault to a model from now on.
func (f *fake) arm(model, fault string, a armed) {
	if err := f.broken.SetFault(model, fault); err != nil {
		panic(err) // faults are written into this program
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed[model] = &a
}

// disarm makes a model healthy.
func (f *fake) disarm(model string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.armed, model)
}

// play answers a model with a handler instead.
func (f *fake) play(model string, h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.extra[model] = h
}

// ask is what a request says, as far as it matters here.
type ask struct {
	Model     string
	MaxTokens int `json:"max_tokens"`
	MaxNew    int `json:"max_completion_tokens"`
	Messages  []struct {
		Role    string
		Content json.RawMessage
	}
}

// mostProbe is the most tokens that a background probe asks for.
const mostProbe = 16

// noPrefill is the model that wants the last word to be the caller's.
const noPrefill = "ok-noprefill"

// unseen is a header that only this program sends: the request is answered
// well and leaves no trace.
const unseen = "X-Crash-Unseen"

// ServeHTTP notes a request and plays what it meets.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get(unseen) != "" {
		f.healthy.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 8<<20))
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	var q ask
	_ = json.Unmarshal(body, &q)
	s, h := f.note(&q)
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		s.ended, s.dropped = time.Now(), r.Context().Err() != nil
	}()
	h.ServeHTTP(w, r)
}

// note records a request and picks its answer.
func (f *fake) note(q *ask) (*sighting, http.Handler) {
	f.mu.Lock()
	defer f.mu.Unlock()
	most := max(q.MaxTokens, q.MaxNew)
	s := &sighting{model: q.Model, at: time.Now(), probe: most > 0 && most <= mostProbe}
	if n := len(q.Messages); n > 0 {
		s.prefill = q.Messages[n-1].Role == "assistant"
		var text string
		_ = json.Unmarshal(q.Messages[0].Content, &text)
		s.tag, _, _ = strings.Cut(text, " ")
	}
	f.seen = append(f.seen, s)
	if s.prefill && q.Model == noPrefill {
		s.refused = true
		return s, http.HandlerFunc(refusePrefill)
	}
	if h := f.extra[q.Model]; h != nil {
		return s, h
	}
	a := f.armed[q.Model]
	if a == nil || a.once && a.hits > 0 || !a.until.IsZero() && s.at.After(a.until) {
		return s, f.healthy
	}
	a.hits++
	s.faulty = true
	return s, f.broken
}

func refusePrefill(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = io.WriteString(w, `{"error":{"message":"This model takes no assistant message at the end; the last message must be the user's.","type":"invalid_request_error","param":"messages","code":"invalid_prefill"}}`)
}

// sightings are the requests with a tag, or for a model when the tag is empty,
// probes apart.
func (f *fake) sightings(tag, model string) (list []sighting) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.seen {
		if !s.probe && (tag == "" || s.tag == tag) && (model == "" || s.model == model) {
			list = append(list, *s)
		}
	}
	return list
}

// probes are the background probes of a model.
func (f *fake) probes(model string) (list []sighting) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.seen {
		if s.probe && s.model == model {
			list = append(list, *s)
		}
	}
	return list
}
