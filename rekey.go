package backstop

// Rekeyed tells the engine that a key of an upstream, by its index, has become
// another one: what was learned about the old one is forgotten. It is safe for
// concurrent use.
func (e *Engine) Rekeyed(upstream string, key int) {
	s := e.byName[upstream]
	if s == nil || key < 0 || key >= len(s.u.Keys) {
		return
	}
	s.keyPark.forget(parkID{key, ""})
	s.keyPark.forget(parkID{key, passages})
	s.keys.forget(key)
}

// forget drops an entry.
func (p *parks) forget(id parkID) {
	p.mu.Lock()
	delete(p.m, id)
	p.mu.Unlock()
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
