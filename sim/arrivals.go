package sim

import "math"

// schedule plans the next arrival after an instant.
func (w *world) schedule(after int64) {
	a := &w.s.Arrivals
	at := int64(0)
	switch a.Process {
	case Trace:
		if w.calls >= uint64(len(a.Trace)) {
			return
		}
		at = max(int64(a.Trace[w.calls].At), after)
	case Constant:
		at = int64(math.Floor(float64(w.calls+1) / a.Rate * 1e9))
	default:
		at = after + int64(w.arrivals.wait(1e9/a.Rate)) + 1
	}
	if at < w.end {
		w.q.push(event{at: at, kind: onArrival})
	}
}

// ask draws what the next caller wants.
func (w *world) ask() ask {
	a := &w.s.Arrivals
	d := roll(w.s.Seed, diceAsk, w.calls)
	k := ask{index: w.calls, at: w.now, after: -1}
	w.calls++
	m, x := 0, d.unit()*w.weights[len(w.weights)-1]
	for m < len(w.weights)-1 && x > w.weights[m] {
		m++
	}
	k.model, k.route = a.Models[m].Name, w.routes[m]
	caller := int(d.next() % uint64(len(w.names)))
	k.caller, k.replica = w.names[caller], caller%len(w.replicas)
	k.embed = d.unit() < a.Embed
	k.stream = d.unit() < a.Stream && !k.embed
	k.json = d.unit() < a.JSON && !k.embed
	k.differs = d.unit() >= a.Same
	if a.Process == Trace {
		w.traced(&k, &a.Trace[k.index])
	}
	for _, s := range w.ordered {
		if s.trouble > 0 {
			k.troubled |= 1 << uint(s.index&63)
		}
	}
	w.tally.came(w, &k)
	return k
}

// traced puts what the trace knows in place of what was drawn.
func (w *world) traced(k *ask, t *Arrival) {
	if r := w.plan.Route(t.Model); t.Model != "" && r != nil {
		k.model, k.route = t.Model, r
	}
	if t.Caller != "" {
		k.caller = t.Caller
	}
	if t.Fixed {
		k.stream, k.json = t.Stream, t.JSON
	}
}
