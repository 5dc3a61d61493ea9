package admin

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"backstop/secret"
)

// cookieName is set by the dashboard URL; what it holds is made from the token
// and is not the token, for browsers send cookies to every port of a host.
const cookieName = "backstop_admin"

// The dashboard loads its own files and nothing else, and nobody frames it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// gate is what every request has to pass: the right host, no foreign page
// behind it, and the token.
type gate struct {
	token  secret.Value
	cookie secret.Value
	hosts  map[string]bool
	open   bool // some listener is on all addresses, so any of them may be named
	cross  *http.CrossOriginProtection
}

func newGate(o *Options) gate {
	mac := hmac.New(sha256.New, []byte(o.Token.Reveal()))
	mac.Write([]byte("backstop admin cookie"))
	g := gate{
		token: o.Token, cookie: secret.New(hex.EncodeToString(mac.Sum(nil))),
		hosts: map[string]bool{"localhost": true}, cross: http.NewCrossOriginProtection(),
	}
	for _, addr := range o.Addrs {
		host := hostOf(addr)
		g.hosts[host] = true
		ip, err := netip.ParseAddr(host)
		g.open = g.open || host == "" || err == nil && ip.IsUnspecified()
	}
	return g
}

// hostOf is a host without its port and brackets, in lower case.
func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		addr = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(addr, "["), "]"))
}

func (g *gate) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", policy)
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		bearer := g.bearer(r)
		switch {
		case !g.host(r.Host) && !(g.open && bearer):
			fail(w, http.StatusForbidden, "forbidden", "this host name is not the admin plane's; use localhost or the configured address")
		case g.foreign(r):
			fail(w, http.StatusForbidden, "forbidden", "a page of another origin may not use the admin plane")
		case bearer || g.hasCookie(r):
			next.ServeHTTP(w, r)
		case g.login(w, r):
		default:
			h.Set("WWW-Authenticate", "Bearer")
			if locked(w, r) {
				return
			}
			fail(w, http.StatusUnauthorized, "unauthorized", "send Authorization: Bearer with the admin token, or open the dashboard URL that was printed at the start")
		}
	})
}

// host reports whether a Host header names this listener. A page whose name
// was rebound to our address sends its own name.
func (g *gate) host(name string) bool {
	host := hostOf(name)
	if g.hosts[host] {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && (ip.Unmap().IsLoopback() || g.open)
}

// foreign reports whether a page of another origin is behind a request. Ports
// of one host are one site to browsers, but not to us.
func (g *gate) foreign(r *http.Request) bool {
	if g.cross.Check(r) != nil {
		return true
	}
	if origin, sent := r.Header["Origin"]; sent {
		u, err := url.Parse(strings.Join(origin, ","))
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return true
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	// A link to the dashboard may be followed from anywhere.
	return r.Method != http.MethodGet || r.URL.Path != "/" || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

func (g *gate) bearer(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.EqualFold(scheme, "Bearer") && g.isToken(strings.TrimSpace(token))
}

func (g *gate) isToken(given string) bool {
	return !g.token.Empty() && g.token.Equal(secret.New(given))
}

func (g *gate) hasCookie(r *http.Request) bool {
	for _, c := range r.CookiesNamed(cookieName) {
		if !g.token.Empty() && g.cookie.Equal(secret.New(c.Value)) {
			return true
		}
	}
	return false
}

// login exchanges the token of the dashboard URL for the cookie, so that the
// token leaves the address bar.
func (g *gate) login(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet || r.URL.Path != "/" || !g.isToken(r.URL.Query().Get("token")) {
		return false
	}
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: g.cookie.Reveal(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
	return true
}
