package sim

// stock is what calls and attempts that are over leave behind for those to
// come. A run needs some hundred of each at a time and millions in all.
//
// Events name their run or play by pointer and version, as they do anyway where
// an attempt changes under way: what was planned for the one before says so by
// its version. A play is left once it is over and its site has done with it, a
// run once it is over and all its plays are left.
type stock struct {
	runs  []*run
	plays []*play
}

// newRun is a run for a call, of which only its version and its wake are set.
func (w *world) newRun() *run {
	if n := len(w.stock.runs); n > 0 {
		r := w.stock.runs[n-1]
		w.stock.runs = w.stock.runs[:n-1]
		*r = run{ver: r.ver, wake: r.wake}
		return r
	}
	r := &run{}
	r.wake = func() { w.wake(r) }
	return r
}

// newPlay is a play of a run, of which only its version is set.
func (w *world) newPlay(r *run) *play {
	r.plays++
	if n := len(w.stock.plays); n > 0 {
		p := w.stock.plays[n-1]
		w.stock.plays = w.stock.plays[:n-1]
		*p = play{ver: p.ver, run: r}
		return p
	}
	return &play{run: r}
}

// leaveRun lets go of a run that is over.
func (w *world) leaveRun(r *run) {
	if r.over && r.plays == 0 && !r.returns {
		r.ver++
		r.call, r.check = nil, nil
		w.stock.runs = append(w.stock.runs, r)
	}
}

// leavePlay lets go of a play that is over and holds nothing at its site.
func (w *world) leavePlay(p *play) {
	p.ver++
	if p.run != nil { // probes are few
		w.stock.plays = append(w.stock.plays, p)
		p.run.plays--
		w.leaveRun(p.run)
	}
}
