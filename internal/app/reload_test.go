package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Of these reloads every third or so is of a broken file.
const (
	reloadsInAll  = 1000
	brokenReloads = 300
)

// brokenFiles are wrong in different ways: syntax, shape, names, references.
var brokenFiles = []string{
	"routes: [nonsense",
	"routes: 7\n",
	"routes:\n  - model: \"*\"\n    tiers:\n      - {upstream: nobody}\n",
	"rutes: []\n",
	"routes:\n  - model: \"*\"\n    tiers: [{upstream: primary}]\n    deadline: soon\n",
	usualRoutes + "state: {file: \"${NOT_SET_ANYWHERE}\"}\n",
	usualRoutes + usualRoutes,
}

// TestAThousandReloadsUnderLoadLoseNoCall puts 700 plans in force and refuses
// 300, while calls run without a pause. Each good plan names its number in the
// model that is asked for: an answer of a plan that was refused, or of none,
// would be seen.
func TestAThousandReloadsUnderLoadLoseNoCall(t *testing.T) {
	reloads, broken := reloadsInAll, brokenReloads
	if testing.Short() {
		reloads, broken = reloads/10, broken/10
	}
	h := newHouse(t, false)
	// The first tier has no limit of its own, as fallbacks have.
	plan := func(n int) string {
		return fmt.Sprintf("routes:\n  - model: \"*\"\n    tiers:\n      - {upstream: backup, model: plan-%d}\n      - local: {template: {text: busy}}\n", n)
	}
	h.write(plan(0))
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}

	var calls, failed atomic.Int64
	var wrong sync.Map
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for ctx.Err() == nil {
				if what := oneCall(h.URL()); what != "" {
					failed.Add(1)
					wrong.Store(what, true)
				}
				calls.Add(1)
			}
		})
	}
	refused, good := 0, 0
	for i := 1; i <= reloads; i++ {
		bad := i*broken/reloads > (i-1)*broken/reloads
		if bad {
			h.write(brokenFiles[refused%len(brokenFiles)])
		} else {
			h.write(plan(i))
		}
		before := h.Config()
		err := h.Reload()
		switch {
		case bad && err == nil:
			t.Fatalf("reload %d put a broken file in force", i)
		case bad && h.Config() != before:
			t.Fatalf("reload %d was refused and changed something", i)
		case !bad && err != nil:
			t.Fatalf("reload %d: %v", i, err)
		case bad:
			refused++
		default:
			good++
			if model := h.Config().Plan.Routes[0].Tiers[0].Model; model != fmt.Sprintf("plan-%d", i) {
				t.Fatalf("after reload %d the plan is %s", i, model)
			}
		}
		// Calls go on between two reloads, however quick these are.
		if i%20 == 0 {
			if what := oneCall(h.URL()); what != "" {
				t.Fatalf("after reload %d: %s", i, what)
			}
		}
	}
	stop()
	all.Wait()
	wrong.Range(func(what, _ any) bool {
		t.Errorf("a call failed: %s", what)
		_, id, _ := strings.Cut(what.(string), "call ")
		id, _, _ = strings.Cut(id, " ")
		_, story := h.admin("GET", "/api/calls/"+id, "")
		t.Log(story)
		return true
	})
	if failed.Load() != 0 || refused != broken || good != reloads-broken || calls.Load() == 0 {
		t.Errorf("%d of %d calls failed; %d reloads were refused, %d put in force", failed.Load(), calls.Load(), refused, good)
	}
	// Of the models that the backup was asked for, each is one of a plan that was in force.
	for _, a := range h.backup.Log() {
		if !strings.HasPrefix(a.Model, "plan-") {
			t.Errorf("the backup was asked for %s", a.Model)
		}
	}
	last := h.inForce().Reloads
	if len(last) != keptReloads || last[0].Time.Before(last[1].Time) {
		t.Errorf("%d reloads are remembered", len(last))
	}
	t.Logf("%d calls during %d reloads", calls.Load(), reloads)
}

func TestNoPlanComesIntoForceOnceTheProcessStops(t *testing.T) {
	h := newHouse(t, false)
	reloads, begun := make(chan error), make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			if err := h.Reload(); err != nil {
				reloads <- err
				return
			}
			if i == 3 {
				close(begun)
			}
		}
	}()
	<-begun
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	last := h.driver.Load()
	if err := <-reloads; !strings.Contains(err.Error(), "stopping") {
		t.Errorf("the last reload failed with: %v", err)
	}
	if err := h.Reload(); err == nil || h.driver.Load() != last {
		t.Errorf("a reload after the end: %v", err)
	}
}

