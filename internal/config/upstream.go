package config

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"backstop"
	"backstop/secret"
)

// reserved are the names that answers of local tiers carry.
var reserved = map[string]bool{"template": true, "cache": true, "local": true, "auto": true}

// upstream checks one upstream and adds it to the plan.
func (b *planBuilder) upstream(s *upstreamSpec) {
	before := len(b.problems)
	switch {
	case reserved[s.name]:
		b.problem(s.at, fmt.Sprintf("an upstream cannot be called %q", s.name), "answers of local tiers carry that name")
	case !goodName(s.name):
		b.problem(s.at, fmt.Sprintf("upstream name %s cannot be used", raw(s.at)), nameRule)
	}
	u := backstop.DefaultUpstream()
	if b.config.Profile == "article" {
		backstop.ArticleCard(&u)
	}
	u.Name = s.name
	u.Dialect = backstop.Dialect(s.dialect.or(string(u.Dialect)))
	b.destination(s, &u)
	b.credentials(s, &u)
	b.decorate(s, &u)
	b.timeouts(s, &u)
	b.breaker(s, &s.breaker, &u.Breaker)
	if s.trial != nil {
		trial := u.Breaker
		b.breaker(s, s.trial, &trial)
		u.Trial = &trial
	}
	b.retry(s, &u)
	b.limits(s, &u)
	b.quirks(s, &u)
	u.Unary = backstop.Unary(s.unary.or(string(u.Unary)))
	u.Passthrough = s.passthrough.or(u.Passthrough)
	if len(b.problems) > before {
		b.broken = true
		return
	}
	b.plan.Upstreams = append(b.plan.Upstreams, u)
}

// destination checks where the calls go: a mistake here sends keys to the
// wrong place or calls round in a circle.
func (b *planBuilder) destination(s *upstreamSpec, u *backstop.Upstream) {
	u.AllowPrivate = s.allowPrivate.or(u.AllowPrivate)
	b.proxy(s, u)
	if s.baseURL.v == "" {
		if !s.spoiled {
			b.problem(cmp.Or(s.baseURL.at, s.at), fmt.Sprintf("upstream %q has no base_url", s.name), "add base_url: https://api.openai.com/v1")
		}
		b.broken = true
		return
	}
	at := s.baseURL.at
	base, why, hint := checkBaseURL(s.baseURL.v)
	if why != "" {
		if strings.ContainsAny(s.baseURL.v, "@?") {
			b.src.Hide(at)
		}
		b.problem(at, "base_url "+why, hint)
		return
	}
	u.BaseURL = base.String()
	u.Vendor = s.vendor.or("auto")
	if u.Vendor == "auto" {
		u.Vendor = vendorOf(u.BaseURL)
	}
	where := placeOf(base.Hostname())
	switch {
	case ownListener(base, b.config.Listen):
		b.problem(at, "base_url is our own listener: every call would come back to us", "name the address of the model's API")
	case ownListener(base, b.config.Admin.Listen):
		b.problem(at, "base_url is our own admin listener", "name the address of the model's API")
	case where == never:
		b.problem(at, "base_url is a link-local or metadata address, which is never called", "name the address of the model's API")
	case where != public && !u.AllowPrivate:
		b.problem(at, "base_url is a loopback or private address", "add allow_private: true to this upstream if that is meant")
	case where == public && base.Scheme == "http" && !u.AllowPrivate:
		b.warn(at, "upstream %s is called over plain http: prompts and the key can be read on the way", s.name)
	}
}

func (b *planBuilder) proxy(s *upstreamSpec, u *backstop.Upstream) {
	u.Proxy = s.proxy.or(u.Proxy)
	if u.Proxy == "false" || u.Proxy == "no" || u.Proxy == "" {
		u.Proxy = "off"
	}
	if u.Proxy != "env" && u.Proxy != "off" {
		p, err := url.Parse(u.Proxy)
		if err != nil || p.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, p.Scheme) {
			b.src.Hide(s.proxy.at)
			b.problem(s.proxy.at, "proxy is neither env nor off nor the URL of a proxy", "write for example http://127.0.0.1:7890 or socks5://127.0.0.1:7891")
		} else if p.User != nil {
			b.src.Hide(s.proxy.at)
		}
	}
	if s.ca.v == "" {
		return
	}
	data, why := b.reader.file(s.ca.v)
	switch {
	case why != "":
		b.problem(s.ca.at, "ca "+why, "paths are relative to the configuration file")
	case !x509.NewCertPool().AppendCertsFromPEM(data):
		b.problem(s.ca.at, "ca names a file without a PEM certificate", "it begins with -----BEGIN CERTIFICATE-----")
	}
	u.CAFile = b.resolve(s.ca.v)
}

