package upstream

import (
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"strings"
	"sync/atomic"

	"backstop"
)

// passed are the headers of a caller that an upstream may see; those that mean
// something in one dialect only go to upstreams of that one.
var passed = [...]struct {
	name string
	only backstop.Dialect
}{
	{"Anthropic-Version", backstop.Anthropic}, {"Anthropic-Beta", backstop.Anthropic}, {"Openai-Beta", backstop.OpenAI},
	{"Idempotency-Key", ""}, {"Traceparent", ""},
}

// anthropicVersion is the one that the Anthropic dialect is spoken in unless
// the plan or the caller names another: the API refuses calls without.
const anthropicVersion = "2023-06-01"

// maxPassed bounds one passed header; longer ones stay behind.
const maxPassed = 1024

// framing are the headers that belong to a connection or to us, so a plan
// cannot set them.
var framing = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Proxy-Authorization": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Expect": true,
	"Content-Length": true, "Content-Type": true, "Content-Encoding": true, "Accept-Encoding": true, "Host": true, "Cookie": true,
}

// headers are the finished header maps of an upstream, one per key and kind
// of answer. They are shared by all requests and never changed.
type headers struct {
	dialect       backstop.Dialect
	version       bool          // Anthropic-Version is the default, which a caller's word replaces
	stream, plain []http.Header // index: key + 1

	next atomic.Pointer[headers] // take its place: see [Conn.Rekey]
}

// now are the headers in force.
func (h *headers) now() *headers {
	if next := h.next.Load(); next != nil {
		return next
	}
	return h
}

func newHeaders(u *backstop.Upstream) (*headers, error) {
	base := http.Header{
		"User-Agent":      {"backstop"},
		"Content-Type":    {"application/json"},
		"Accept-Encoding": {"identity"},
	}
	for name, value := range u.Headers {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		switch {
		case framing[canonical]:
			return nil, fmt.Errorf("upstream %s: headers: %s cannot be set: it belongs to the connection", u.Name, canonical)
		case !token(name) || !fieldValue(value):
			return nil, fmt.Errorf("upstream %s: headers: a name or value has characters that HTTP does not allow", u.Name)
		}
		base[canonical] = []string{value}
	}
	h := &headers{dialect: u.Dialect}
	if _, set := base["Anthropic-Version"]; u.Dialect == backstop.Anthropic && !set {
		base["Anthropic-Version"], h.version = []string{anthropicVersion}, true
	}
	for key := -1; key < len(u.Keys); key++ {
		with := maps.Clone(base)
		if key >= 0 {
			if err := credential(with, u, key); err != nil {
				return nil, err
			}
		}
		stream, plain := maps.Clone(with), with
		stream["Accept"] = []string{"text/event-stream"}
		plain["Accept"] = []string{"application/json"}
		h.stream, h.plain = append(h.stream, stream), append(h.plain, plain)
	}
	return h, nil
}

// credential puts the key where the upstream expects it. A configured header
// of the same name gives way.
func credential(h http.Header, u *backstop.Upstream, key int) error {
	value := u.Keys[key].Reveal()
	if !fieldValue(value) {
		return fmt.Errorf("upstream %s: key %d has characters that HTTP does not allow in a header", u.Name, key+1)
	}
	switch u.Auth {
	case "", "bearer":
		h["Authorization"] = []string{"Bearer " + value}
	case "x-api-key":
		h["X-Api-Key"] = []string{value}
	case "api-key":
		h["Api-Key"] = []string{value}
	case "x-goog-api-key":
		h["X-Goog-Api-Key"] = []string{value}
	default:
		return fmt.Errorf("upstream %s: auth %q is unknown: use bearer, x-api-key, api-key or x-goog-api-key", u.Name, u.Auth)
	}
	return nil
}

// build returns the headers of one request. The map is shared unless the
// caller adds something to it.
func (h *headers) build(c *Call) http.Header {
	h = h.now()
	from := h.plain
	if c.Outbound.Stream {
		from = h.stream
	}
	key := c.Key + 1
	if key < 0 || key >= len(from) {
		key = 0
	}
	header := from[key]
	own := false
	for _, p := range passed {
		if p.only != "" && p.only != h.dialect {
			continue
		}
		name := p.name
		values := c.Header[name]
		if len(values) != 1 || len(values[0]) == 0 || len(values[0]) > maxPassed || !fieldValue(values[0]) {
			continue
		}
		if _, set := header[name]; set && !(h.version && name == "Anthropic-Version") { // the plan's word counts
			continue
		}
		if !own {
			header, own = maps.Clone(header), true
		}
		header[name] = values
	}
	return header
}

// token reports whether s is an RFC 9110 token.
func token(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return s != ""
}

// fieldValue reports whether s may stand in a header line.
func fieldValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
