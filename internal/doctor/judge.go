package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"backstop"
	"backstop/wire"
)

// judge reads the first answer, then asks with the further keys.
func (c *checkup) judge(ctx context.Context, v *visit, key int) {
	a := v.read()
	switch {
	case v.status >= 300 && v.status < 400:
		c.redirected(v)
		return
	case a.html:
		c.webPage(ctx, v, key)
		return
	case c.foreign(v, a):
		return
	}
	if !c.judgeKey(ctx, v, key) {
		return
	}
	c.names(ctx, v, a, key)
	for k := 1; k < len(c.up.Keys); k++ {
		w := c.ask(ctx, v.path, k)
		if w.err != nil {
			c.step(fmt.Sprintf("key %d", k+1), Unknown, 0, "not answered")
			c.find(Warning, fmt.Sprintf("key %d was not checked: no answer", k+1), "the upstream or the time for it ran out", "run it again")
			return
		}
		c.judgeKey(ctx, w, k)
	}
}

// judgeKey says what an answer means for the key it was asked with. It is
// false when there is no sense in asking on.
func (c *checkup) judgeKey(ctx context.Context, v *visit, key int) bool {
	name, took := fmt.Sprintf("key %d", key+1), v.first.Sub(v.began)
	if key < 0 {
		name = "no key"
	}
	switch kind := c.kindOf(v); {
	case v.status == http.StatusOK:
		c.accepted(ctx, v, key)
		return true
	case kind == backstop.KindAuth:
		c.step(name, Failed, took, fmt.Sprint(v.status))
		c.refused(v.status, key)
		return true
	case kind == backstop.KindQuota:
		c.step(name, Failed, took, fmt.Sprint(v.status))
		c.problem(fmt.Sprintf("%s: the account has no quota left (%d)", name, v.status), "the balance or the monthly limit is used up", "top up the account at the vendor, or raise its limit; until then its calls go to the next tier")
		return true
	case kind == backstop.KindRate, kind == backstop.KindRamp:
		c.step(name, Warned, took, fmt.Sprint(v.status))
		c.find(Warning, fmt.Sprintf("%s: rate-limited just now (%d)", name, v.status), "other programs use the same account, or its limit is low", "run it again in a minute; limits.rate keeps this gateway below the limit")
		return true
	case v.status == http.StatusNotFound, v.status == http.StatusMethodNotAllowed, v.status == http.StatusNotImplemented:
		c.missing(ctx, v, key, name)
		return false
	case v.status >= 500:
		c.step(name, Unknown, took, fmt.Sprint(v.status))
		c.problem(fmt.Sprintf("%s answers %d", c.base.Host, v.status), "it is down, overloaded, or a proxy in front of it does not reach it", "calls go to the next tier; see the vendor's status page and run it again")
		return false
	}
	c.step(name, Unknown, took, fmt.Sprint(v.status))
	c.find(Warning, fmt.Sprintf("%s: an unexpected %d to GET %s", name, v.status, c.shownPath(v.path)), "the path below base_url may not be that of an API", "compare base_url with the vendor's documentation")
	return false
}

// kindOf is what the gateway would make of the answer if a call got it.
func (c *checkup) kindOf(v *visit) backstop.Kind {
	if v.status == http.StatusOK {
		return ""
	}
	if v.status == http.StatusUnauthorized || v.status == http.StatusForbidden && len(v.body) == 0 {
		return backstop.KindAuth
	}
	return wire.Judge(&wire.Reply{
		Vendor: c.up.Vendor, Dialect: c.up.Dialect, Caller: c.up.Dialect, Surface: wire.SurfaceHTTP,
		Status: v.status, Header: v.header, Body: v.body, Now: v.ended,
	}).Kind
}

// accepted finds out whether a 200 proves the key: some lists are public.
func (c *checkup) accepted(ctx context.Context, v *visit, key int) {
	took := v.first.Sub(v.began)
	if key < 0 {
		c.step("no key", Fine, took, "none needed")
		return
	}
	name := fmt.Sprintf("key %d", key+1)
	if key == 0 {
		if w := c.ask(ctx, v.path, -1); w.err == nil && w.status == http.StatusOK {
			c.step(name, Unknown, took, "not checked")
			c.find(Note, "whether the keys are good cannot be told without spending tokens", "this upstream shows its list of models to everybody", "send one small call: backstop bench with --rate 1 --duration 1s")
			c.up = withoutKeys(c.up)
			return
		}
	}
	c.step(name, Fine, took, "accepted")
}

// withoutKeys is an upstream whose further keys are not asked for.
func withoutKeys(u *backstop.Upstream) *backstop.Upstream {
	bare := *u
	bare.Keys = u.Keys[:1]
	return &bare
}

