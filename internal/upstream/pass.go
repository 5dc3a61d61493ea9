package upstream

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"backstop"
)

// ErrPassage means that a request cannot be passed on as it is: its method,
// path or query has something in it that an upstream might read otherwise than
// we do.
var ErrPassage = errors.New("the request cannot be passed on: its method, path or query is not plain")

// Passage is a request that goes to the upstream as it came: only where it
// goes, with which credential and with which framing is the plan's.
type Passage struct {
	Method string
	Path   string // escaped as it came, with the version, e.g. "/v1/files/file-1/content"
	Query  string // raw, of the caller
	Key    int    // as in Call
	Header http.Header
	Body   io.Reader // nil = none
	Length int64     // of Body, -1 = unknown
}

// PassedOn are the headers that say what the body of such a request is, which
// answer it wants, and on which condition: one without its condition would be
// another request (a part of a file that has changed, a change of what somebody
// else changed first).
var PassedOn = [...]string{
	"Content-Type", "Content-Encoding", "Content-Range", "Accept", "Range",
	"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range",
}

// passable are the methods of such requests.
var passable = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true,
}

// Pass sends the request and returns the answer once its headers are here, as
// Do does. It is sent once, whatever happens. An answer that has a content
// encoding although none was asked for keeps it, and its name, unless it can be
// unpacked.
func (c *Conn) Pass(ctx context.Context, p *Passage) (*http.Response, error) {
	path := c.below(p.Path)
	bare, ok := bare(path)
	if !ok || !passable[p.Method] {
		return nil, ErrPassage
	}
	query, err := c.query(p.Query)
	if err != nil {
		return nil, err
	}
	to := &url.URL{Scheme: c.dest.scheme, Host: c.dest.host, Path: c.dest.prefix + bare, RawPath: c.dest.prefix + path, RawQuery: query}
	req := (&http.Request{
		Method: p.Method, URL: to, Host: c.dest.host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: c.headers.passage(p),
	}).WithContext(ctx)
	if p.Body != nil && p.Length != 0 {
		req.Body, req.ContentLength = io.NopCloser(p.Body), p.Length
	}
	resp, err := c.pool.kept.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusPartialContent {
		return resp, nil // a part of a compressed file cannot be unpacked
	}
	packed := resp.Header.Get("Content-Encoding")
	if err := inflate(resp); err != nil && resp.StatusCode >= 400 {
		_ = resp.Body.Close() // nobody could tell what is in it
		return nil, err
	}
	if resp.Header.Get("Content-Encoding") != packed {
		other(resp.Header)
	}
	return resp, nil
}

// other says that what was unpacked is no longer what its strong tag and its
// ranges belong to: whoever went on from a byte of it would get a part of
// something else.
func other(h http.Header) {
	h.Del("Accept-Ranges")
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		h.Set("Etag", "W/"+tag)
	}
}

// bare is an escaped path without its escapes, if it leads to the same place
// wherever on its way it loses them: not upwards, and without what ends a path,
// is a separator to some, or would be an escape again.
func bare(path string) (string, bool) {
	out, err := url.PathUnescape(path)
	if err != nil || len(path) < 2 || path[0] != '/' || strings.Contains(path, "//") || (&url.URL{Path: out, RawPath: path}).EscapedPath() != path {
		return "", false
	}
	for i := range len(out) {
		if c := out[i]; c < ' ' || c == 0x7f || strings.IndexByte(`?#;\%`, c) >= 0 {
			return "", false
		}
	}
	for segment := range strings.SplitSeq(out, "/") {
		if segment == "." || segment == ".." {
			return "", false
		}
	}
	return out, true
}

// below is the path below the base URL, which may hold the version already.
// The OpenAI dialect's always does.
func (c *Conn) below(path string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	version := path[:max(0, len(path)-len(rest)-1)]
	if c.upstream.Dialect == backstop.OpenAI || version != "" && strings.HasSuffix(c.dest.prefix, version) {
		return "/" + rest
	}
	return path
}

// maxQuery bounds a caller's query.
const maxQuery = 4 << 10

// query is the caller's as it came, without anything that may be a credential or
// that the plan sets, and with the plan's parameters behind it.
func (c *Conn) query(raw string) (string, error) {
	if len(raw) > maxQuery {
		return "", ErrPassage
	}
	var out []string
	for part := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(name)
		_, bad := url.QueryUnescape(value)
		if err != nil || bad != nil || strings.IndexFunc(part, ends) >= 0 {
			return "", ErrPassage
		}
		if _, set := c.upstream.Query[name]; part != "" && !set && !secretNames[strings.ToLower(name)] {
			out = append(out, part)
		}
	}
	if c.dest.query != "" {
		out = append(out, c.dest.query)
	}
	return strings.Join(out, "&"), nil
}

// ends reports whether a letter ends a query, or a parameter of it to some.
func ends(r rune) bool { return r <= ' ' || r == 0x7f || r == ';' || r == '#' }

var secretNames = map[string]bool{"key": true, "api_key": true, "api-key": true, "access_token": true, "token": true}

// passage are the headers of such a request: the plan's, the few of a caller's
// that all its requests may have, and what its body is.
func (h *headers) passage(p *Passage) http.Header {
	out := maps.Clone(h.build(&Call{Key: p.Key, Header: p.Header}))
	delete(out, "Content-Type")
	out["Accept"] = []string{"*/*"}
	for _, name := range PassedOn {
		if v := p.Header[name]; len(v) == 1 && v[0] != "" && len(v[0]) <= maxPassed && fieldValue(v[0]) {
			out[name] = v
		}
	}
	return out
}
