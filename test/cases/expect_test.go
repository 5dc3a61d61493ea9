package cases

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// success wants a good answer with a text, from a tier.
func (a *answer) success(tier, text string) *reading {
	a.t.Helper()
	r := a.read()
	if r.kind != "success" || r.text != text || a.tier() != tier {
		a.t.Errorf("got %s %q from tier %q, want success %q from %q\n%s", r.kind, short(r.text), a.tier(), short(text), tier, a.show())
	}
	return r
}

// tier is the tier that answered, by the header, or by the last chunk where
// the headers went out before anyone had answered.
func (a *answer) tier() string {
	if name := a.header.Get("X-Backstop-Tier"); name != "" {
		return name
	}
	name, _ := a.read().tail["tier"].(string)
	return name
}

func short(text string) string {
	if len(text) > 100 {
		return fmt.Sprintf("%.60s… of %d bytes", text, len(text))
	}
	return text
}

// fromBackup wants the backup's whole answer, and the reason.
func (a *answer) fromBackup(reason string) *reading {
	a.t.Helper()
	r := a.success("backup", "B1B2")
	if r.kind == "success" && (len(r.ids) != 1 || r.ids[0] != "b1" || r.models[0] != "mb") {
		a.t.Errorf("ids %q and models %q, want the backup's\n%s", r.ids, r.models, a.show())
	}
	if got := a.header.Get("X-Backstop-Reason"); got != reason {
		a.t.Errorf("x-backstop-reason is %q, want %q", got, reason)
	}
	return r
}

// refused wants an HTTP error with a status and a code, which the caller's SDK
// does not repeat.
func (a *answer) refused(status int, code string) *reading {
	a.t.Helper()
	r := a.read()
	got := ""
	if r.fault != nil && r.fault.Code != nil {
		got = *r.fault.Code
	}
	if r.kind != "http-error" || a.status != status || got != code {
		a.t.Errorf("got %s, status %d, code %q, want an HTTP error %d %q\n%s", r.kind, a.status, got, status, code, a.show())
	}
	if a.header.Get("X-Should-Retry") != "false" {
		a.t.Errorf("x-should-retry is %q, want false", a.header.Get("X-Should-Retry"))
	}
	return r
}

// brokenOff wants the text so far and then an error frame.
func (a *answer) brokenOff(text, code string) *reading {
	a.t.Helper()
	r := a.read()
	got := ""
	if r.fault != nil && r.fault.Code != nil {
		got = *r.fault.Code
	}
	if r.kind != "in-band" || r.text != text || got != code {
		a.t.Errorf("got %s %q with code %q, want %q and then an in-band error %q\n%s", r.kind, r.text, got, text, code, a.show())
	}
	return r
}

// straightAway wants the backup's answer, because the breaker is open, with
// less than 20 ms added: the best of a few calls, for the machine is shared.
func (g *gateway) straightAway(c call) {
	g.t.Helper()
	var best time.Duration
	for range 5 {
		a := g.ask(c)
		a.fromBackup("open")
		if best == 0 || a.took < best {
			best = a.took
		}
	}
	below(g.t, "the best answer with the breaker open", best, 20*time.Millisecond)
}

// tried wants these outcomes of all attempts at an upstream.
func (g *gateway) tried(upstream string, want ...string) {
	g.t.Helper()
	var got []string
	same := func() bool { got = g.outcomes(upstream); return slices.Equal(got, want) }
	if !before(g.t, rest, "attempts at "+upstream+" are "+strings.Join(want, ", "), same) {
		g.t.Logf("they are %q", got)
	}
}

// counts wants a number of failures in a row on record, and closed breakers.
func (g *gateway) counts(upstream string, run int) {
	g.t.Helper()
	if c := g.state(upstream); c.run() != run || c.State != "closed" {
		g.t.Errorf("%s has %d failures in a row and is %s, want %d and closed: %+v", upstream, c.run(), c.State, run, c.Scopes)
	}
}

// parked wants a park with a reason, or none for "".
func (g *gateway) parked(upstream, why string) condition {
	g.t.Helper()
	c := g.state(upstream)
	switch {
	case why == "" && len(c.Parked) > 0:
		g.t.Errorf("%s is parked: %+v", upstream, c.Parked)
	case why != "" && (len(c.Parked) != 1 || c.Parked[0].Why != why):
		g.t.Errorf("parks of %s are %+v, want one for %s", upstream, c.Parked, why)
	}
	return c
}

// saw wants a number of requests that reached a fake.
func (f *fake) saw(n int) {
	f.t.Helper()
	if got := f.count(); got != n {
		f.t.Errorf("%s saw %d requests, want %d", f.name, got, n)
	}
}

// bothForms are a stream and a plain answer.
var bothForms = map[string]bool{"stream": true, "plain": false}

// patient keeps a breaker closed whatever its upstream does.
const patient = "breaker: {failures: 1000, hang: false, probe: live}\n"

// byWord plays the script whose name is in the request.
func byWord(rows map[string]script) script {
	return func(x *exchange) {
		for word, s := range rows {
			if strings.Contains(x.body, quote(word)) {
				s(x)
				return
			}
		}
		x.json(404, "")
	}
}

// asking is a call's body whose prompt is a word.
func (l *fixture) asking(stream bool, word string) string {
	return strings.Replace(l.body(stream), `"hi"`, quote(word), 1)
}

// record is what is on record about an answer's call.
func (a *answer) record() (found record) {
	a.t.Helper()
	eventually(a.t, "the call is recorded", func() bool {
		for _, r := range a.g.records() {
			if r.ID == a.header.Get("X-Request-Id") {
				found = r
				return true
			}
		}
		return false
	})
	return found
}

// tried wants these outcomes of the call's attempts at an upstream.
func (a *answer) tried(upstream string, want ...string) {
	a.t.Helper()
	var got []string
	for _, at := range a.record().Attempts {
		if at.Upstream == upstream {
			got = append(got, at.Outcome)
		}
	}
	if !slices.Equal(got, want) {
		a.t.Errorf("attempts at %s ended as %q, want %q\n%s", upstream, got, want, a.show())
	}
}
