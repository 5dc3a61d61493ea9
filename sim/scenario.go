package sim

import (
	"fmt"
	"math"
	"time"

	"backstop"
)

// Scenario is what happens around the engine. Times are measured from the
// start of the run.
type Scenario struct {
	Name     string
	Seed     uint64        // of everything that is drawn
	Duration time.Duration // in which calls arrive; the run ends when the last of them has
	Replicas int           // gateways with an engine each; 0 = 1
	Arrivals Arrivals
	// Upstreams describe the upstreams of the plan. One that is not described
	// answers like [Usual].
	Upstreams []Model
	Faults    []Fault
	Expect    []Expectation
	// Recorded, if set, decides what becomes of an attempt in place of
	// Upstreams and Faults.
	Recorded *Recording
}

// Process says how arrivals are spread over time.
type Process string

// Poisson arrivals are independent of each other, Constant ones evenly spaced,
// and a Trace says when each comes.
const (
	Poisson  Process = "poisson"
	Constant Process = "constant"
	Trace    Process = "trace"
)

// Arrivals are the callers.
type Arrivals struct {
	Rate    float64 // calls a second, over all replicas
	Process Process // "" = Poisson
	Trace   []Arrival
	// Timeout is how long a caller waits: for the first token of a stream, for
	// the whole of any other answer. Then it leaves. 0 = for ever.
	Timeout time.Duration
	// Retries is how often a caller calls again after it left or got an error,
	// with the waits of the usual SDKs (0.5 s doubling to 8 s, jittered). It
	// does so whatever the answer says about trying again.
	Retries int
	Stream  float64 // share of calls that want a stream
	JSON    float64 // share of calls that were promised JSON
	Embed   float64 // share of calls that want embeddings
	// Same is the share of answers that another upstream would give word for
	// word: only those streams can be spliced after they broke.
	Same    float64
	Callers int // how many there are, evenly busy; 0 = 100
	// Models are the names asked for and their weights; none = the name of the
	// plan's first route.
	Models []ModelShare
}

// ModelShare is a model name and how often it is asked for.
type ModelShare struct {
	Name   string
	Weight float64
}

// Arrival is one call of a trace.
type Arrival struct {
	At     time.Duration
	Model  string // "" = drawn like any other
	Caller string // "" = drawn
	Stream bool
	JSON   bool
	Fixed  bool // Stream and JSON are known, not drawn
}

// Model is how an upstream behaves when nothing is wrong with it.
type Model struct {
	Name       string
	FirstToken Spread        // seconds to the first token
	Tokens     Spread        // tokens of an answer
	Gap        time.Duration // between two tokens
	// Capacity is the most calls it works on at a time, 0 = no bound. What
	// comes on top gets the fault Over, or with Over "queue" waits its turn;
	// calls that were given up are worked on all the same.
	Capacity int
	Over     string // "" = 503
}

// Usual is an upstream that the scenario says nothing about.
func Usual(name string) Model {
	return Model{Name: name, FirstToken: Spread{0.6, 1.5}, Tokens: Spread{200, 800}, Gap: 15 * time.Millisecond}
}

// Fault is something that goes wrong at an upstream for a while. Word is in
// the language of the mock: hang, slow:20s, stall@20, 429:retry-after=2,
// p:0.25:503 and so on, see [Words].
type Fault struct {
	Upstream string
	From, To time.Duration // To 0 = to the end
	Word     string
	Model    string // only calls for this model name as it is sent, "" = all
	Key      int    // only calls with this key, counted from 1, 0 = all
}

// The bounds of a scenario: what is above them is a mistake.
const (
	maxReplicas = 1000
	maxCallers  = 100_000
	maxFaults   = 10_000
	maxDuration = 400 * 24 * time.Hour
	maxRate     = 100_000
)

