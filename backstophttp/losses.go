package backstophttp

import (
	"slices"
	"strconv"
	"strings"

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

// mostListed bounds the header that names losses: proxies take a few KiB of all
// headers together.
const mostListed = 1 << 10

// listed is a header with as many names as have room, and with how many have
// not, as in "seed,user,+3".
func listed(names []string) (list string, n int) {
	var b strings.Builder
	for _, name := range names {
		name = printable(name)
		if b.Len()+len(name) > mostListed {
			break
		}
		if n++; n > 1 {
			b.WriteByte(',')
		}
		b.WriteString(name)
	}
	if rest := len(names) - n; rest > 0 {
		b.WriteString(",+" + strconv.Itoa(rest))
	}
	return b.String(), n
}
