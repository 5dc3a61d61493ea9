package upstream

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"backstop"
)

var errPath = errors.New("outbound path is not a plain path below the base URL: this is a bug in a dialect room")

// destination is where all requests of an upstream go: scheme, host and path
// prefix are fixed when the plan is built.
type destination struct {
	scheme, host, prefix, query string
}

func newDestination(u *backstop.Upstream) (destination, error) {
	fail := func(what string) (destination, error) {
		return destination{}, fmt.Errorf("upstream %s: base_url %s", u.Name, what)
	}
	base, err := url.Parse(u.BaseURL)
	if err != nil {
		return fail("is not a URL")
	}
	switch {
	case base.Scheme != "http" && base.Scheme != "https":
		return fail("needs http:// or https:// in front")
	case base.Hostname() == "":
		return fail("names no host")
	case base.User != nil:
		return fail("holds a user name: put credentials into key")
	case base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return fail("holds a query or fragment: put parameters into query")
	case base.RawPath != "" || !plain(base.Path):
		return fail("has a path that is not plain")
	}
	if ip, err := netip.ParseAddr(base.Hostname()); err == nil {
		if err := guard(ip, u.AllowPrivate); err != nil {
			return fail(err.Error())
		}
	}
	return destination{
		scheme: base.Scheme, host: base.Host,
		prefix: strings.TrimSuffix(base.Path, "/"), query: encodeQuery(u.Query),
	}, nil
}

// url joins a room's path to the base. It may end with a query of plain names
// and values, such as ?alt=sse, to which the plan's is added.
func (t *destination) url(path string) (*url.URL, error) {
	query := t.query
	if bare, own, asks := strings.Cut(path, "?"); asks {
		if own == "" || strings.Trim(own, "abcdefghijklmnopqrstuvwxyz=&") != "" {
			return nil, errPath
		}
		path = bare
		if query != "" {
			own += "&"
		}
		query = own + query
	}
	if len(path) < 2 || path[0] != '/' || !plain(path) {
		return nil, errPath
	}
	return &url.URL{Scheme: t.scheme, Host: t.host, Path: t.prefix + path, RawQuery: query}, nil
}

// plain reports whether a path means what it says: no dot segments, no empty
// ones, nothing that ends it or needs escaping.
func plain(path string) bool {
	for i := 0; i < len(path); i++ {
		c := path[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case strings.IndexByte("-_.~:@+=,!$&'()*", c) >= 0:
		case c == '/':
			if rest := path[i+1:]; strings.HasPrefix(rest, "/") || dots(rest) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// dots reports whether a path begins with the segment "." or "..".
func dots(rest string) bool {
	segment, _, _ := strings.Cut(rest, "/")
	return segment == "." || segment == ".."
}

func encodeQuery(q map[string]string) string {
	names := make([]string, 0, len(q))
	for name := range q {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(name))
		b.WriteByte('=')
		b.WriteString(url.QueryEscape(q[name]))
	}
	return b.String()
}