// oneCall is "" if a call was answered with 200 and a whole body.
func oneCall(base string) string {
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}`))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"choices"`) {
		return fmt.Sprintf("%d %.200s %v", resp.StatusCode, body, err)
	}
	if tier := resp.Header.Get("X-Backstop-Tier"); tier != "primary" {
		return fmt.Sprintf("call %s was answered by tier %s, because of %s", resp.Header.Get("X-Request-Id"), tier, resp.Header.Get("X-Backstop-Reason"))
	}
	return ""
}

func TestTheAdminPlaneShowsThePlanAndItsReloads(t *testing.T) {
	h := newHouse(t, false)
	h.call("ok")
	h.write(strings.Replace(usualRoutes, "busy", "quiet", 1))
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	h.write("routes: [nonsense")
	if err := h.Reload(); err == nil {
		t.Fatal("a broken file was taken")
	}
	code, body := h.admin("GET", "/api/config", "")
	for _, want := range []string{`"path":"admin.token","value":"","hidden":true`, `routes[*].tiers[3].text: busy -\u003e quiet`, `"ok":false,"error":`, `"value":"quiet"`} {
		if !strings.Contains(body, want) && !strings.Contains(body, strings.ReplaceAll(want, `\u003e`, ">")) {
			t.Errorf("%d: no %s in %s", code, want, body)
		}
	}
	if strings.Contains(body, adminToken) {
		t.Error("the admin token is shown")
	}
	eventually(t, "the second of the call", func() bool {
		_, body := h.admin("GET", "/api/history", "")
		return strings.Contains(body, `"primary":1`)
	})
	if _, body := h.admin("GET", "/api/state", ""); !strings.Contains(body, `"attempts_5m":{"ok":1}`) || !strings.Contains(body, `"base_url":"http://127.0.0.1:`) {
		t.Errorf("state %s", body)
	}
	if code, body := h.admin("POST", "/api/faults/primary", `{"fault":"503"}`); code != 200 || !strings.Contains(body, `"503"`) {
		t.Errorf("%d %s", code, body)
	}
	if resp, _ := h.call("ok"); resp.Header.Get("x-backstop-tier") != "backup" {
		t.Errorf("after the fault: tier %q", resp.Header.Get("x-backstop-tier"))
	}
}

// reached is a listener that other machines reach.
type reached struct{ net.Listener }

func (reached) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4zero, Port: 3000} }
func (reached) Close() error   { return nil }

func TestAReloadOpensNoDoor(t *testing.T) {
	h := newHouse(t, false)
	one := "callers: [{name: web, key: 0123456789abcdef}]\n"
	for _, c := range []struct {
		name, file string
		reached    bool
		refused    bool
	}{
		{"callers come", usualRoutes + one, true, false},
		{"all callers go, although other machines reach the listener", usualRoutes, true, true},
		{"all callers go on loopback", usualRoutes, false, false},
	} {
		h.data = h.data[:1]
		if c.reached {
			h.data = append(h.data, reached{})
		}
		h.write(c.file)
		err := h.Reload()
		if (err != nil) != c.refused || err != nil && !strings.Contains(err.Error(), "callers") {
			t.Errorf("%s: %v", c.name, err)
		}
		if resp, _ := h.call("ok"); (resp.StatusCode == http.StatusUnauthorized) != c.reached {
			t.Errorf("%s: %d without a key", c.name, resp.StatusCode)
		}
	}
	h.data = h.data[:1]
}

func TestAReloadSaysWhatWaitsForTheNextStart(t *testing.T) {
	h := newHouse(t, false)
	h.write(strings.Replace(usualRoutes, "busy", "quiet", 1) + "log: {level: warn}\nstate: {file: memory.json}\n")
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	_, body := h.admin("GET", "/api/config", "")
	for want, there := range map[string]bool{
		"log.level: info -> warn (at the next start)": true, "memory.json (at the next start)": true,
		"busy -> quiet": true, "quiet (at the next start)": false,
	} {
		if strings.Contains(body, want) != there {
			t.Errorf("%q there: want %v in %s", want, there, body[strings.Index(body, `"reloads"`):])
		}
	}
}

func TestAFileOnWhichAParserFailsEndsNothing(t *testing.T) {
	h := newHouse(t, false)
	fails := func() { panic("not ours") }
	h.loading.Store(&fails)
	if err := h.Reload(); err == nil || !strings.Contains(err.Error(), "internal fault") {
		t.Errorf("the reload said: %v", err)
	}
	h.loading.Store(nil)
	if err := h.Reload(); err != nil {
		t.Error(err)
	}
	if last := h.inForce().Reloads; len(last) != 2 || last[1].OK || !last[0].OK {
		t.Errorf("remembered as %+v", last)
	}
}
