package cases

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Section 2: rate limits, quotas, retries.

const rateLimited = `{"error":{"message":"m","type":"rate_limit_error","code":"rate_limit_exceeded"}}`

// limited answers 429 with the headers given.
func limited(headers ...string) script { return status(429, rateLimited, headers...) }

// inAMinute is an HTTP date 60 s after the answer's own Date.
func inAMinute() []string {
	now := time.Now().UTC()
	return []string{"Date: " + now.Format(http.TimeFormat), "Retry-After: " + now.Add(time.Minute).Format(http.TimeFormat)}
}

func TestF09RetryAfterIsKeptAndPassedOn(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		headers []string
		park    time.Duration
	}{
		"a seconds":      {[]string{"Retry-After: 60"}, time.Minute},
		"b a date":       {inAMinute(), time.Minute},
		"c milliseconds": {[]string{"retry-after-ms: 1500"}, 1500 * time.Millisecond},
		"d no header":    {nil, time.Second},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, limited(row.headers...))
			g := start(t, setup{primary: p, backup: b, retries: 3})
			asked := time.Now()
			g.ask(call{stream: true}).fromBackup("limited/rate")
			answered := time.Now()
			c := g.parked("primary", "rate")
			if len(c.Parked) == 1 {
				parkedFor(t, c.Parked[0].Until, row.park, asked, answered)
			}
			together := g.together(20, call{stream: true})
			if len(c.Parked) == 1 && time.Now().After(c.Parked[0].Until) {
				return // this machine took longer for it than the park
			}
			for _, a := range together {
				a.fromBackup("parked")
			}
			p.saw(1)
			g.counts("primary", 0)
			if row.park > 2*time.Second {
				return
			}
			eventually(t, "the park is over", func() bool { return len(g.state("primary").Parked) == 0 })
			began := time.Now()
			g.together(20, call{stream: true})
			if time.Since(began) < time.Second { // the second park, of 2 s, holds
				p.saw(2) // one call finds out for all
			}
			g.counts("primary", 0)
		})
	}
	t.Run("e nobody else", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", limited("Retry-After: 60"))
		g := start(t, setup{primary: p, retries: 3})
		for i := range 2 {
			a := g.ask(call{stream: true})
			a.refused(429, "rate_limited")
			below(t, "the error", a.took, atOnce)
			if after := a.header.Get("Retry-After"); after != "10" {
				t.Errorf("call %d: Retry-After is %q, want 10", i+1, after)
			}
		}
		p.saw(1)
		g.counts("primary", 0)
	})
	t.Run("e nobody else, a short park", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", limited("Retry-After: 6"))
		g := start(t, setup{primary: p, retries: 3})
		g.ask(call{stream: true}).refused(429, "rate_limited")
		if n, err := strconv.Atoi(g.ask(call{stream: true}).header.Get("Retry-After")); err != nil || n < 1 || n > 6 {
			t.Errorf("Retry-After is %d (%v), want what remains of 6 s", n, err)
		}
		p.saw(1)
	})
}

// parkedFor checks that a park of the right length began between two moments.
func parkedFor(t testing.TB, until time.Time, park time.Duration, asked, answered time.Time) {
	t.Helper()
	grain := min(time.Second, park/2) // upstreams speak in dates and seconds
	if until.Before(asked.Add(park-grain)) || until.After(answered.Add(park+time.Millisecond)) {
		t.Errorf("parked until %s after the question, which was answered after %s; want %s", until.Sub(asked), answered.Sub(asked), park)
	}
}

func TestF10AbsurdRetryAfter(t *testing.T) {
	t.Parallel()
	const most = 10 * time.Minute
	rows := map[string]time.Duration{
		"105340": most, "4236": most,
		"-1": time.Second, "abc": time.Second, "99999999999999999999": time.Second, "": time.Second,
	}
	for value, park := range rows {
		t.Run("value "+value, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, limited("Retry-After: "+value))
			g := start(t, setup{primary: p, backup: b})
			asked := time.Now()
			a := g.ask(call{stream: true})
			answered := time.Now()
			a.fromBackup("limited/rate")
			below(t, "the answer", a.took, atOnce)
			if c := g.parked("primary", "rate"); len(c.Parked) == 1 {
				parkedFor(t, c.Parked[0].Until, park, asked, answered)
			}
			p.saw(1)
			g.counts("primary", 0)
		})
		t.Run("value "+value+", nobody else", func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", limited("Retry-After: "+value))
			g := start(t, setup{primary: p})
			a := g.ask(call{stream: true})
			a.refused(429, "rate_limited")
			below(t, "the error", a.took, atOnce)
			if after := a.header.Get("Retry-After"); after != "" {
				if n, err := strconv.Atoi(after); err != nil || n < 0 || n > 10 {
					t.Errorf("Retry-After is %q, want 0 to 10", after)
				}
			}
			p.saw(1)
		})
	}
}

