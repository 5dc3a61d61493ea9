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
	if p.renewed == nil {
		p.renewed = map[int]time.Time{}
	}
	p.renewed[key] = now
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
	if k.renewed == nil {
		k.renewed = map[int]time.Time{}
	}
	k.renewed[key] = now
}
