package backstop

import (
	"time"

	"backstop/breaker"
)

// settle passes the verdict on an attempt: every ticket, permit and lease it
// holds goes back exactly once, and each outcome feeds the one scope it belongs to.
func (c *Call) settle(now time.Time, a *attempt, o Outcome) {
	if a.settled {
		return
	}
	a.settled, a.over, a.outcome = true, now, o
	if a.up == nil {
		return
	}
	a.model.waiters.remove(a)
	if o.NotSent {
		c.void(now, a)
		return
	}
	c.judge(now, a, &a.outcome)
	a.up.inflight.Release()
	c.park(now, a, &a.outcome)
}

// void gives everything back that an attempt took before it turned out that
// nothing can be sent.
func (c *Call) void(now time.Time, a *attempt) {
	a.judged = true
	a.up.endpoint.Done(now, a.endpoint, breaker.Void, false)
	c.gate(a).Done(now, a.scope, breaker.Void, false)
	a.model.quality.Done(now, a.quality, breaker.Void, false)
	if t := a.model.trial; t != nil {
		t.Done(now, a.trial, breaker.Void, false)
	}
	a.up.inflight.Release()
	a.refund()
	a.release()
}

// judge tells the breakers.
func (c *Call) judge(now time.Time, a *attempt, o *Outcome) {
	if o.Status > 0 {
		c.firstByte(now, a) // whatever it said, the endpoint answered
	}
	counts := o.Counts
	if o.Class == Limited && o.Kind == KindAuth && a.key >= 0 && a.up.keys.refuse(now, a.began, a.key) {
		counts = CountsModel
		o.Counts = CountsModel
	}
	scope, quality, endpoint := breaker.Neutral, breaker.Neutral, breaker.Neutral
	overload := o.Kind == KindOverload || o.Class == Limited
	switch {
	case o.Class == OK || o.Class == Refused:
		scope, endpoint = breaker.Success, breaker.Success
		if o.Class == OK {
			quality = breaker.Success
			a.up.inflight.Success()
			a.up.budget.Deposit()
			if a.key >= 0 {
				a.up.keys.worked(now, a.began, a.key)
			}
		}
	case counts == CountsEndpoint:
		endpoint = breaker.Failure
	case counts == CountsModel:
		scope = breaker.Failure
	case counts == CountsQuality:
		quality, scope = c.complained(now, a, o), breaker.Success
	case o.Class == Hang && o.Kind == KindMoved:
		scope = breaker.Moved
	case o.Class == Canceled && o.Kind == KindCaller && a.token.IsZero():
		scope = c.canceled(now, a)
	case o.Class == Canceled && o.Kind == KindHedge && a.token.IsZero() && !a.probe:
		// No failure: nobody waited in vain, and a slow answer is no hang. But
		// the wait is a sample of at least its length, or the tail that hedges
		// cut off would be missing from the p95 and the suspicion age.
		scope = breaker.Moved
	}
	if o.Kind == KindOverload || o.Kind == KindRamp {
		a.up.inflight.Overload(now)
	}
	if !a.judged {
		a.judged = true
		a.up.endpoint.Done(now, a.endpoint, endpoint, false)
	}
	c.gate(a).Done(now, a.scope, scope, overload)
	if t := a.model.trial; t != nil {
		t.Done(now, a.trial, scope, overload)
	}
	if c.req.JSON && !c.req.Embed {
		a.model.quality.Done(now, a.quality, quality, false)
	}
}

// canceled weighs a caller who left before the first token: after the
// suspicion age it is evidence of a hang, but no caller alone may open a
// breaker by its impatience.
func (c *Call) canceled(now time.Time, a *attempt) breaker.Result {
	b := &a.up.u.Breaker
	if a.probe {
		return breaker.Neutral // the slot goes back: an impatient caller is no verdict
	}
	if !b.Hang || b.Literal || !c.watched(a) || now.Sub(a.clock) <= c.suspicion(a) {
		return breaker.Moved
	}
	if a.model.cancels.counts(now, c.req.Caller, b.Window, b.Failures) {
		return breaker.Failure
	}
	return breaker.Moved
}

// complained weighs an answer that is not the promised JSON: no schema of a
// caller alone may open a breaker that others ask.
func (c *Call) complained(now time.Time, a *attempt, o *Outcome) breaker.Result {
	b := &a.up.u.Breaker
	if !a.model.doubts.counts(now, c.who, c.req.Schema, o.OwnSchema && !b.Literal, b.Window) {
		return breaker.Neutral
	}
	return breaker.Failure
}

// park skips what the answer told us to skip, and frees what a success shows
// to be free again.
func (c *Call) park(now time.Time, a *attempt, o *Outcome) {
	s, key := a.up, max(a.key, 0)
	if o.Class == OK || o.Class == Refused {
		for _, h := range a.leases {
			h.p.clear(h.id, a.began)
		}
		a.leases = nil
		return
	}
	if o.Park != ParkNone {
		p, id := parkOf(s, key, a.model.name, o)
		p.set(now, id, o, a.began)
		kept := a.leases[:0]
		for _, h := range a.leases {
			if h.p != p || h.id != id {
				kept = append(kept, h)
			}
		}
		a.leases = kept
	}
	a.release()
}

// parkOf says which table and entry an outcome parks (engine.md 8).
func parkOf(s *upstreamState, key int, model string, o *Outcome) (*parks, parkID) {
	switch {
	case o.Park == ParkKey && o.Kind == KindRate:
		return s.ratePark, s.rateID(key, model)
	case o.Park == ParkKey:
		return s.keyPark, parkID{key, ""}
	case o.Class == Limited && o.Kind != KindRamp:
		return s.keyPark, parkID{allKeys, ""} // an edge page: the whole upstream
	default:
		return s.keyPark, parkID{allKeys, model}
	}
}
