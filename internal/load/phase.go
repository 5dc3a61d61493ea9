package load

import "time"

// Boundaries part a run in three: detecting from its start, open from the
// first call that was not sent to the broken primary any more, recovering
// from the first call that the primary answered again. Both count from the
// start of the run. Open 0 means that the run began open; Recovering only
// counts after Open.
type Boundaries struct {
	Open, Recovering time.Duration
}

// Never is the boundary of a phase that did not come.
const Never time.Duration = -1

// Phase is one part of a run.
type Phase struct {
	Name     string // detecting | open | recovering
	From, To time.Duration
	Samples
}

// quick is the longest answer that cannot have waited for a hanging primary.
const quick = time.Second

// Derive finds the boundaries in the answers. Open starts with the first call
// that another tier than primary answered quickly and with at most one
// upstream request: it was not tried at the primary first. Recovering starts
// with the first call after it that primary answered. A caller who knows when
// the fault was set and healed writes Boundaries itself.
func Derive(l Samples) Boundaries {
	b := Boundaries{Open: Never, Recovering: Never}
	for i := range l {
		s := &l[i]
		switch {
		case b.Open == Never && s.Tier != "primary" && s.Tier != "" && s.Latency < quick && s.Attempts <= 1:
			b.Open = s.Due
		case b.Open != Never && s.Tier == "primary" && s.OK():
			b.Recovering = s.Due
			return b
		}
	}
	return b
}

// Phases parts the run; phases without a call are left out.
func (l Samples) Phases(b Boundaries) []Phase {
	if len(l) == 0 {
		return nil
	}
	end := l[len(l)-1].Due + 1
	open := b.Open
	if open < 0 || open > end {
		open = end
	}
	back := b.Recovering
	if back <= open || back > end {
		back = end
	}
	var out []Phase
	for _, p := range []Phase{{Name: "detecting", To: open}, {Name: "open", From: open, To: back}, {Name: "recovering", From: back, To: end}} {
		if p.To <= p.From {
			continue
		}
		p.Samples = l.Between(p.From, p.To)
		out = append(out, p)
	}
	return out
}
