package backstop

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"
)

// Default parks without a hint, and the clamps of hints (engine.md 8).
const (
	parkRate      = time.Second // x 2^n
	parkRamp      = 30 * time.Second
	parkAuth      = 10 * time.Minute
	parkModel     = 5 * time.Minute
	parkQuota     = 15 * time.Minute // doubling
	parkMostShort = 10 * time.Minute // rate, ramp
	parkMostLong  = 6 * time.Hour    // quota
	// maxParks bounds the table: model names come from callers.
	maxParks = 1024
)

// allKeys is the key index of a park that holds for every key.
const allKeys = -1

// parkID names what is skipped: one key or all, one model or ("") all.
type parkID struct {
	key   int
	model string
}

type parkEntry struct {
	until time.Time
	lease time.Time // a trial is running until then at the latest
	n     int       // parks in a row
	why   Kind
	said  int  // status of the refusal
	named bool // the upstream named the time
	held  bool // a trial holds the lease
}

// parks is a table of what is skipped until when. Safe for concurrent use.
type parks struct {
	mu      sync.Mutex
	m       map[parkID]*parkEntry
	renewed renewals
	used    atomic.Bool // something was parked once: until then nobody needs the lock to know
}

func newParks() *parks { return &parks{m: map[parkID]*parkEntry{}} }

// blocked reports until when id is skipped; zero = free. An entry whose time
// is over stays in the table until a call succeeds: take then lets one call
// through as its trial.
func (p *parks) blocked(now time.Time, id parkID) (until time.Time, named bool) {
	if !p.used.Load() {
		return time.Time{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.m[id]
	switch {
	case e == nil:
		return time.Time{}, false
	case now.Before(e.until):
		return e.until, e.named
	case e.held && now.Before(e.lease):
		return e.lease, false
	}
	return time.Time{}, false
}

// cause is what id is parked for, and the status that said so.
func (p *parks) cause(id parkID) (Kind, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.m[id]; e != nil {
		return e.why, e.said
	}
	return "", 0
}

// take claims the trial of an expired park; it reports false if another call
// was faster. Without an entry there is nothing to claim.
func (p *parks) take(now time.Time, id parkID, lease time.Duration) (held, ok bool) {
	if !p.used.Load() {
		return false, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.m[id]
	if e == nil {
		return false, true
	}
	if now.Before(e.until) || (e.held && now.Before(e.lease)) {
		return false, false
	}
	e.held, e.lease = true, now.Add(lease)
	return true, true
}

// clear forgets a park after a success of an attempt that began after it was
// set: an answer from before the park says nothing about it.
func (p *parks) clear(id parkID, began time.Time) {
	p.mu.Lock()
	if e := p.m[id]; e != nil && !began.Before(e.until) {
		delete(p.m, id)
	}
	p.mu.Unlock()
}

// release gives a trial back without a verdict.
func (p *parks) release(id parkID) {
	p.mu.Lock()
	if e := p.m[id]; e != nil {
		e.held = false
	}
	p.mu.Unlock()
}

// set parks id. began is the start of the attempt that was refused: refusals
// of attempts that were already under way do not lengthen the row, and park
// nothing if the key has become another one since.
func (p *parks) set(now time.Time, id parkID, o *Outcome, began time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.renewed.since(began, id.key) {
		return
	}
	e := p.m[id]
	if e == nil {
		if len(p.m) >= maxParks {
			p.drop(now)
		}
		e = &parkEntry{}
		p.m[id] = e
		p.used.Store(true)
	} else if !began.Before(e.until) {
		e.n++
	}
	until := now.Add(parkTime(o, e.n))
	if until.After(e.until) {
		e.until, e.named = until, o.HasHint && o.Hint > 0
	}
	e.why, e.said, e.held = o.Kind, o.Status, false
}

// drop makes room: entries whose time is over first, else the earliest.
func (p *parks) drop(now time.Time) {
	var first parkID
	var at time.Time
	for id, e := range p.m {
		if !now.Before(e.until) {
			delete(p.m, id)
			continue
		}
		if at.IsZero() || e.until.Before(at) {
			first, at = id, e.until
		}
	}
	if len(p.m) >= maxParks {
		delete(p.m, first)
	}
}

// parkTime is how long an outcome parks, n being the parks in a row before it.
func parkTime(o *Outcome, n int) time.Duration {
	if n > 16 {
		n = 16
	}
	hint := o.HasHint && o.Hint > 0 // "at once" is no time to stay away, and an invitation to a storm
	switch o.Kind {
	case KindQuota:
		d := min(parkQuota<<n, parkMostLong)
		if hint {
			d = max(d, min(o.Hint, parkMostLong))
		}
		return d
	case KindAuth:
		if hint {
			return max(parkAuth, min(o.Hint, parkMostLong))
		}
		return parkAuth
	case KindModel:
		if hint {
			return min(o.Hint, parkMostShort)
		}
		return parkModel
	}
	if hint {
		return min(o.Hint, parkMostShort)
	}
	if o.Kind == KindRamp {
		return parkRamp
	}
	return min(parkRate<<n, parkMostShort)
}

// list returns the running parks for display.
func (p *parks) list(now time.Time) []ParkState {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []ParkState
	for id, e := range p.m {
		if now.Before(e.until) {
			out = append(out, ParkState{Key: id.key, Model: id.model, Until: e.until, Why: string(e.why)})
		}
	}
	return out
}

// keyLedger remembers which keys ever worked and which were refused lately:
// two good keys refused within a minute are the upstream's fault, not ours.
type keyLedger struct {
	mu      sync.Mutex
	good    map[int]time.Time
	refused map[int]time.Time
	renewed renewals
	now     map[int][sha256.Size]byte // keys that have become others than their plan's
}

const (
	keyGoodFor     = 24 * time.Hour
	keyRefusedSpan = time.Minute
)

// worked notes a good answer to an attempt that began at a time. One with a
// key's predecessor says nothing about the key; likewise in refuse.
func (k *keyLedger) worked(now, began time.Time, key int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.renewed.since(began, key) {
		return
	}
	if k.good == nil {
		k.good = map[int]time.Time{}
	}
	if now.Sub(k.good[key]) > time.Minute { // a write a minute is enough for a 24 h rule
		k.good[key] = now
	}
}

// refuse notes an auth refusal and reports whether it is the second good key
// within the span.
func (k *keyLedger) refuse(now, began time.Time, key int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.good[key]
	if !ok || now.Sub(at) > keyGoodFor || k.renewed.since(began, key) {
		return false
	}
	if k.refused == nil {
		k.refused = map[int]time.Time{}
	}
	k.refused[key] = now
	n := 0
	for i, t := range k.refused {
		if now.Sub(t) > keyRefusedSpan {
			delete(k.refused, i)
			continue
		}
		n++
	}
	return n >= 2
}