func (b *planBuilder) credentials(s *upstreamSpec, u *backstop.Upstream) {
	u.Account = s.account.or(u.Account)
	if u.Auth = s.auth.or("auto"); u.Auth == "auto" {
		u.Auth = authOf(u.Vendor, u.Dialect)
	}
	if s.key.set() && !s.key.v.Empty() && len(s.keyList) > 0 {
		b.problem(s.key.at, fmt.Sprintf("upstream %q has key and keys", s.name), "use one of them")
	}
	all := s.keyList
	if s.key.set() {
		all = append([]field[secret.Value]{s.key}, all...)
	}
	seen := map[[32]byte]bool{}
	for _, k := range all {
		if k.v.Empty() {
			continue
		}
		if why := badCredential(k.v); why != "" {
			b.problem(k.at, "key "+why, keyHint(k.v))
		}
		if seen[k.v.Sum()] {
			b.warn(k.at, "upstream %s lists the same key twice", s.name)
			continue
		}
		seen[k.v.Sum()] = true
		u.Keys = append(u.Keys, k.v)
		b.keyFile(u, k.at)
	}
}

func keyHint(v secret.Value) string {
	if strings.HasPrefix(strings.ToLower(v.Reveal()), "bearer ") {
		return "leave out the word Bearer: auth says how the key is sent"
	}
	return "check what the variable or file holds"
}

func (b *planBuilder) timeouts(s *upstreamSpec, u *backstop.Upstream) {
	t := &u.Timeouts
	b.positive("connect", &s.connect)
	b.positive("first_token", &s.firstToken)
	t.Connect, t.FirstToken, t.Idle = s.connect.or(t.Connect), s.firstToken.or(t.FirstToken), s.idle.or(t.Idle)
	t.Drip = s.drip.or(t.Drip)
	if b.config.Profile == "article" && s.firstToken.set() {
		t.Total = t.FirstToken // the card has one limit for both
	}
	t.Total = s.total.or(t.Total)
	if t.Total > 0 && t.Total < t.FirstToken {
		b.problem(cmp.Or(s.total.at, cmp.Or(s.firstToken.at, s.at)), fmt.Sprintf("upstream %q: total %s is shorter than first_token %s", s.name, span(t.Total), span(t.FirstToken)), "total bounds the whole answer")
	}
	if t.Connect > t.FirstToken && s.connect.set() {
		b.warn(s.connect.at, "upstream %s: connect %s is longer than first_token %s, which counts from the same moment", s.name, span(t.Connect), span(t.FirstToken))
	}
}

func (b *planBuilder) positive(name string, f *field[time.Duration]) {
	if f.set() && f.v <= 0 {
		b.problem(f.at, name+" must be longer than 0", "write for example 4500ms")
	}
}

func (b *planBuilder) breaker(s *upstreamSpec, from *breakerSpec, to *backstop.BreakerSettings) {
	to.Failures, to.Window, to.Reset = from.failures.or(to.Failures), from.window.or(to.Window), from.reset.or(to.Reset)
	to.Hang = from.hang.or(to.Hang)
	to.Probe = backstop.ProbeMode(from.probe.or(string(to.Probe)))
	if to.Failures < 1 || to.Failures > 1000 {
		b.problem(cmp.Or(from.failures.at, s.at), "failures must be from 1 to 1000", "the card says 5")
	}
	b.positive("window", &from.window)
	b.positive("reset", &from.reset)
	if to.Window > time.Hour || to.Reset > 24*time.Hour {
		b.problem(cmp.Or(from.window.at, cmp.Or(from.reset.at, s.at)), "window is at most 1h and reset at most 24h", "check the unit")
	}
}

func (b *planBuilder) retry(s *upstreamSpec, u *backstop.Upstream) {
	t := &u.Retry
	t.Max, t.Budget, t.Wait = s.retryMax.or(t.Max), s.budget.or(t.Budget), s.wait.or(t.Wait)
	if s.jitter.set() {
		t.JitterMin, t.JitterMax = s.jitter.v.Min, s.jitter.v.Max
	}
	if t.Max > backstop.MaxAttempts-1 {
		b.problem(cmp.Or(s.retryMax.at, s.at), fmt.Sprintf("retry.max is at most %d", backstop.MaxAttempts-1), fmt.Sprintf("a call makes at most %d upstream requests in all", backstop.MaxAttempts))
	}
	if t.JitterMax > 30*time.Second || t.Wait > 5*time.Minute {
		b.problem(cmp.Or(s.jitter.at, cmp.Or(s.wait.at, s.at)), "retry.jitter is at most 30s and retry.wait at most 5m", "check the unit")
	}
}

func (b *planBuilder) limits(s *upstreamSpec, u *backstop.Upstream) {
	t := &u.Limits
	t.Rate, t.Burst, t.Inflight = s.rate.or(t.Rate), s.burst.or(t.Burst), s.inflight.or(t.Inflight)
	if t.Rate > 0 && t.Burst < 1 {
		b.problem(cmp.Or(s.burst.at, s.at), "limits.burst must be at least 1 where there is a rate", "write for example burst: 20")
	}
}
