package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"backstop"
)

// credentialHeaders carry keys: those come from key and auth alone, so that no
// credential is printed, logged or sent twice.
var credentialHeaders = []string{"authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "set-cookie"}

// framingHeaders belong to the connection and are made anew for each request.
var framingHeaders = []string{"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer",
	"expect", "accept-encoding", "content-encoding", "content-type", "proxy-connection"}

var credentialQuery = []string{"key", "api_key", "api-key", "apikey", "access_token", "token"}

// decorate checks and sets headers and query parameters.
func (b *planBuilder) decorate(s *upstreamSpec, u *backstop.Upstream) {
	for _, name := range slices.Sorted(maps.Keys(s.headers)) {
		f := s.headers[name]
		lower := strings.ToLower(name)
		switch {
		case !headerName(name):
			b.problem(f.at, fmt.Sprintf("%s is not a header name", raw(f.at)), "")
		case slices.Contains(credentialHeaders, lower):
			b.problem(f.at, fmt.Sprintf("header %s carries a credential", lower), "use key, and auth for another header")
		case slices.Contains(framingHeaders, lower):
			b.problem(f.at, fmt.Sprintf("header %s cannot be set here", lower), "it is made for each request")
		case !headerValue(f.v):
			b.problem(f.at, fmt.Sprintf("the value of header %s has a control character", lower), "remove line breaks")
		}
		put(&u.Headers, name, f.v)
	}
	for _, name := range slices.Sorted(maps.Keys(s.query)) {
		f := s.query[name]
		switch {
		case name == "":
			b.problem(f.at, "a query parameter has no name", "")
		case slices.Contains(credentialQuery, strings.ToLower(name)):
			b.problem(f.at, fmt.Sprintf("query parameter %s carries a credential", raw(f.at)), "keys travel in headers only: use key")
		}
		put(&u.Query, name, f.v)
	}
}

func put(into *map[string]string, name, v string) {
	if *into == nil {
		*into = map[string]string{}
	}
	(*into)[name] = v
}

// headerName follows RFC 9110 section 5.6.2 (token).
func headerName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != "" && len(name) <= 128
}

func headerValue(v string) bool {
	for i := 0; i < len(v); i++ {
		if v[i] < ' ' && v[i] != '\t' || v[i] == 0x7f {
			return false
		}
	}
	return len(v) <= 8192
}

func joinNames(names []string) string { return strings.Join(names, ", ") }
