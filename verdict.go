package backstop

import "time"

// verdict ends a call with the answer of an attempt that may not be routed
// around: the caller's own mistake, or a refusal.
func (c *Call) verdict(a *attempt) { c.fail(c.failureOf(a)) }

// broken ends a committed call: the caller has part of an answer. What the
// upstream itself said is told as it would have been before the first token.
func (c *Call) broken(a *attempt) *Failure {
	o := &a.outcome
	f := &Failure{Code: CodeStreamIncomplete, Message: c.tierName(a.tier) + " " + a.name + ": " + c.phrase(a)}
	switch {
	case o.Class == Hang:
		f.Code = CodeStreamStalled
	case o.Kind == KindTooLarge:
		f.Code = CodeEventTooLarge
	case o.Class == Limited, o.Class == Broken && o.Kind != KindReset:
		own := c.failureOf(a)
		f.Code, f.Status, f.RetryAfter = own.Code, own.Status, own.RetryAfter
	case o.Class == Rejected, o.Class == Refused:
		f = c.failureOf(a)
		f.Body = nil // the frame is ours
	case o.Kind == KindTruncated:
		f.Code = CodeJSONTruncated
	case o.Kind == KindJSON:
		f.Code = CodeJSONInvalid
	}
	if f.Status == 0 {
		f.Status = f.Code.Status()
	}
	return f
}

// exhausted ends a call that no tier answered.
func (c *Call) exhausted(now time.Time) {
	tried := c.triedUpstreams()
	if last := c.lastAttempt(); last != nil && (c.tooLong || (len(tried) == 1 || c.sameRejection())) {
		f := c.failureOf(last)
		if last.outcome.Class != Rejected && last.outcome.Class != Refused {
			f.Message = c.chain()
		}
		if f.RetryAfter == 0 {
			f.RetryAfter = c.retryAfter(now, f.Code)
		}
		if c.ranOut(now, last) {
			f.Code, f.Status = CodeDeadlineExceeded, CodeDeadlineExceeded.Status()
		}
		c.fail(f)
		return
	}
	if f := c.inexpressible(); f != nil {
		c.fail(f)
		return
	}
	if f := c.wall(); f != nil && len(tried) == 0 {
		c.fail(f)
		return
	}
	f := &Failure{Code: CodeUpstreamsExhausted, Message: c.chain()}
	if len(tried) == 0 {
		f.Code = c.refusal(now)
	}
	f.Status = f.Code.Status()
	f.RetryAfter = c.retryAfter(now, f.Code)
	c.fail(f)
}

// ranOut reports whether the call's deadline, not the upstream's limit, ended
// its last attempt.
func (c *Call) ranOut(now time.Time, a *attempt) bool {
	return a.outcome.Class == Hang && a.outcome.Kind == KindFirstToken && !now.Before(c.deadline) &&
		a.over.Sub(a.clock) < a.up.u.Timeouts.FirstToken
}

// sameRejection reports whether every upstream said that the call itself is
// at fault (a missing model): then the last word is passed on.
func (c *Call) sameRejection() bool {
	for _, a := range c.attempts {
		if a.up != nil && !a.unsent && a.outcome.Class != Rejected {
			return false
		}
	}
	return len(c.attempts) > 0
}

// wall is the error of a call whose upstreams are all parked for their
// accounts, their credentials or a model that they do not have: what the answers
// that parked them said, nil = there is another reason as well.
func (c *Call) wall() *Failure {
	var first *Skip
	for i := range c.skips {
		s := &c.skips[i]
		if s.Why != "parked" || !walled(s.Kind) {
			return nil
		}
		if first == nil {
			first = s
		}
	}
	if first == nil {
		return nil
	}
	f := &Failure{Code: CodeQuota, Status: first.Status, Message: c.chain()}
	switch first.Kind {
	case KindAuth:
		f.Code = CodeUpstreamAuth
	case KindModel:
		f.Code = CodeUpstreamRejected
	}
	if f.Status < 400 {
		f.Status = f.Code.Status()
	}
	return f
}

// walled reports whether a park is for something that no waiting mends.
func walled(k Kind) bool { return k == KindQuota || k == KindAuth || k == KindModel }

// refusal is the code of a call that no upstream was asked for.
func (c *Call) refusal(now time.Time) Code {
	for _, s := range c.skips {
		switch s.Why {
		case "parked":
			if !walled(s.Kind) {
				return CodeRateLimited
			}
		case "deadline":
			return CodeDeadlineExceeded
		case "rate", "full":
			return CodeOverloaded
		case "open":
			return CodeUpstreamsExhausted
		}
	}
	if !now.Before(c.deadline) {
		return CodeDeadlineExceeded
	}
	return CodeUpstreamsExhausted
}

// failureOf is the error that one attempt amounts to on its own.
func (c *Call) failureOf(a *attempt) *Failure {
	o := &a.outcome
	f := &Failure{Message: c.chain(), Param: o.Param}
	switch o.Class {
	case Rejected, Refused:
		f.Code, f.Status, f.Message = CodeUpstreamRejected, o.Status, o.Message
		if f.Message == "" {
			f.Message = "the upstream rejected the request (" + o.Reason() + ")"
		}
		if o.Passthrough {
			f.Body, f.From = o.Body, a.up.u.Dialect
		}
		if f.Status == 0 || f.Status == 200 {
			f.Status = 400
		}
	case Hang:
		f.Code = CodeUpstreamTimeout
	case Limited:
		f.Code, f.Status = CodeRateLimited, o.Status
		switch o.Kind {
		case KindQuota:
			f.Code = CodeQuota
		case KindAuth:
			f.Code = CodeUpstreamAuth
		default:
			if o.HasHint {
				f.RetryAfter = o.Hint
			}
		}
		if f.Status < 400 {
			f.Status = f.Code.Status()
		}
	case Garbled:
		f.Code = garbledCode(o.Kind)
	default:
		f.Code = CodeUpstreamUnavailable
		if o.Status == 503 || o.Status == 529 {
			f.Status = o.Status
		}
		if o.HasHint {
			f.RetryAfter = o.Hint
		}
	}
	if f.Status == 0 {
		f.Status = f.Code.Status()
	}
	return f
}

func garbledCode(k Kind) Code {
	switch k {
	case KindEmpty, KindBlank:
		return CodeUpstreamEmpty
	case KindCut:
		return CodeStreamIncomplete
	case KindJSON:
		return CodeJSONInvalid
	case KindTruncated:
		return CodeJSONTruncated
	case KindTooLarge:
		return CodeEventTooLarge
	}
	return CodeUpstreamUnavailable
}

// retryAfter is the earliest time at which a skipped tier may be free again.
func (c *Call) retryAfter(now time.Time, code Code) time.Duration {
	if code == CodeQuota || code == CodeUpstreamAuth || code == CodeUpstreamRejected || c.route == nil {
		return 0
	}
	var best time.Duration
	take := func(d time.Duration) {
		if d > 0 && (best == 0 || d < best) {
			best = d
		}
	}
	for _, s := range c.skips {
		if s.Why != "parked" || !walled(s.Kind) {
			take(s.Until)
		}
	}
	for _, a := range c.attempts {
		if a.up != nil && a.outcome.Class == Limited && a.outcome.Kind == KindRate {
			if _, until := pick(now, a.up, a.model); !until.IsZero() {
				take(until.Sub(now))
			}
		}
	}
	return best
}
