package server

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"backstop"
	"backstop/secret"
)

// door is where a caller is identified: once, before routing, whatever the
// path is.
type door struct {
	callers []*caller
	// sums finds a caller by the first half of its key's SHA-256; what remains
	// is compared in constant time, also when nothing was found.
	sums map[[16]byte]keyed
}

type keyed struct {
	sum    [32]byte
	caller *caller
}

func newDoor(callers []Caller, before *door, epoch time.Time) *door {
	d := &door{sums: make(map[[16]byte]keyed)}
	for i := range callers {
		c := newCaller(&callers[i], before.byName(callers[i].Name), epoch)
		d.callers = append(d.callers, c)
		for _, key := range c.Keys {
			sum := key.Sum()
			d.sums[[16]byte(sum[:16])] = keyed{sum: sum, caller: c}
		}
	}
	return d
}

func (d *door) byName(name string) *caller {
	if d != nil {
		for _, c := range d.callers {
			if c.Name == name {
				return c
			}
		}
	}
	return nil
}

// admit says who is calling. Without configured callers everyone is nobody
// (nil), who must come from this machine and not from a web page.
func (d *door) admit(r *http.Request) (*caller, *backstop.Failure) {
	key, fault := credential(r)
	if fault != nil {
		return nil, fault
	}
	if len(d.callers) == 0 {
		return nil, fromHere(r)
	}
	if key == "" {
		return nil, deny(backstop.CodeUnauthorized, "no key was sent; send your Backstop key as Authorization: Bearer, x-api-key, api-key or x-goog-api-key")
	}
	sum := secret.New(key).Sum()
	found := d.sums[[16]byte(sum[:16])]
	if subtle.ConstantTimeCompare(found.sum[:], sum[:]) != 1 || found.caller == nil {
		return nil, deny(backstop.CodeUnauthorized, "the key is not one of this gateway's callers; use a key of the callers section, not a vendor's")
	}
	return found.caller, nil
}

// credential is the one key of a request. All headers of all dialects are read
// every time: a second door would be an open door.
func credential(r *http.Request) (string, *backstop.Failure) {
	var key string
	for _, name := range [...]string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
		for _, value := range r.Header[name] {
			value = strings.TrimSpace(value)
			if name == "Authorization" {
				value = bearer(value)
			}
			switch {
			case value == "" || value == key:
			case key != "":
				return "", deny(backstop.CodeUnauthorized, "two different keys were sent; send one")
			default:
				key = value
			}
		}
	}
	if strings.Contains(r.URL.RawQuery, "key=") {
		if query, err := url.ParseQuery(r.URL.RawQuery); err != nil || query.Has("key") {
			return "", deny(backstop.CodeUnauthorized, "a key in the URL ends up in logs; send it in the header x-goog-api-key")
		}
	}
	return key, nil
}

// bearer takes the scheme off. Another scheme stays in the value, which then
// is nobody's key.
func bearer(value string) string {
	const scheme = "bearer"
	if len(value) >= len(scheme) && strings.EqualFold(value[:len(scheme)], scheme) {
		if rest := value[len(scheme):]; rest == "" || rest[0] == ' ' {
			return strings.TrimSpace(rest)
		}
	}
	return value
}

// fromHere lets only programs of this machine in: a page in a browser sends an
// Origin, and a name that was rebound to 127.0.0.1 is not a loopback host.
func fromHere(r *http.Request) *backstop.Failure {
	if _, page := r.Header["Origin"]; page {
		return deny(backstop.CodeForbidden, "a web page may not use a gateway without callers; configure callers and send a key")
	}
	if !loopbackHost(r.Host) {
		return deny(backstop.CodeForbidden, "this gateway has no callers and answers only to localhost, 127.0.0.1 and [::1]; configure callers to use another host name")
	}
	return nil
}

func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && addr.Unmap().IsLoopback()
}

func deny(code backstop.Code, message string) *backstop.Failure {
	return &backstop.Failure{Code: code, Status: code.Status(), Message: message}
}
