package doctor

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"backstop"
	"backstop/internal/upstream"
)

// checkup is the examination of one upstream while it lasts.
type checkup struct {
	Upstream
	up   *backstop.Upstream
	plan *backstop.Plan
	opt  *Options
	conn *upstream.Conn
	base *url.URL
	via  *url.URL // proxy, nil = none
}

// visit is one question and what came of it.
type visit struct {
	moments
	path   string
	err    error
	status int
	header http.Header
	body   []byte
	whole  bool // the body was read to its end
	ended  time.Time
}

func examine(ctx context.Context, plan *backstop.Plan, u *backstop.Upstream, o *Options) Upstream {
	ctx, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	c := &checkup{up: u, plan: plan, opt: o, Upstream: Upstream{
		Name: u.Name, BaseURL: u.BaseURL, Dialect: string(u.Dialect), Vendor: u.Vendor, Steps: []Step{}, Findings: []Finding{},
	}}
	var err error
	if c.base, err = url.Parse(u.BaseURL); err != nil {
		c.problem("base_url is not a URL", "", "write for example https://api.openai.com/v1")
		return c.Upstream
	}
	if c.conn, err = upstream.New(u, upstream.Options{Dial: o.Dial}); err != nil {
		c.problem("the upstream cannot be called at all", err.Error(), "mend this setting; serve would refuse it as well")
		return c.Upstream
	}
	defer c.conn.Close()
	c.proxy()
	c.wholePath()
	key := 0
	if len(u.Keys) == 0 {
		key = -1
	}
	v := c.ask(ctx, c.question(), key)
	c.way(v)
	if v.err != nil {
		c.unreachable(v)
		return c.Upstream
	}
	c.clock(v)
	c.judge(ctx, v, key)
	return c.Upstream
}

// ask sends one question.
func (c *checkup) ask(ctx context.Context, path string, key int) *visit {
	t := newTrace(c.opt.Now)
	resp, err := c.conn.Look(httptrace.WithClientTrace(ctx, t.hooks()), path, key, c.extra())
	v := &visit{path: path, err: err}
	if err == nil {
		v.status, v.header = resp.StatusCode, resp.Header
		v.body, v.whole = readBounded(resp.Body)
		_ = resp.Body.Close()
	}
	v.moments, v.ended = t.seen(), c.opt.Now()
	return v
}

func (c *checkup) step(name string, state State, took time.Duration, note string) {
	c.Steps = append(c.Steps, Step{name, state, float64(took.Microseconds()) / 1000, note})
}

func (c *checkup) find(w Weight, what, cause, fix string) {
	c.Findings = append(c.Findings, Finding{w, what, cause, fix})
}

func (c *checkup) problem(what, cause, fix string) { c.find(Problem, what, cause, fix) }

// proxy says which proxy stands in the way, and who put it there.
func (c *checkup) proxy() {
	c.via = c.conn.Proxy()
	if c.via == nil {
		c.unfollowed()
		return
	}
	shown := *c.via
	shown.User = nil
	c.Upstream.Proxy = shown.Scheme + "://" + shown.Host
	cause := "proxy of this upstream names it"
	if name := c.proxyVariable(); name != "" {
		cause = name + " of the environment names it (proxy: env, the default)"
	}
	c.find(Note, "calls go through the proxy "+c.Upstream.Proxy, cause, "set proxy: off for this upstream to go there directly")
}

// unfollowed tells of a proxy that other programs would use: curl follows
// ALL_PROXY, we do not.
func (c *checkup) unfollowed() {
	if c.proxyVariable() != "a variable" || c.up.AllowPrivate {
		return
	}
	for _, name := range []string{"ALL_PROXY", "all_proxy"} {
		if v, ok := c.opt.Env(name); ok && v != "" {
			c.find(Note, name+" is set, and calls do not follow it", "of the environment only HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read",
				"set HTTPS_PROXY, or the URL as proxy of this upstream; proxy: off if none is meant")
			return
		}
	}
}

// proxyVariable names the variable that a proxy comes from, "" = the plan.
func (c *checkup) proxyVariable() string {
	if c.up.Proxy != "env" && c.up.Proxy != "" {
		return ""
	}
	for _, name := range []string{strings.ToUpper(c.base.Scheme) + "_PROXY", c.base.Scheme + "_proxy"} {
		if v, ok := c.opt.Env(name); ok && v != "" {
			return name
		}
	}
	return "a variable"
}

