package sim

import (
	"time"

	"backstop"
)

// replica is one gateway: an engine and its prober.
type replica struct {
	index  int
	engine *backstop.Engine
	look   int64 // when the prober looks next, 0 = not planned
}

// probing is one background probe.
type probing struct {
	replica *replica
	p       backstop.Probe
	seen    bool
	over    bool
}

// poke makes the prober of a replica look at an instant, or sooner.
func (w *world) poke(r *replica, at int64) {
	if r.look == 0 || at < r.look {
		r.look = at
		w.q.push(event{at: at, kind: onProber, n: int32(r.index)})
	}
}

// prober starts what is due and comes back when the engine says.
func (w *world) prober(r *replica) {
	r.look = 0
	for {
		p, ok, next := r.engine.Due(w.time())
		if !ok {
			if !next.IsZero() {
				w.poke(r, max(int64(next.Sub(w.epoch)), w.now+int64(time.Millisecond)))
			}
			return
		}
		w.probe(r, p)
	}
}

func (w *world) probe(r *replica, p backstop.Probe) {
	site := w.sites[p.Upstream.Name]
	site.probes++
	if w.checker != nil {
		w.checker.probe(w, r, &p)
	}
	b := &probing{replica: r, p: p}
	pl := &play{site: site, probe: b, model: p.Model, key: p.Key, embed: p.Embed, plain: !p.Stream,
		dice: roll(w.s.Seed, diceProbe, uint64(r.index), uint64(site.index), p.ID)}
	w.q.push(event{at: w.now + int64(p.Limit), kind: onProbe, n: 0, play: pl})
	w.q.push(event{at: w.now + int64(p.Lease), kind: onProbe, n: 1, play: pl})
	w.begin(pl)
}

func (w *world) probeToken(p *play) {
	b := p.probe
	if !b.over {
		b.seen = true
		b.replica.engine.ProbeToken(w.time(), b.p)
	}
}

// probeLimit ends a probe without a token at its limit (0), and any at the end
// of its lease (1).
func (w *world) probeLimit(p *play, which int) {
	b := p.probe
	if b.over || which == 0 && b.seen {
		return
	}
	o := backstop.Outcome{Class: backstop.Hang, Kind: backstop.KindFirstToken, Counts: backstop.CountsModel, InputTokens: -1, OutputTokens: -1}
	if which == 1 {
		o.Kind = backstop.KindTotal
	}
	w.drop(p)
	w.probeEnd(p, o)
}

func (w *world) probeEnd(p *play, o backstop.Outcome) {
	b := p.probe
	if b.over {
		return
	}
	b.over = true
	if w.checker != nil {
		w.checker.probed(w, b)
	}
	b.replica.engine.Probed(w.time(), b.p, o)
	w.poke(b.replica, w.now)
}
