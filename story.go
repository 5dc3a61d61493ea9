package backstop

import (
	"fmt"
	"strings"
	"time"
)

// chain tells what was tried, in config names and plain words.
func (c *Call) chain() string {
	var parts []string
	local := false
	for i := range c.route.Tiers {
		t := &c.route.Tiers[i]
		local = local || t.Local != nil
		if words := c.tierStory(i); words != "" {
			parts = append(parts, c.tierName(i)+" "+t.Name()+": "+words)
		}
	}
	if !local {
		parts = append(parts, "no local tier")
	}
	return strings.Join(parts, "; ")
}

// tierStory is the last thing that happened at a tier.
func (c *Call) tierStory(i int) string {
	for j := len(c.attempts) - 1; j >= 0; j-- {
		if a := c.attempts[j]; a.tier == i && a.settled && !a.unsent {
			return c.phrase(a)
		}
	}
	for j := len(c.skips) - 1; j >= 0; j-- {
		if s := c.skips[j]; s.Tier == i {
			if a := c.unsentAt(i); a != nil && s.Why == Rejected.String() && a.outcome.Message != "" {
				return a.outcome.Message
			}
			return skipPhrase(s)
		}
	}
	return ""
}

func (c *Call) phrase(a *attempt) string {
	o := &a.outcome
	switch o.Class {
	case Hang:
		switch o.Kind {
		case KindIdle, KindDrip:
			return fmt.Sprintf("stalled after its first token, nothing new for %s", ms(a.over.Sub(a.last)))
		case KindTotal:
			return fmt.Sprintf("not finished after %s", ms(a.over.Sub(a.clock)))
		}
		return fmt.Sprintf("no token for %s", ms(a.over.Sub(a.clock)))
	case Limited:
		s := fmt.Sprintf("%s limit", o.Kind)
		if o.Kind == KindRate && o.Status > 0 && o.HasHint && o.Hint > 0 {
			return fmt.Sprintf("%d, retry in %s", o.Status, secs(o.Hint))
		}
		if o.Kind == KindAuth {
			s = "our credential was refused"
		}
		if o.Kind == KindQuota {
			s = "the account's quota is used up"
		}
		if o.Status > 0 {
			s = fmt.Sprintf("%d, %s", o.Status, s)
		}
		if o.HasHint && o.Hint > 0 {
			s += fmt.Sprintf(", retry in %s", secs(o.Hint))
		}
		return s
	case Canceled:
		switch o.Kind {
		case KindMiss:
			return "nothing for this call"
		case KindHedge:
			return "given up for a faster tier"
		}
	}
	if o.Status > 0 && o.Status != 200 {
		return fmt.Sprintf("%d, %s", o.Status, strings.ReplaceAll(o.Reason(), "/", " "))
	}
	return strings.ReplaceAll(o.Reason(), "/", " ")
}

func skipPhrase(s Skip) string {
	w := map[string]string{"rejected": "cannot take this call", "open": "breaker open", "parked": "parked", "rate": "over its rate limit", "full": "too many calls at once",
		"context": "context too small", "deadline": "no time left", "model": "another embedding model", "budget": "no attempt left"}[s.Why]
	switch {
	case s.Why == "parked" && s.Kind == KindAuth:
		w += " because our credential was refused"
	case s.Why == "parked" && s.Kind == KindQuota:
		w += " because its account is used up"
	case s.Why == "parked" && s.Kind == KindModel:
		w += " because it has no model of that name"
	}
	if s.Until > 0 && (s.Why == "open" || s.Why == "parked") {
		w += ", again in " + secs(s.Until)
	}
	return w
}

func (c *Call) tierName(i int) string { return TierName(c.route, i) }

// TierName is the word for a rung: primary, backup or local.
func TierName(r *Route, i int) string {
	switch {
	case i < 0 || i >= len(r.Tiers):
		return ""
	case r.Tiers[i].Local != nil:
		return "local"
	case i == 0:
		return "primary"
	}
	return "backup"
}

func ms(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }

func secs(d time.Duration) string {
	return fmt.Sprintf("%d s", int64((d+time.Second-1)/time.Second))
}
