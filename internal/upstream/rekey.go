package upstream

import (
	"fmt"
	"slices"
	"sync"

	"backstop/secret"
)

// rekeying are the keys of a Conn once one of them was replaced.
type rekeying struct {
	mu   sync.Mutex
	keys []secret.Value // nil = the plan's
}

// Rekey lets requests that begin from now on carry another key in the place of
// the one with that index. It reports whether that is a change. A key that no
// header can carry changes nothing.
func (c *Conn) Rekey(key int, value secret.Value) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.keys
	if keys == nil {
		keys = c.upstream.Keys
	}
	if key < 0 || key >= len(keys) {
		return false, fmt.Errorf("upstream %s has no key %d: this is our own fault", c.upstream.Name, key+1)
	}
	if keys[key].Equal(value) {
		return false, nil
	}
	renewed := *c.upstream
	renewed.Keys = slices.Clone(keys)
	renewed.Keys[key] = value
	h, err := newHeaders(&renewed)
	if err != nil {
		return false, err
	}
	c.keys = renewed.Keys
	c.headers.next.Store(h)
	return true, nil
}
