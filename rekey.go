package backstop

import (
	"crypto/sha256"
	"time"

	"backstop/secret"
)

// Rekeyed tells the engine that a key of an upstream, by its index, has become
// another one: what was learned about the old one is forgotten, and refusals of
// attempts that were already under way say nothing about the new one. It is
// safe for concurrent use.
func (e *Engine) Rekeyed(now time.Time, upstream string, key int, value secret.Value) {
	s := e.byName[upstream]
	if s == nil || key < 0 || key >= len(s.u.Keys) {
		return
	}
	s.renew(now, key, value)
}

func (s *upstreamState) renew(now time.Time, key int, value secret.Value) {
	s.keyPark.renew(now, key)
	s.keys.renew(now, key, value)
}

// knows reports whether the keys of a new plan's copy of the upstream are those
// that it has. A key that came from the same file is the same key to the rest
// of the memory: the file is read again while we run, and by every reload.
func (s *upstreamState) knows(u *Upstream) bool {
	if len(s.u.Keys) != len(u.Keys) {
		return false
	}
	for i := range u.Keys {
		if file := s.u.keyFile(i); !s.keys.is(s.u, i, u.Keys[i]) && (file == "" || file != u.keyFile(i)) {
			return false
		}
	}
	return true
}

// rekey tells the memory which keys are others than before.
func (s *upstreamState) rekey(now time.Time, before *Upstream) {
	for i := range s.u.Keys {
		if !s.keys.is(before, i, s.u.Keys[i]) {
			s.renew(now, i, s.u.Keys[i])
		}
	}
}

// keyFile is the file that a key was read from, "" = none.
func (u *Upstream) keyFile(key int) string {
	if key < len(u.KeyFiles) {
		return u.KeyFiles[key]
	}
	return ""
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

// is reports whether a key of an upstream's plan, as it is by now, has a value.
func (k *keyLedger) is(u *Upstream, key int, value secret.Value) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if sum, ok := k.now[key]; ok {
		return sum == value.Sum()
	}
	return u.Keys[key].Equal(value)
}

// renew forgets what is known about a key, now and from attempts that began
// until now.
func (k *keyLedger) renew(now time.Time, key int, value secret.Value) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now == nil {
		k.now = map[int][sha256.Size]byte{}
	}
	k.now[key] = value.Sum()
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