func TestF11RetryAmplification(t *testing.T) {
	t.Parallel()
	const noTools = `{"error":{"message":"no endpoint supports tools","type":"invalid_request_error","param":null,"code":null}}`
	const badImage = `{"error":{"message":"invalid image","type":"invalid_request_error","param":"messages","code":"invalid_image"}}`
	for name, row := range map[string]struct {
		status int
		body   string
	}{"a no endpoint for tools": {404, noTools}, "b a bad image": {400, badImage}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", status(row.status, row.body))
			b := newFake(t, "backup", status(row.status, row.body))
			g := start(t, setup{primary: p, backup: b, retries: 3})
			a := g.ask(call{stream: true, more: `"tools":[{"type":"function","function":{"name":"f","parameters":{}}}]`})
			if a.status != row.status || a.body() != row.body || a.header.Get("X-Should-Retry") != "false" {
				t.Errorf("want %d with the upstream's own body and no retry\n%s", row.status, a.show())
			}
			p.saw(1)
			b.saw(0)
			g.counts("primary", 0)
			g.parked("primary", "")
		})
	}
	t.Run("c an SDK with retries of its own", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", limited("Retry-After: 60"))
		g := start(t, setup{primary: p, retries: 3})
		for i := range 3 { // as an SDK with two retries that believes nothing
			a := g.ask(call{stream: true, header: map[string]string{"x-stainless-retry-count": strconv.Itoa(i)}})
			a.refused(429, "rate_limited")
		}
		p.saw(1)
	})
	t.Run("d the caller leaves during the back-off", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, status(500, `{"error":{"message":"m","type":"server_error","code":"internal_error"}}`))
		g := start(t, setup{primary: p, backup: b, primaryYAML: "retry: {max: 3, jitter: 5s-6s}\n", routeYAML: "deadline: 30s\n"})
		a := g.open(call{stream: true})
		eventually(t, "the first attempt is over", func() bool {
			return p.count() == 1 && p.idle() && g.metric("backstop_retry_budget_remaining", `upstream="primary"`) < 10
		})
		a.leave()
		if r := g.last(1); r.Outcome != "canceled" || len(r.Attempts) != 1 {
			t.Errorf("the record says %s with %d attempts, want canceled with 1", r.Outcome, len(r.Attempts))
		}
		p.saw(1)
		b.saw(0)
	})
	t.Run("the ceiling", func(t *testing.T) {
		t.Parallel()
		down := status(500, `{"error":{"message":"m","type":"server_error","code":"internal_error"}}`)
		p, b := newFake(t, "primary", down), newFake(t, "backup", down)
		more := "retry: {max: 3, jitter: 1ms-2ms, budget: 100%}\n"
		g := start(t, setup{primary: p, backup: b, primaryYAML: more, backupYAML: more, routeYAML: "deadline: 60s\n"})
		a := g.ask(call{stream: true})
		a.refused(503, "upstreams_exhausted") // the last one was the backup's
		if n := p.count() + b.count(); n != 4 {
			t.Errorf("one call made %d requests upstream, want 4", n)
		}
	})
}

func TestF12AccountWallsAndLyingStatuses(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		status int
		body   string
		park   string
		code   string
	}{
		"a quota":   {429, `{"error":{"code":"insufficient_quota","type":"insufficient_quota","message":"m"}}`, "quota", "quota_exceeded"},
		"b credit":  {400, `{"error":{"message":"Your credit balance is too low to access the API","type":"invalid_request_error"}}`, "quota", "quota_exceeded"},
		"c payment": {402, `{"error":{"message":"payment required","type":"m"}}`, "quota", "quota_exceeded"},
		"d auth":    {401, `{"error":{"message":"bad key","type":"authentication_error","code":"invalid_api_key"}}`, "auth", "upstream_auth"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, status(row.status, row.body))
			g := start(t, setup{primary: p, backup: b, retries: 3})
			for i := range 2 {
				a := g.ask(call{stream: true})
				a.fromBackup([]string{"limited/" + row.park, "parked"}[i])
			}
			p.saw(1)
			g.counts("primary", 0)
			if c := g.parked("primary", row.park); len(c.Parked) == 1 && time.Until(c.Parked[0].Until) < 5*time.Minute {
				t.Errorf("parked until %s only", c.Parked[0].Until)
			}
		})
		t.Run(name+", another key", func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, func(x *exchange) {
				if strings.HasSuffix(x.header.Get("Authorization"), "one") {
					x.json(row.status, row.body)
					return
				}
				good(x)
			})
			g := start(t, setup{primary: p, backup: b, retries: 3, primaryYAML: "keys: [" + primaryKey + "-one, " + primaryKey + "-two]\n"})
			for range 2 {
				g.ask(call{stream: true}).success("primary", "ab")
			}
			p.saw(3)
			g.parked("primary", row.park)
			g.counts("primary", 0)
		})
		t.Run(name+", nobody else", func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", status(row.status, row.body))
			g := start(t, setup{primary: p, retries: 3})
			a := g.ask(call{stream: true})
			a.refused(row.status, row.code)
			if strings.Contains(a.body(), "credit balance") || strings.Contains(a.body(), "bad key") {
				t.Errorf("the upstream's words about our account reach the caller\n%s", a.show())
			}
			if a.header.Get("Retry-After") != "" || a.header.Get("Retry-After-Ms") != "" {
				t.Errorf("an invented Retry-After\n%s", a.show())
			}
			p.saw(1)
		})
	}
	t.Run("e a fault sold as 400", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, status(400, `{"error":{"message":"unexpected EOF","type":"invalid_request_error","param":null,"code":null}}`))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).fromBackup("broken/server")
		g.counts("primary", 1)
	})
}
