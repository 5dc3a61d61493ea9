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
	s.keys.forget(key)
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

// forget drops what is known about a key.
func (k *keyLedger) forget(key int) {
	k.mu.Lock()
	delete(k.good, key)
	delete(k.refused, key)
	k.mu.Unlock()
}