func (c *checkup) refused(status, key int) {
	if key < 0 {
		c.problem(fmt.Sprintf("the upstream wants a key (%d), and none is set", status), "upstream "+c.Name+" has neither key nor keys", `add key: "${NAME_OF_THE_VARIABLE}"`)
		return
	}
	what := fmt.Sprintf("key %d is refused (%d)", key+1, status)
	switch {
	case c.up.Keys[key].Len() < 8:
		c.problem(what, "it is very short; perhaps the variable holds something else", "check the variable or file that it comes from")
	case status == http.StatusForbidden:
		c.problem(what, "it lacks the right, its region or this machine's address is not allowed, or the account is locked", "check the key's rights and the account at the vendor")
	default:
		c.problem(what, "it is mistyped, revoked, of another vendor, or sent in the wrong header (auth: "+c.up.Auth+")", "make a new key at the vendor and check the variable or file that it comes from")
	}
}

// missing: there is nothing at the path of the list.
func (c *checkup) missing(ctx context.Context, v *visit, key int, name string) {
	if c.lacksVersion(ctx, key) {
		return
	}
	if p, ok := wire.Profile(c.up.Vendor); ok && p.BaseURL != "" && p.Dialect == c.up.Dialect && p.BaseURL != strings.TrimRight(c.BaseURL, "/") {
		c.find(Warning, fmt.Sprintf("GET %s: %d", c.shownPath(v.path), v.status), "base_url is not the usual one of "+c.up.Vendor, "if that was not meant: base_url: "+p.BaseURL)
	}
	c.step(name, Unknown, 0, "not checked")
	c.find(Note, "the key cannot be checked without spending tokens", fmt.Sprintf("this upstream has no list of models (GET %s: %d)", c.shownPath(v.path), v.status), "send one small call: backstop bench with --rate 1 --duration 1s")
}

// lacksVersion asks below /v1 when base_url names no version, and reports if
// the API is there.
func (c *checkup) lacksVersion(ctx context.Context, key int) bool {
	if c.up.Dialect != backstop.OpenAI || versioned(c.base.Path) {
		return false
	}
	w := c.ask(ctx, "/v1/models", key)
	a := w.read()
	there := w.err == nil && a.json && (w.status == http.StatusOK && a.list || w.status == http.StatusUnauthorized || w.status == http.StatusForbidden)
	if there {
		c.problem("base_url lacks /v1", fmt.Sprintf("the API answers at %s/v1/models (%d), not without /v1", strings.TrimRight(c.base.Path, "/"), w.status), "base_url: "+strings.TrimRight(c.BaseURL, "/")+"/v1")
	}
	return there
}

func (c *checkup) webPage(ctx context.Context, v *visit, key int) {
	if c.lacksVersion(ctx, key) {
		return
	}
	cause := "base_url leads to a web site, a login page or an error page of a proxy, not to an API of dialect " + c.Dialect
	fix := "compare base_url with the vendor's documentation"
	if p, ok := wire.Profile(c.up.Vendor); ok && p.BaseURL != "" && p.Dialect == c.up.Dialect {
		fix += "; the usual one is " + p.BaseURL
	}
	if v.status == http.StatusForbidden || v.status == http.StatusServiceUnavailable || v.status == http.StatusTooManyRequests {
		cause = "a firewall or bot check in front of the API stops this machine"
		fix = "use another network or proxy, or ask the vendor to let this address through"
	}
	c.problem(fmt.Sprintf("%s answers with a web page (%d) instead of JSON", c.base.Host, v.status), cause, fix)
}

func (c *checkup) redirected(v *visit) {
	to := ""
	if u, err := url.Parse(v.header.Get("Location")); err == nil && u.Host != "" {
		to = " to " + plainWords(u.Scheme+"://"+u.Host)
	}
	c.problem(fmt.Sprintf("%s sends elsewhere (%d%s)", c.base.Host, v.status, to), "redirects are not followed: they could carry the key to another host", "write the address that it leads to into base_url, https:// included")
}

// foreign finds answers in the words of another dialect.
func (c *checkup) foreign(v *visit, a answer) bool {
	if a.dialect == "" || a.dialect == c.up.Dialect || a.dialect == backstop.OpenAI && !a.list || v.status == http.StatusOK && !a.list {
		return false
	}
	// Gemini's gateway answers the keys of its OpenAI form in its own words.
	if c.up.Dialect == backstop.OpenAI && a.dialect == backstop.Gemini && (c.up.Vendor == "gemini" || c.up.Vendor == "vertex") {
		return false
	}
	c.problem(fmt.Sprintf("%s answers in dialect %s, but the upstream says dialect %s", c.base.Host, a.dialect, c.Dialect), "base_url belongs to another API of the vendor", "set dialect: "+string(a.dialect)+", or take the vendor's base_url for dialect "+c.Dialect)
	return true
}
