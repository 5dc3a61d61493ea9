package scenario

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"backstop"
	"backstop/sim"
)

// Replay is a recorded stretch of traffic, ready to be played against another
// configuration.
type Replay struct {
	Scenario sim.Scenario
	Recorded Recorded
	// Coarse is how many calls had no `tries`: what their first upstream did is
	// known from the reason only.
	Coarse int
	// Skipped is how many lines were not about calls.
	Skipped int
}

// Recorded is what the log says became of the calls.
type Recorded struct {
	Calls    int            `json:"calls"`
	Answered int            `json:"answered"`
	Tiers    map[string]int `json:"tiers"`
	Attempts map[string]int `json:"attempts"`
	P50      float64        `json:"p50_ms"` // first token, or the whole where none is logged
	P99      float64        `json:"p99_ms"`
	Over4s   int            `json:"waited_4s"`
	// TurnedAway is how many further calls came to no route: over the limit of
	// their caller, or at fault. No plan answers them; they are not replayed.
	TurnedAway int `json:"turned_away"`
}

// callLine is the JSON line of one call.
type callLine struct {
	Time     time.Time `json:"time"` // of its end
	Msg      string    `json:"msg"`
	Caller   string    `json:"caller"`
	Route    string    `json:"route"`
	Asked    string    `json:"asked"`
	Op       string    `json:"op"`
	Stream   bool      `json:"stream"`
	JSON     bool      `json:"json"`
	Outcome  string    `json:"outcome"`
	Attempts int       `json:"attempts"`
	MS       float64   `json:"ms"`
	First    float64   `json:"first_token_ms"`
	Tier     string    `json:"tier"`
	Upstream string    `json:"upstream"`
	Reason   string    `json:"reason"`
	Tries    []tryLine `json:"tries"`
}

// tryLine is one attempt of it; times are since the call came in.
type tryLine struct {
	Upstream string  `json:"upstream"`
	Outcome  string  `json:"outcome"` // class/kind
	Status   int     `json:"status"`
	At       float64 `json:"at_ms"`
	First    float64 `json:"first_token_ms"` // since At, 0 = none
	MS       float64 `json:"ms"`
	Hint     float64 `json:"retry_after_ms"`
}

// The bounds of a log.
const (
	longestLine = 1 << 20
	mostCalls   = 5_000_000
)

// ReadLog reads the JSON log of a gateway. Lines that are not about calls are
// skipped.
func ReadLog(name string, in io.Reader) (*Replay, error) {
	rp := &Replay{Recorded: Recorded{Tiers: map[string]int{}, Attempts: map[string]int{}}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	var calls []callLine
	for lines.Scan() {
		var c callLine
		if !bytes.Contains(lines.Bytes(), []byte(`"call"`)) || json.Unmarshal(lines.Bytes(), &c) != nil || c.Msg != "call" || c.Time.IsZero() || c.Op == backstop.OpPass {
			rp.Skipped++
			continue
		}
		if c.turnedAway() {
			rp.Recorded.TurnedAway++
			continue
		}
		if len(calls) >= mostCalls {
			return nil, fmt.Errorf("%s: more than %d calls: cut the log to the outage", name, mostCalls)
		}
		calls = append(calls, c)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("%s: a line is longer than %d bytes: is this the log of `serve`?", name, longestLine)
	case err != nil:
		return nil, fmt.Errorf("%s: cannot be read: %w", name, err)
	case len(calls) == 0 && rp.Recorded.TurnedAway > 0:
		return nil, fmt.Errorf("%s: every call was turned away before it came to a route: there is nothing to play", name)
	case len(calls) == 0:
		return nil, fmt.Errorf("%s: no line is about a call: `serve` writes them with log: {format: json, level: info}", name)
	}
	rp.fill(name, calls)
	return rp, nil
}

// turnedAway reports whether the gateway itself refused a call before any tier
// was thought of.
func (c *callLine) turnedAway() bool {
	return c.Route == "" && c.Tier == "" && c.Attempts == 0 && len(c.Tries) == 0 && c.Outcome != "ok"
}

func (c *callLine) began() time.Time { return c.Time.Add(-span(c.MS)) }

func span(ms float64) time.Duration {
	return time.Duration(min(max(ms, 0), 1e9) * float64(time.Millisecond))
}

func (rp *Replay) fill(name string, calls []callLine) {
	slices.SortStableFunc(calls, func(a, b callLine) int { return a.began().Compare(b.began()) })
	start := calls[0].began()
	s := &rp.Scenario
	s.Name, s.Seed, s.Arrivals.Process = name, 1, sim.Trace
	s.Recorded = &sim.Recording{}
	var waits []float64
	for i := range calls {
		c := &calls[i]
		at := c.began().Sub(start)
		s.Arrivals.Trace = append(s.Arrivals.Trace, sim.Arrival{At: at, Model: c.Asked, Caller: c.Caller, Stream: c.Stream, JSON: c.JSON, Fixed: true})
		s.Duration = at + time.Millisecond
		tries := c.Tries
		if tries == nil && c.Attempts > 0 {
			rp.Coarse++
			tries = c.guess()
		}
		for _, t := range tries {
			rp.Recorded.Attempts[t.Upstream]++
			s.Recorded.Tries = append(s.Recorded.Tries, t.of(i, at))
		}
		waits = append(waits, rp.Recorded.add(c))
	}
	slices.Sort(waits)
	rp.Recorded.P50, rp.Recorded.P99 = waits[len(waits)/2], waits[len(waits)*99/100]
}

// add counts a call and returns how long its caller waited.
func (r *Recorded) add(c *callLine) float64 {
	r.Calls++
	if c.Outcome == "ok" || c.Outcome == "refused" {
		r.Answered++
		r.Tiers[c.Tier]++
	}
	wait := cmp.Or(c.First, c.MS)
	if wait >= 4000 {
		r.Over4s++
	}
	return wait
}

// guess makes the most of a line without `tries`: who answered and when, and
// why the primary did not.
func (c *callLine) guess() (out []tryLine) {
	first := cmp.Or(c.First, c.MS)
	if c.Outcome == "ok" && c.Tier != "local" {
		out = append(out, tryLine{Upstream: c.Upstream, Outcome: "ok", Status: 200, First: first, MS: c.MS})
	}
	return out
}

func (t *tryLine) of(call int, at time.Duration) sim.Try {
	return sim.Try{Upstream: t.Upstream, Call: call, At: at + span(t.At), FirstToken: span(t.First), Duration: span(t.MS), Outcome: t.verdict()}
}

func (t *tryLine) verdict() backstop.Outcome { return outcomeOf(t.Outcome, t.Status, span(t.Hint)) }
