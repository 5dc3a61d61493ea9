package mock

import (
	"errors"
	"maps"
	"sync"
	"time"
)

// rules tie faults to model names at run time.
type rules struct {
	mu     sync.RWMutex
	byName map[string]rule
}

type rule struct {
	fault Fault
	since time.Time
}

const (
	mostRules    = 1000
	longestModel = 256
)

// SetFault ties a fault to a model name from the next attempt on; the name
// "*" stands for every model without a fault of its own. The empty fault
// unties it, so that the model name decides again; "ok" makes the model
// healthy whatever its name says. Attempts that already wait are not touched.
func (s *Server) SetFault(model, fault string) error {
	if model == "" || len(model) > longestModel {
		return errors.New(`mock: a model name has 1 to 256 bytes; "*" stands for all models`)
	}
	if fault == "" {
		s.rules.mu.Lock()
		delete(s.rules.byName, model)
		s.rules.mu.Unlock()
		return nil
	}
	f, err := Parse(fault)
	if err != nil {
		return err
	}
	return s.rules.set(model, rule{fault: f, since: time.Now()})
}

func (t *rules) set(model string, r rule) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName = map[string]rule{}
	}
	if _, there := t.byName[model]; !there && len(t.byName) >= mostRules {
		return errors.New("mock: too many models have a fault; untie some with an empty fault")
	}
	t.byName[model] = r
	return nil
}

func (t *rules) clear() {
	t.mu.Lock()
	t.byName = nil
	t.mu.Unlock()
}

// all returns the faults by model name.
func (t *rules) all() map[string]string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make(map[string]string, len(t.byName))
	for model, r := range maps.All(t.byName) {
		out[model] = r.fault.text
	}
	return out
}

func (t *rules) find(model string) (rule, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if r, ok := t.byName[model]; ok {
		return r, true
	}
	r, ok := t.byName["*"]
	return r, ok
}

// pick decides what an attempt at a model gets: its rule, the rule for all,
// the fault that its name spells, or a healthy answer. A name that starts
// like a fault and does not parse is an error: a typo must not look healthy.
func (s *Server) pick(model string) (Fault, time.Time, error) {
	if r, ok := s.rules.find(model); ok {
		return r.fault, r.since, nil
	}
	if !known(model) {
		return healthy, s.began(), nil
	}
	f, err := Parse(model)
	return f, s.began(), err
}

var healthy = Fault{text: "ok", play: func(x *exchange) { x.answer() }}
