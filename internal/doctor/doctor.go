// Package doctor finds out why an upstream cannot be called, without spending
// a token: it asks for the list of models over the very connections that calls
// would take, and says for each thing that is wrong what the cause is and what
// mends it.
//
// Stability: internal.
package doctor

import (
	"context"
	"net"
	"sync"
	"time"

	"backstop"
)

// Bounds of an examination.
const (
	defaultLimit = 15 * time.Second // one upstream
	atOnce       = 16               // upstreams in parallel
	maxBody      = 4 << 20          // of an answer
	maxModels    = 10000            // names of a list that are kept
)

// Options are the knobs of an examination.
type Options struct {
	// Limit bounds the time for one upstream, 0 = 15 s.
	Limit time.Duration
	// Env names the variable that a proxy comes from; nil = unknown.
	Env func(name string) (string, bool)
	// Each is told how many upstreams are done, one call at a time; may be nil.
	Each func(done, all int)
	// Dial replaces the dialer together with its guard; tests use it.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Now is the clock that Date headers are compared with, nil = the machine's.
	Now func() time.Time
}

// Report is what was found, upstreams in the order of the plan.
type Report struct {
	OK        bool       `json:"ok"` // no upstream has a problem
	Upstreams []Upstream `json:"upstreams"`
}

// Upstream is the examination of one upstream.
type Upstream struct {
	Name      string    `json:"name"`
	BaseURL   string    `json:"base_url"`
	Dialect   string    `json:"dialect"`
	Vendor    string    `json:"vendor"`
	Proxy     string    `json:"proxy,omitempty"`     // without its password
	Addresses []string  `json:"addresses,omitempty"` // what the name resolved to
	Steps     []Step    `json:"steps"`
	Findings  []Finding `json:"findings"`
}

// Step is one check; Name is dns, tcp, tls, http or key N.
type Step struct {
	Name   string  `json:"name"`
	State  State   `json:"state"`
	Millis float64 `json:"ms,omitempty"`
	Note   string  `json:"note,omitempty"`
}

// State is how a check ended.
type State string

// The states; Unknown means that it could not be told without spending tokens.
const (
	Fine    State = "ok"
	Warned  State = "warning"
	Failed  State = "failed"
	Unknown State = "unknown"
)

// Weight says how bad a finding is.
type Weight string

// A Problem keeps calls from being answered, a Warning may, a Note explains.
const (
	Problem Weight = "problem"
	Warning Weight = "warning"
	Note    Weight = "note"
)

// Finding is one thing that an operator should know. Its texts hold no
// credential and no byte of an upstream's answer but host names and statuses.
type Finding struct {
	Weight Weight `json:"weight"`
	What   string `json:"what"`
	Cause  string `json:"cause,omitempty"`
	Fix    string `json:"fix,omitempty"`
}

// Run examines every upstream of a plan, several at a time, each for at most
// Options.Limit. It returns early when ctx ends; what was not finished says so.
func Run(ctx context.Context, plan *backstop.Plan, o Options) *Report {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	r := &Report{OK: true, Upstreams: make([]Upstream, len(plan.Upstreams))}
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		done  int
		rooms = make(chan struct{}, atOnce)
	)
	for i := range plan.Upstreams {
		rooms <- struct{}{}
		wait.Go(func() {
			defer func() { <-rooms }()
			r.Upstreams[i] = examine(ctx, plan, &plan.Upstreams[i], &o)
			mu.Lock()
			defer mu.Unlock()
			if done++; o.Each != nil {
				o.Each(done, len(plan.Upstreams))
			}
		})
	}
	wait.Wait()
	for i := range r.Upstreams {
		for _, f := range r.Upstreams[i].Findings {
			r.OK = r.OK && f.Weight != Problem
		}
	}
	return r
}
