package upstream

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
)

// Look sends a GET without a body to a path below the base URL, the way calls
// go: same dialer and guard, same proxy and CA, same headers. It is for
// questions that cost nothing, such as a list of models; redirects are not
// followed. key is an index into the upstream's keys, -1 = no credential; more
// are further headers, which the plan's own win over. The caller closes the
// body. Errors are to be judged with [Classify], [Private] and [Forbidden].
func (c *Conn) Look(ctx context.Context, path string, key int, more http.Header) (*http.Response, error) {
	to, err := c.dest.url(path)
	if err != nil {
		return nil, err
	}
	if key < -1 || key+1 >= len(c.headers.plain) {
		key = -1
	}
	h := maps.Clone(c.headers.plain[key+1])
	delete(h, "Content-Type")
	for name, values := range more {
		if _, set := h[name]; !set {
			h[name] = values
		}
	}
	req := &http.Request{
		Method: http.MethodGet, URL: to, Host: c.dest.host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: h,
	}
	resp, err := c.pool.kept.RoundTrip(req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if err := inflate(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// Proxy returns the proxy that the upstream is reached through, nil = none.
// It may hold a password.
func (c *Conn) Proxy() *url.URL {
	u, err := proxyOf(c.pool.way)
	if err != nil {
		return nil // New has refused it
	}
	return u
}

// Private reports whether the dial guard refused an address that
// allow_private would open.
func Private(err error) bool { return errors.Is(err, errPrivate) }

// Forbidden reports whether the dial guard refused an address that no setting
// opens.
func Forbidden(err error) bool { return errors.Is(err, errForbidden) }