// check fills in defaults and refuses what cannot be played.
func (s *Scenario) check(plan *backstop.Plan) error {
	if s.Replicas == 0 {
		s.Replicas = 1
	}
	if s.Arrivals.Process == "" {
		s.Arrivals.Process = Poisson
	}
	if s.Arrivals.Callers == 0 {
		s.Arrivals.Callers = 100
	}
	a := &s.Arrivals
	switch {
	case s.Duration <= 0 || s.Duration > maxDuration:
		return fmt.Errorf("duration %s: write one from 1ms to 400 days", s.Duration)
	case s.Replicas < 0 || s.Replicas > maxReplicas:
		return fmt.Errorf("replicas %d: write 1 to %d", s.Replicas, maxReplicas)
	case a.Process != Trace && !(a.Rate > 0 && a.Rate <= maxRate):
		return fmt.Errorf("arrivals: rate %g a second: write one up to %d/s", a.Rate, maxRate)
	case a.Process != Trace && a.Process != Poisson && a.Process != Constant:
		return fmt.Errorf("arrivals: unknown process %q: use poisson, constant or trace", a.Process)
	case a.Process == Trace && len(a.Trace) == 0:
		return fmt.Errorf("arrivals: the trace is empty: write one time a line")
	case a.Timeout < 0 || a.Retries < 0 || a.Retries > 100:
		return fmt.Errorf("arrivals: timeout %s, retries %d: write a positive time and at most 100 retries", a.Timeout, a.Retries)
	case a.Callers < 1 || a.Callers > maxCallers:
		return fmt.Errorf("arrivals: callers %d: write 1 to %d", a.Callers, maxCallers)
	case !share(a.Stream) || !share(a.JSON) || !share(a.Embed) || !share(a.Same):
		return fmt.Errorf("arrivals: stream, json, embed and same are shares: write 0 to 1")
	case len(s.Faults) > maxFaults:
		return fmt.Errorf("faults: more than %d: split the scenario", maxFaults)
	}
	for i := range s.Upstreams {
		if err := s.Upstreams[i].check(plan); err != nil {
			return err
		}
	}
	for i := range s.Faults {
		f := &s.Faults[i]
		if f.To == 0 {
			f.To = max(s.Duration, f.From+1)
		}
		if plan.Upstream(f.Upstream) == nil {
			return fmt.Errorf("faults: the plan has no upstream %q", f.Upstream)
		}
		if f.From < 0 || f.To <= f.From {
			return fmt.Errorf("faults: %s from %s to %s: write an end after the start", f.Word, f.From, f.To)
		}
	}
	return s.models(plan)
}

func share(x float64) bool { return x >= 0 && x <= 1 }

func (m *Model) check(plan *backstop.Plan) error {
	if plan.Upstream(m.Name) == nil {
		return fmt.Errorf("upstreams: the plan has no upstream %q", m.Name)
	}
	for _, s := range []Spread{m.FirstToken, m.Tokens} {
		if !(s.P50 >= 0 && s.P50 < 1e9 && s.P95 < 1e9) || s.P95 != 0 && s.P95 < s.P50 {
			return fmt.Errorf("upstreams: %s: p50 %g and p95 %g: write positive numbers, the smaller one first", m.Name, s.P50, s.P95)
		}
	}
	if m.Gap < 0 || m.Capacity < 0 {
		return fmt.Errorf("upstreams: %s: gap and capacity cannot be negative", m.Name)
	}
	return nil
}

// models settles what callers ask for: every name must have a route.
func (s *Scenario) models(plan *backstop.Plan) error {
	a := &s.Arrivals
	if len(plan.Routes) == 0 {
		return fmt.Errorf("the plan has no route")
	}
	if len(a.Models) == 0 {
		name := plan.Routes[0].Model
		if !plan.Routes[0].Exact() {
			name = "gpt-4o"
		}
		if plan.Route(name) == nil {
			return fmt.Errorf("arrivals: name the models that are asked for, no route serves %q", name)
		}
		a.Models = []ModelShare{{name, 1}}
	}
	for _, m := range a.Models {
		if plan.Route(m.Name) == nil {
			return fmt.Errorf("arrivals: no route of the plan serves the model %q", m.Name)
		}
		if !(m.Weight > 0) || math.IsInf(m.Weight, 0) {
			return fmt.Errorf("arrivals: model %s: write a weight above 0", m.Name)
		}
	}
	return nil
}