// wholePath finds base URLs that name one endpoint instead of the place that
// all endpoints are below.
func (c *checkup) wholePath() {
	for _, end := range []string{"/chat/completions", "/completions", "/responses", "/embeddings", "/messages", "/models"} {
		if rest, found := strings.CutSuffix(strings.TrimRight(c.base.Path, "/"), end); found {
			c.problem("base_url ends in "+end, "it names one endpoint; the path of each call is added to it", "base_url: "+c.base.Scheme+"://"+c.base.Host+rest)
			return
		}
	}
}

// way turns the moments of the first question into steps.
func (c *checkup) way(v *visit) {
	if !v.dnsFrom.IsZero() {
		c.resolution(v)
	}
	switch {
	case !v.dialTo.IsZero():
		c.step("tcp", c.patience(v), v.dialTo.Sub(v.dialFrom), v.reached.String())
	case v.err != nil && !v.dialFrom.IsZero(), v.err != nil && v.dnsFrom.IsZero() && v.sent.IsZero():
		c.step("tcp", Failed, 0, "")
		return
	case v.err != nil && v.sent.IsZero():
		return
	}
	switch {
	case v.tls != nil:
		c.certificate(v)
	case v.err != nil && !v.tlsFrom.IsZero():
		c.step("tls", Failed, 0, "")
		return
	}
	if v.err != nil {
		c.step("http", Failed, v.ended.Sub(v.began), "GET "+c.shownPath(v.path))
		return
	}
	from := v.sent
	if from.IsZero() {
		from = v.began
	}
	state := Fine
	if v.status >= 500 {
		state = Failed
	}
	c.step("http", state, v.first.Sub(from), fmt.Sprintf("GET %s: %d", c.shownPath(v.path), v.status))
}

func (c *checkup) shownPath(path string) string { return strings.TrimRight(c.base.Path, "/") + path }

func (c *checkup) resolution(v *visit) {
	if v.dnsTo.IsZero() || v.dnsErr {
		c.step("dns", Failed, 0, c.nameOf())
		return
	}
	for _, a := range v.addrs {
		c.Addresses = append(c.Addresses, a.String())
	}
	note := strings.Join(c.Addresses[:min(len(c.Addresses), 2)], ", ")
	if more := len(c.Addresses) - 2; more > 0 {
		note += fmt.Sprintf(" and %d more", more)
	}
	c.step("dns", Fine, v.dnsTo.Sub(v.dnsFrom), note)
	if v.fake() {
		c.find(Note, c.nameOf()+" resolves to a fake IP (198.18.0.0/15)", "a proxy program on this machine or network (Clash, sing-box, Surge and the like) answers DNS and carries the connection", "nothing, while that program runs; when it stops, this upstream is unreachable")
	}
}

// nameOf is the host that is dialed: the proxy's, or the upstream's.
func (c *checkup) nameOf() string {
	if c.via != nil {
		return c.via.Hostname()
	}
	return c.base.Hostname()
}

// patience compares the time to connect with the plan's limit.
func (c *checkup) patience(v *visit) State {
	took, limit := v.dialTo.Sub(v.dialFrom), c.up.Timeouts.Connect
	switch {
	case limit > 0 && took > limit:
		c.problem(fmt.Sprintf("connecting took %s, longer than timeouts.connect %s", took.Round(time.Millisecond), limit), "the way to this upstream is slow", "raise timeouts.connect, or use a nearer endpoint or proxy")
		return Failed
	case limit > 0 && took > limit/2:
		c.find(Warning, fmt.Sprintf("connecting took %s, more than half of timeouts.connect %s", took.Round(time.Millisecond), limit), "the way to this upstream is slow", "raise timeouts.connect, or use a nearer endpoint or proxy")
		return Warned
	}
	return Fine
}

// soon is when an operator should know that a certificate ends.
const soon = 14 * 24 * time.Hour

func (c *checkup) certificate(v *visit) {
	note := map[uint16]string{0x0303: "TLS 1.2", 0x0304: "TLS 1.3"}[v.tls.Version]
	state := Fine
	if len(v.tls.PeerCertificates) > 0 {
		until := v.tls.PeerCertificates[0].NotAfter
		note += ", certificate until " + until.Format(time.DateOnly)
		if left := until.Sub(c.opt.Now()); left < soon {
			state = Warned
			c.find(Warning, "the certificate of "+c.base.Hostname()+" ends on "+until.Format(time.DateOnly), "it was not renewed yet", "if the server is yours, renew it; after that day every call fails")
		}
	}
	c.step("tls", state, v.tlsTo.Sub(v.tlsFrom), note)
}
