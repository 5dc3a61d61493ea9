package admin

import (
	"net/http"
	"strconv"
	"time"

	"backstop"
)

const (
	defaultCalls = 100
	mostCalls    = 1000
)

// callView is one call of GET /api/calls: what was tried, and how it ended.
// Starts count from the moment the call was accepted.
type callView struct {
	ID         string           `json:"id"`
	Time       time.Time        `json:"time"`
	Op         string           `json:"op"`
	Dialect    backstop.Dialect `json:"dialect"`
	Caller     string           `json:"caller,omitempty"`
	Route      string           `json:"route,omitempty"`
	Asked      string           `json:"asked,omitempty"`
	Stream     bool             `json:"stream"`
	JSON       bool             `json:"json"`
	Tier       string           `json:"tier,omitempty"`
	Upstream   string           `json:"upstream,omitempty"`
	Model      string           `json:"model,omitempty"`
	Reason     string           `json:"reason,omitempty"`
	Outcome    string           `json:"outcome"`
	Status     int              `json:"status"`
	Code       backstop.Code    `json:"code,omitempty"`
	Message    string           `json:"message,omitempty"`
	Committed  bool             `json:"committed"`
	Truncated  bool             `json:"truncated,omitempty"`
	Repaired   []string         `json:"repaired,omitempty"`
	Dropped    []string         `json:"dropped,omitempty"`
	Stale      float64          `json:"stale_s,omitempty"`
	FirstToken float64          `json:"first_token_ms,omitempty"`
	Duration   float64          `json:"duration_ms"`
	Upstreamed float64          `json:"upstream_ms"`
	Input      int              `json:"input_tokens"`  // -1 = not reported
	Output     int              `json:"output_tokens"` // -1 = not reported
	Attempts   []attemptView    `json:"attempts"`
	Skipped    []skipView       `json:"skipped,omitempty"`
	Rescued    string           `json:"rescued,omitempty"`
	Changes    []changeView     `json:"changes,omitempty"` // of breakers while the call ran; of GET /api/calls/{id} only
}

// changeView is a breaker that changed while a call ran.
type changeView struct {
	At float64 `json:"at_ms"`
	transitionView
}

type attemptView struct {
	Number     int     `json:"attempt"`
	Tier       int     `json:"tier"`
	Upstream   string  `json:"upstream"`
	Model      string  `json:"model"`
	Key        int     `json:"key"` // index, never the key
	Start      float64 `json:"start_ms"`
	Waited     float64 `json:"waited_ms,omitempty"`
	Gap        float64 `json:"gap_ms,omitempty"` // longest time between two tokens
	FirstByte  float64 `json:"first_byte_ms,omitempty"`
	FirstToken float64 `json:"first_token_ms,omitempty"`
	Duration   float64 `json:"duration_ms"`
	Outcome    string  `json:"outcome"` // class or class/kind
	Status     int     `json:"status,omitempty"`
	Probe      bool    `json:"probe,omitempty"`
	Again      bool    `json:"retry,omitempty"`
	Hedge      bool    `json:"hedge,omitempty"` // it began beside the attempt before it
	Replays    int     `json:"replays,omitempty"`
}

type skipView struct {
	Tier     int     `json:"tier"`
	Upstream string  `json:"upstream"`
	Why      string  `json:"why"`
	Kind     string  `json:"kind,omitempty"`     // what it is parked for
	Until    float64 `json:"until_ms,omitempty"` // free again after that time
	At       float64 `json:"at_ms"`
}

