package observe

import (
	"fmt"
	"log/slog"
	"sort"
	"strings"
	"sync"

	"backstop"
)

// errorsEach is how many failed attempts of one upstream are told one by one
// in a second; the rest is counted.
const errorsEach = 5

// mostOpen is how many scopes of an upstream that are not closed are kept. Callers
// make up models, and the engine forgets the oldest ones without a word.
const mostOpen = 1024

// outage counts what happens in one second while upstreams are out. Its other
// maps have config names as keys, so they stay small.
type outage struct {
	mu     sync.Mutex
	open   map[string]map[string]string // upstream -> scope and model -> state, unless closed
	passed map[passedBy]*served         // who served the calls that an upstream did not get
	errors map[string]*storm            // failed primary attempts by upstream
}

// passedBy is an upstream and why it was passed over: open or parked.
type passedBy struct{ upstream, why string }

type served struct{ backup, local, nobody int }

type storm struct {
	told   int
	untold map[string]int // by reason, which is a fixed word
}

// changed keeps the set of breakers that are not closed.
func (o *outage) changed(t *backstop.Transition) {
	o.mu.Lock()
	defer o.mu.Unlock()
	scope := t.Scope + "\x00" + t.Model
	if t.To == "closed" || t.To == "forced-closed" {
		delete(o.open[t.Upstream], scope)
		return
	}
	if o.open == nil {
		o.open = map[string]map[string]string{}
	}
	if o.open[t.Upstream] == nil {
		o.open[t.Upstream] = map[string]string{}
	}
	open := o.open[t.Upstream]
	if _, known := open[scope]; !known && len(open) >= mostOpen {
		for one := range open {
			delete(open, one)
			break
		}
	}
	open[scope] = t.To
}

// count notes who served a call in place of upstreams that it could not use.
func (o *outage) count(e *backstop.Event) {
	if len(e.Skipped) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range e.Skipped {
		s := &e.Skipped[i]
		if s.Why != "open" && (s.Why != "parked" || s.Tier != 0) {
			continue
		}
		by := passedBy{s.Upstream, s.Why}
		n := o.passed[by]
		if n == nil {
			if o.passed == nil {
				o.passed = map[passedBy]*served{}
			}
			n = &served{}
			o.passed[by] = n
		}
		switch e.Tier {
		case "local":
			n.local++
		case "":
			n.nobody++
		default:
			n.backup++
		}
	}
}

// admit reports whether a failed attempt gets a line of its own.
func (o *outage) admit(a *backstop.AttemptRecord) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.errors[a.Upstream]
	if s == nil {
		if o.errors == nil {
			o.errors = map[string]*storm{}
		}
		s = &storm{untold: map[string]int{}}
		o.errors[a.Upstream] = s
	}
	if s.told < errorsEach {
		s.told++
		return true
	}
	s.untold[a.Outcome.Reason()]++
	return false
}

// second is the lines of the second that is over.
func (o *outage) second() (lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for by, n := range o.passed {
		what, state := "[Circuit Breaker] ", o.worst(by.upstream)
		if by.why == "parked" {
			what, state = "[Primary Model Error] ", "PARKED"
		}
		line := fmt.Sprintf("%s%s %s: %d calls to backup, %d to local", what, nameOf(by.upstream), state, n.backup, n.local)
		if n.nobody > 0 {
			line += fmt.Sprintf(", %d without an answer", n.nobody)
		}
		lines = append(lines, line)
	}
	for upstream, s := range o.errors {
		if len(s.untold) > 0 {
			lines = append(lines, "[Primary Model Error] "+nameOf(upstream)+": "+s.rest())
		}
	}
	clear(o.passed)
	clear(o.errors)
	sort.Strings(lines)
	return lines
}

// worst is the state that the line of a second names.
func (o *outage) worst(upstream string) string {
	state := "OPEN"
	for _, s := range o.open[upstream] {
		if s == "open" {
			return "OPEN"
		}
		state = strings.ToUpper(s)
	}
	return state
}

func (s *storm) rest() string {
	total, words := 0, make([]string, 0, len(s.untold))
	for word, n := range s.untold {
		total += n
		words = append(words, fmt.Sprintf("%s %d", word, n))
	}
	sort.Strings(words)
	return fmt.Sprintf("%d more suppressed (%s)", total, strings.Join(words, ", "))
}

func (o *Observer) logSecond() {
	for _, line := range o.outage.second() {
		o.line(slog.LevelWarn, line)
	}
	if o.silent == nil {
		return
	}
	for _, s := range o.silent() {
		o.line(slog.LevelWarn, fmt.Sprintf("[Primary Model Error] %s: %d calls wait without a token, the oldest for %d ms",
			nameOf(s.Upstream), s.Calls, s.Oldest.Milliseconds()), slog.String("model", clip(s.Model)))
	}
}
