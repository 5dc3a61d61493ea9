package sim

import (
	"cmp"
	"slices"
	"time"

	"backstop"
)

// site is an upstream as it really is, shared by all replicas.
type site struct {
	up    *backstop.Upstream
	index int

	first, tokens curve
	gap           int64
	beat          int64 // tokens are reported at least that often

	troubles []*trouble // in the order of the file
	active   []*trouble // of them, those at work, in that order: few, however long the run is
	trouble  int        // faults at work
	severe   int        // of them, those that spoil at least every second attempt
	calm     int64      // when the last severe one ended

	limit    int // calls it works on at a time, 0 = no bound
	usual    int
	busy     int
	over     power
	queues   bool
	line     []*play // waiting for their turn
	waiting  []*play // in flight without a first token
	attempts int     // of calls
	stressed int     // of them, those made while a fault was at work
	wanted   int     // calls that came while a fault was at work and got as far as this upstream
	probes   int
}

// trouble is a fault that is ready to strike.
type trouble struct {
	site     *site
	nth      int // in the order of the file
	from, to int64
	model    string
	key      int
	on       bool
	power
}

const severeShare = 0.5

func (t *trouble) severe() bool { return t.weight >= severeShare }

// concerns reports whether the fault is about such an attempt.
func (t *trouble) concerns(p *play) bool {
	return t.on && t.act != nil && (t.model == "" || t.model == p.model) && (t.key == 0 || t.key == p.key+1)
}

// curve is a Spread with its logarithms taken.
type curve struct{ mid, sigma float64 }

func (s Spread) curve() curve {
	if s.P50 <= 0 || s.P95 <= s.P50 {
		return curve{mid: max(s.P50, 0)}
	}
	return curve{s.P50, ln(s.P95/s.P50) / z95}
}

func (c curve) draw(d *dice) float64 {
	if c.sigma == 0 {
		return c.mid
	}
	return c.mid * exp(float64(c.sigma*d.normal()))
}

const bytesPerToken = 4

func newSite(up *backstop.Upstream, index int, m Model) (*site, error) {
	s := &site{up: up, index: index, first: m.FirstToken.curve(), tokens: m.Tokens.curve(), gap: int64(m.Gap),
		beat: int64(4 * time.Second), limit: m.Capacity, usual: m.Capacity, calm: -1 << 62}
	if idle := up.Timeouts.Idle; idle > 0 {
		s.beat = min(s.beat, max(int64(idle)/2, 1))
	}
	word := m.Over
	if word == "" {
		word = "503"
	}
	if s.queues = word == "queue"; s.queues {
		return s, nil
	}
	var err error
	s.over, err = compile(word, s.judge(), 0)
	return s, err
}

func (s *site) judge() judge { return judge{vendor: s.up.Vendor, dialect: s.up.Dialect} }

// healthy draws what an attempt would be without faults.
func (s *site) healthy(p *play, d *dice) fate {
	f := fate{dialed: true, head: -1, gap: s.gap, beat: s.beat}
	first := int64(s.first.draw(d) * 1e9)
	n := int64(max(min(s.tokens.draw(d), mostTokens), 1))
	if p.probe != nil {
		n = min(n, probeTokens)
	}
	if p.embed {
		n = 1
	}
	f.token = max(first, 1)
	f.end = f.token + (n-1)*s.gap + 1
	f.bytes = bytesPerToken
	if s.gap > 0 {
		f.bytes = int(s.beat/s.gap+1) * bytesPerToken
	}
	return f
}

// probeTokens is what a background probe asks for.
const probeTokens = 16

// enter lets an attempt in, or makes it wait or fail for want of room.
func (w *world) enter(p *play) {
	s := p.site
	if s.limit > 0 && s.busy >= s.limit {
		if s.queues {
			p.queued = true
			s.line = append(s.line, p)
			return
		}
		w.serve(p, s.over.act)
		return
	}
	s.busy++
	p.holds = true
	w.serve(p, nil)
}

// leave gives an attempt's room to the next one in line.
func (w *world) leave(p *play) {
	if !p.holds {
		return
	}
	s := p.site
	p.holds = false
	s.busy--
	for len(s.line) > 0 && (s.limit == 0 || s.busy < s.limit) {
		next := s.line[0]
		s.line[0] = nil
		s.line = s.line[1:]
		next.queued, next.holds = false, true
		s.busy++
		w.serve(next, nil)
	}
}

// widen lets those in who found no room before.
func (w *world) widen(s *site) {
	for len(s.line) > 0 && (s.limit == 0 || s.busy < s.limit) {
		next := s.line[0]
		s.line[0] = nil
		s.line = s.line[1:]
		next.queued, next.holds = false, true
		s.busy++
		w.serve(next, nil)
	}
}

// toggle begins or ends a fault. One that begins strikes the attempts that are
// still waiting for a token as well.
func (w *world) toggle(t *trouble) {
	s := t.site
	if t.on {
		t.on = false
		s.active = slices.DeleteFunc(s.active, func(o *trouble) bool { return o == t })
		s.trouble--
		if t.severe() {
			s.severe--
			s.calm = w.now
		}
		if t.capacity >= 0 {
			s.limit = s.usual
			w.widen(s)
		}
		w.tally.calmed(w, t)
		return
	}
	t.on = true
	at, _ := slices.BinarySearchFunc(s.active, t.nth, func(o *trouble, nth int) int { return cmp.Compare(o.nth, nth) })
	s.active = slices.Insert(s.active, at, t)
	s.trouble++
	if t.severe() {
		s.severe++
	}
	if t.capacity >= 0 {
		s.limit = t.capacity
	}
	w.tally.troubled(w, t)
	if t.act == nil || w.tape != nil {
		return
	}
	for _, p := range append([]*play(nil), s.waiting...) {
		if !p.queued && t.concerns(p) {
			w.strike(p, t)
		}
	}
}

// justified reports whether the site gives a reason to open at an instant: a
// severe fault is at work or was so a moment ago, so that its victims are still
// coming in, or it turns calls away.
func (s *site) justified(now int64) bool {
	grace := int64(s.up.Timeouts.FirstToken + 2*time.Second)
	return s.severe > 0 || now <= s.calm+grace || s.usual > 0
}
