package backstophttp

import (
	"bytes"
	"sort"
	"strings"
	"sync"

	"backstop"
)

// leastSecret is from how many bytes on a credential is hidden: shorter ones
// are words such as "none", and no secret.
const leastSecret = 5

var veiled = []byte("[secret]")

// veil hides the plan's credentials in what upstreams say: some repeat the key
// that they refuse, and their words about a request go to its caller.
type veil struct {
	mu      sync.RWMutex
	secrets [][]byte // longer ones first: one may hold a shorter one
}

func newVeil(p *backstop.Plan) *veil {
	v := &veil{}
	for i := range p.Upstreams {
		u := &p.Upstreams[i]
		for _, key := range u.Keys {
			v.hide(key.Reveal())
		}
		for _, settings := range [...]map[string]string{u.Headers, u.Query} {
			for name, value := range settings {
				if credential(name) {
					_, bare, _ := strings.Cut(value, " ") // behind a scheme such as Bearer
					v.hide(value)
					v.hide(bare)
				}
			}
		}
	}
	v.sort()
	return v
}

func (v *veil) sort() {
	sort.Slice(v.secrets, func(i, j int) bool { return len(v.secrets[i]) > len(v.secrets[j]) })
}

// add hides a further credential, from now on.
func (v *veil) add(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.secrets {
		if string(s) == text {
			return
		}
	}
	v.hide(text)
	v.sort()
}

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

func (v *veil) hide(text string) {
	if len(text) < leastSecret {
		return
	}
	v.secrets = append(v.secrets, []byte(text))
	if escaped := strings.ReplaceAll(text, "/", `\/`); escaped != text { // as some write it in JSON
		v.secrets = append(v.secrets, []byte(escaped))
	}
}

// cover hides the secrets in everything of an outcome that a caller may see.
func (v *veil) cover(o *backstop.Outcome) {
	if o.Message != "" {
		o.Message = string(v.clean([]byte(o.Message)))
	}
	if o.Param != "" {
		o.Param = string(v.clean([]byte(o.Param)))
	}
	if len(o.Body) > 0 {
		o.Body = v.clean(o.Body)
	}
}

func (v *veil) clean(b []byte) []byte {
	v.mu.RLock()
	defer v.mu.RUnlock()
	for _, s := range v.secrets {
		if bytes.Contains(b, s) {
			b = bytes.ReplaceAll(b, s, veiled)
		}
	}
	return b
}
