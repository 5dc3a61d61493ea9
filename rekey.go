package backstop

import "time"

// Rekeyed tells the engine that a key of an upstream, by its index, has become
// another one: what was learned about the old one is forgotten, and refusals of
// attempts that were already under way say nothing about the new one. It is
// safe for concurrent use.
func (e *Engine) Rekeyed(now time.Time, upstream string, key int) {
	s := e.byName[upstream]
	if s == nil || key < 0 || key >= len(s.u.Keys) {
		return
	}
	s.keyPark.renew(now, key)
	s.keys.renew(now, key)
}

// renew forgets what a key was parked for, now and by attempts that began
// until now.
func (p *parks) renew(now time.Time, key int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.m, parkID{key, ""})
	delete(p.m, parkID{key, passages})
	p.renewed.note(now, key)
}

// lift forgets every park.
func (p *parks) lift() {
	p.mu.Lock()
	clear(p.m)
	p.mu.Unlock()
}

// renew forgets what is known about a key, now and from attempts that began
// until now.
func (k *keyLedger) renew(now time.Time, key int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.good, key)
	delete(k.refused, key)
	k.renewed.note(now, key)
}

// renewals are the times at which keys, by their index, became what they are.
type renewals map[int]time.Time

func (r *renewals) note(now time.Time, key int) {
	if *r == nil {
		*r = renewals{}
	}
	(*r)[key] = now
}

// since reports whether a key became another one at a time or after it.
func (r renewals) since(began time.Time, key int) bool {
	at, ok := r[key]
	return ok && !began.After(at)
}
