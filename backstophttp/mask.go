package backstophttp

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"sync"

	"backstop"
)

// leastSecret is from how many bytes on a credential is hidden: shorter ones
// are words such as "none", and no secret.
const leastSecret = 5

var masked = []byte("[secret]")

// mask hides the plan's credentials in what upstreams say: some repeat the key
// that they refuse, and their words about a request go to its caller.
type mask struct {
	mu      sync.RWMutex
	plan    [][]byte
	added   map[keyAt][]string // what keys of the plan became, the oldest first
	secrets [][]byte           // all of them, longer ones first: one may hold a shorter one
}

// keyAt is a key of the plan: the upstream's name and the key's index.
type keyAt struct {
	upstream string
	key      int
}

// mostAdded bounds what is remembered of one key: a token that is good for an
// hour has many successors, and the oldest of them are worth nothing.
const mostAdded = 16

func newMask(p *backstop.Plan) *mask {
	m := &mask{}
	for i := range p.Upstreams {
		u := &p.Upstreams[i]
		for _, key := range u.Keys {
			m.hide(key.Reveal())
		}
		for _, settings := range [...]map[string]string{u.Headers, u.Query} {
			for name, value := range settings {
				if credential(name) {
					_, bare, _ := strings.Cut(value, " ") // behind a scheme such as Bearer
					m.hide(value)
					m.hide(bare)
				}
			}
		}
	}
	m.plan = slices.Clone(m.secrets)
	m.sort()
	return m
}

func (m *mask) sort() {
	sort.Slice(m.secrets, func(i, j int) bool { return len(m.secrets[i]) > len(m.secrets[j]) })
}

// add hides what a key has become, from now on.
func (m *mask) add(at keyAt, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.added[at]
	if n := len(list); n > 0 && list[n-1] == text {
		return
	}
	list = slices.DeleteFunc(list, func(s string) bool { return s == text })
	if len(list) == mostAdded {
		list = slices.Delete(list, 0, 1)
	}
	if m.added == nil {
		m.added = map[keyAt][]string{}
	}
	m.added[at] = append(list, text)
	m.secrets = slices.Clone(m.plan)
	for _, list := range m.added {
		for _, text := range list {
			m.hide(text)
		}
	}
	m.sort()
}

// escaped is a text as some write it in JSON.
func escaped(text string) string { return strings.ReplaceAll(text, "/", `\/`) }

// credential reports whether a header or parameter by this name carries one.
func credential(name string) bool {
	name = strings.ToLower(name)
	for _, part := range [...]string{"auth", "key", "token", "secret", "cookie", "password", "sig"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

func (m *mask) hide(text string) {
	if len(text) < leastSecret {
		return
	}
	m.secrets = append(m.secrets, []byte(text))
	if other := escaped(text); other != text {
		m.secrets = append(m.secrets, []byte(other))
	}
}

// cover hides the secrets in everything of an outcome that a caller may see.
func (m *mask) cover(o *backstop.Outcome) {
	if o.Message != "" {
		o.Message = string(m.clean([]byte(o.Message)))
	}
	if o.Param != "" {
		o.Param = string(m.clean([]byte(o.Param)))
	}
	if len(o.Body) > 0 {
		o.Body = m.clean(o.Body)
	}
}

func (m *mask) clean(b []byte) []byte {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, s := range m.secrets {
		if bytes.Contains(b, s) {
			b = bytes.ReplaceAll(b, s, masked)
		}
	}
	return b
}
