package backstophttp

import (
	"sync"
	"time"

	"backstop"
)

const (
	// rekeyEvery is how often a key file is looked at after its key was
	// refused: a new key may come later than the old one's end.
	rekeyEvery = 5 * time.Second
	// rekeyFor is for how long. By then the key's park is over, and its next
	// refusal begins anew.
	rekeyFor = 10 * time.Minute
)

// rekeys are the keys whose files are looked at just now.
type rekeys struct {
	mu  sync.Mutex
	now map[rekeyID]bool
}

type rekeyID struct {
	upstream string
	key      int
}

// rekey has a key that the upstream refused read again, if it came from a
// file, until it is another one. No call waits for that.
func (d *Driver) rekey(u *backstop.Upstream, key int, o *backstop.Outcome) {
	if o.Class != backstop.Limited || o.Kind != backstop.KindAuth || d.options.ReadKey == nil ||
		key < 0 || key >= len(u.KeyFiles) || u.KeyFiles[key] == "" {
		return
	}
	id, r := rekeyID{u.Name, key}, &d.rekeys
	r.mu.Lock()
	busy := r.now[id]
	if r.now == nil {
		r.now = map[rekeyID]bool{}
	}
	r.now[id] = true
	r.mu.Unlock()
	if busy {
		return
	}
	d.works.run(func() {
		defer func() {
			r.mu.Lock()
			delete(r.now, id)
			r.mu.Unlock()
		}()
		d.reread(u, key)
	})
}

// reread looks at a key file until it holds another key.
func (d *Driver) reread(u *backstop.Upstream, key int) {
	timer := time.NewTicker(rekeyEvery)
	defer timer.Stop()
	told := false
	for range rekeyFor / rekeyEvery {
		changed, err := d.renew(u, key)
		if d.options.KeyRead != nil && (changed || err != nil && !told) {
			told = true
			d.options.KeyRead(u.Name, key, err)
		}
		if changed {
			return
		}
		select {
		case <-timer.C:
		case <-d.closed:
			return
		}
	}
}

// renew puts what a key file holds in the place of a key, and reports whether
// that was a change.
func (d *Driver) renew(u *backstop.Upstream, key int) (changed bool, err error) {
	value, err := d.options.ReadKey(u.KeyFiles[key])
	if err != nil || value.Empty() {
		return false, err
	}
	d.mask.add(keyAt{u.Name, key}, value.Reveal())
	changed, err = d.conns[u.Name].Rekey(key, value)
	if err != nil || !changed {
		return false, err
	}
	d.engine.Rekeyed(time.Now(), u.Name, key, value)
	return true, nil
}
