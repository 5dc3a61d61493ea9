package backstop

import "time"

// Report is what the headers of an answer say about the call so far.
type Report struct {
	Tier     string // primary | backup | local; "" before routing
	Upstream string
	Model    string
	Attempts int
	Reason   string   // why the primary did not answer, "" = it did
	Dropped  []string // parameters left out because the upstream rejected them

	Route     string
	TierIndex int
}

// Report describes the tier that answers, or the last one that was tried.
func (c *Call) Report() Report {
	r := Report{Attempts: c.spent}
	if c.route == nil {
		return r
	}
	r.Route = c.route.Model
	a := c.answered
	if a == nil {
		a = c.live
	}
	if a == nil {
		a = c.local
	}
	if a == nil {
		a = c.lastAttempt()
	}
	if a != nil {
		r.Tier, r.TierIndex, r.Upstream, r.Model = c.tierName(a.tier), a.tier, a.name, a.sent
		r.Dropped = a.without
	} else if n := len(c.skips); n > 0 {
		s := c.skips[n-1]
		r.Tier, r.Upstream = c.tierName(s.Tier), s.Upstream
	}
	if a == nil || a.tier > 0 || c.failure != nil {
		r.Reason = c.reason()
	}
	return r
}

// reason is why the first tier did not answer.
func (c *Call) reason() string {
	for j := len(c.attempts) - 1; j >= 0; j-- {
		if a := c.attempts[j]; a.tier == 0 && a.settled && !a.unsent && a.outcome.Class != OK {
			return headerReason(&a.outcome)
		}
	}
	for j := len(c.skips) - 1; j >= 0; j-- {
		if c.skips[j].Tier == 0 {
			return skipReason(c.skips[j].Why)
		}
	}
	return ""
}

// skipReason is the published word for why a tier was passed over. One that
// had too little time left was moved on from: that is no verdict on it.
func skipReason(why string) string {
	switch why {
	case "open", "parked", "rate", "full", "context", Rejected.String():
		return why
	}
	return Canceled.String()
}

// headerReason names the kind only where it is one of the published kinds of
// upstreams' answers.
func headerReason(o *Outcome) string {
	switch o.Kind {
	case KindRate, KindRamp, KindQuota, KindAuth, KindOverload, KindServer, KindTimeout, KindConflict,
		KindHTML, KindProtocol, KindEmpty, KindBlank, KindJSON, KindFilter, KindParam, KindContext, KindSize, KindModel:
		return o.Reason()
	}
	return o.Class.String()
}

func (c *Call) lastAttempt() *attempt {
	for j := len(c.attempts) - 1; j >= 0; j-- {
		if a := c.attempts[j]; a.up != nil && !a.unsent {
			return a
		}
	}
	return nil
}

// triedUpstreams are the config names of the upstreams that were asked.
func (c *Call) triedUpstreams() map[string]bool {
	m := map[string]bool{}
	for _, a := range c.attempts {
		if a.up != nil && !a.unsent {
			m[a.name] = true
		}
	}
	return m
}

// Event is the record of a call that is done. The driver adds what only it
// knows: operation, status, repairs, tokens of the answer.
func (c *Call) Event(now time.Time) *Event {
	e := &Event{ID: c.req.ID, Time: c.began, Asked: c.req.Model, Caller: c.req.Caller, Dialect: c.req.Dialect,
		Stream: c.req.Stream, JSON: c.req.JSON, TierIndex: -1, Committed: c.committed, Failure: c.failure,
		Rescued: c.rescued(), Skipped: c.skips, Duration: now.Sub(c.began), InputTokens: -1, OutputTokens: -1}
	r := c.Report()
	e.Route, e.Tier, e.Upstream, e.Model, e.Reason = r.Route, r.Tier, r.Upstream, r.Model, r.Reason
	for _, a := range c.attempts {
		if a.up != nil && !a.unsent {
			e.Attempts = append(e.Attempts, c.record(a))
		}
	}
	e.Outcome = OK
	if a := c.answered; a != nil {
		e.TierIndex = a.tier
		e.InputTokens, e.OutputTokens = a.outcome.InputTokens, a.outcome.OutputTokens
		if !a.token.IsZero() {
			e.FirstToken = a.token.Sub(c.began)
		}
		e.Upstreamed = a.over.Sub(a.began)
		if a.outcome.Class == Refused {
			e.Outcome = Refused
		}
	} else if c.failure != nil {
		e.Outcome = c.failedClass()
		if !c.committed {
			e.Tier = ""
		}
	}
	return e
}

func (c *Call) failedClass() Class {
	switch c.failure.Code {
	case CodeCanceled:
		return Canceled
	case CodeInvalidRequest, CodeNotFound: // no upstream could be asked
		return Rejected
	}
	if a := c.lastAttempt(); a != nil && a.settled {
		return a.outcome.Class
	}
	for _, s := range c.skips {
		if s.Why == "parked" || s.Why == "rate" || s.Why == "full" {
			return Limited
		}
	}
	if c.route == nil {
		return Rejected
	}
	return Broken
}

func (c *Call) record(a *attempt) AttemptRecord {
	r := AttemptRecord{ID: a.id, Tier: a.tier, Upstream: a.name, Model: a.sent, Key: a.key, Start: a.began.Sub(c.began),
		Waited: a.waited, Gap: a.gap, Probe: a.probe, Retry: a.retry, Hedge: a.hedge, Outcome: a.outcome, Switched: a.switched, Replays: a.outcome.Replayed}
	r.Outcome.Body, r.Outcome.Message = nil, ""
	if !a.firstByte.IsZero() {
		r.FirstByte = a.firstByte.Sub(a.began)
	}
	if !a.token.IsZero() {
		r.FirstToken = a.token.Sub(a.began)
	}
	if !a.over.IsZero() {
		r.Duration = a.over.Sub(a.began)
	}
	return r
}