func viewCall(e *backstop.Event) callView {
	v := callView{
		ID: e.ID, Time: e.Time, Op: e.Op, Dialect: e.Dialect, Caller: e.Caller, Route: e.Route, Asked: e.Asked, Stream: e.Stream, JSON: e.JSON,
		Tier: e.Tier, Upstream: e.Upstream, Model: e.Model, Reason: e.Reason, Outcome: e.Outcome.String(), Status: e.Status,
		Committed: e.Committed, Truncated: e.Truncated, Repaired: e.Repaired, Dropped: e.Dropped, Stale: e.Stale.Seconds(), Rescued: e.Rescued,
		FirstToken: millis(e.FirstToken), Duration: millis(e.Duration), Upstreamed: millis(e.Upstreamed),
		Input: e.InputTokens, Output: e.OutputTokens, Attempts: make([]attemptView, 0, len(e.Attempts)),
	}
	if e.Failure != nil {
		v.Code, v.Message = e.Failure.Code, e.Failure.Message
	}
	for i := range e.Attempts {
		a := &e.Attempts[i]
		v.Attempts = append(v.Attempts, attemptView{
			Number: int(a.ID), Tier: a.Tier, Upstream: a.Upstream, Model: a.Model, Key: a.Key, Start: millis(a.Start), Waited: millis(a.Waited), Gap: millis(a.Gap),
			FirstByte: millis(a.FirstByte), FirstToken: millis(a.FirstToken), Duration: millis(a.Duration), Outcome: a.Outcome.Reason(),
			Status: a.Outcome.Status, Probe: a.Probe, Again: a.Retry, Hedge: a.Hedge, Replays: a.Replays,
		})
	}
	for _, s := range e.Skipped {
		v.Skipped = append(v.Skipped, skipView{Tier: s.Tier, Upstream: s.Upstream, Why: s.Why, Kind: string(s.Kind), Until: millis(s.Until), At: millis(s.At)})
	}
	return v
}

// The words that the filters take.
var (
	tiers    = map[string]string{"primary": "primary", "backup": "backup", "local": "local", "none": ""}
	outcomes = map[string]bool{"ok": true, "hang": true, "limited": true, "broken": true, "garbled": true, "refused": true, "rejected": true, "canceled": true}
)

func (p *plane) calls(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit := defaultCalls
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > mostCalls {
			fail(w, http.StatusBadRequest, "invalid_request", "limit takes a number from 1 to "+strconv.Itoa(mostCalls))
			return
		}
		limit = n
	}
	tier, byTier := tiers[q.Get("tier")]
	if !byTier && q.Get("tier") != "" {
		fail(w, http.StatusBadRequest, "invalid_request", "tier takes primary, backup, local or none")
		return
	}
	outcome := q.Get("outcome")
	if outcome != "" && !outcomes[outcome] {
		fail(w, http.StatusBadRequest, "invalid_request", "outcome takes ok, hang, limited, broken, garbled, refused, rejected or canceled")
		return
	}
	list := p.Recent.Calls(limit, func(e *backstop.Event) bool {
		return (!byTier || e.Tier == tier) && (outcome == "" || e.Outcome.String() == outcome)
	})
	views := make([]callView, len(list))
	for i, e := range list {
		views[i] = viewCall(e)
	}
	reply(w, http.StatusOK, map[string]any{"calls": views})
}

func (p *plane) call(w http.ResponseWriter, r *http.Request) {
	e := p.Recent.Call(r.PathValue("id"))
	if e == nil {
		fail(w, http.StatusNotFound, "not_found", "no call with this id is remembered; the last 10,000 are, since the start")
		return
	}
	v := viewCall(e)
	v.Changes = p.changes(e)
	reply(w, http.StatusOK, v)
}

// changes are what happened to the breakers of a call's upstreams while it
// ran, as far as that is remembered.
func (p *plane) changes(e *backstop.Event) (out []changeView) {
	asked := map[string]bool{}
	for i := range e.Attempts {
		asked[e.Attempts[i].Upstream] = true
	}
	for i := range e.Skipped {
		asked[e.Skipped[i].Upstream] = true
	}
	list, _, _ := p.Recent.Transitions(0)
	for i := range list {
		t := &list[i]
		if at := t.Time.Sub(e.Time); asked[t.Upstream] && !t.Trial && at >= 0 && at <= e.Duration {
			out = append(out, changeView{At: millis(at), transitionView: viewTransition(t)})
		}
	}
	return out
}
