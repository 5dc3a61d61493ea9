package backstophttp

import (
	"slices"

	"backstop/wire"
)

// without lists the parameters that the upstream did not get, and behind them
// what of its answer had no form for the caller, as far as that is known.
func (a *attempt) without() []string {
	list := slices.Clip(a.step.Without)
	if a.cross != nil {
		list = append(list, a.cross.left...)
	}
	list = append(list, a.sent.Outbound.Dropped...)
	if a.cross == nil {
		return list
	}
	if w, ok := a.writer.(wire.Loser); ok {
		return append(list, w.Lost()...)
	}
	return append(list, a.cross.lost...)
}

// unnamed is what of that the headers could not say.
func (a *attempt) unnamed() []string { return a.without()[a.named:] }
