package browser

import (
	"regexp"
	"strings"
	"testing"
)

func TestADrillForcesAndReleasesABreaker(t *testing.T) {
	h := newGateway(t, text)
	h.load()
	p := open(t, h.dashboard()+"#/drill")
	row := "section[data-upstream=primary]"
	p.wait("the mock is found out", "document.querySelector('"+row+" [data-active]')")
	ask[bool](p, `(() => { const s = document.querySelector('`+row+` select'); s.value = '15m'; s.dispatchEvent(new Event('change')); return true; })()`)
	p.button(row, "Force open")
	p.tile("primary", "forced-open")
	if next := ask[string](p, "fetch('/api/state').then((r) => r.json()).then((s) => s.upstreams[0].scopes.find((x) => x.state === 'forced-open').next)"); next == "" {
		t.Error("a breaker that is forced for a time does not say until when")
	}
	p.wait("the traffic moves", "document.querySelector('.lately').innerText.match(/backup\\s+(9\\d|100) %/)")
	p.shot("drill-light")
	ask[bool](p, "location.hash = '#/now', true")
	p.wait("the verdict", "(document.querySelector('#verdict') || {innerText: ''}).innerText.includes('primary is held open by hand')")
	if said := p.text("#verdict"); !regexp.MustCompile(`released by itself in \d+ min`).MatchString(said) {
		t.Errorf("the verdict says %q", said)
	}
	p.shot("now-forced-light")
	ask[bool](p, "location.hash = '#/drill', true")
	p.button(row, "Release")
	p.tile("primary", "closed")

	// A fault is injected into the mock, and taken away.
	p.wait("the mock is found out again", "document.querySelector('"+row+" [data-active]')")
	p.button(row, "Inject")
	p.wait("the fault is in force", "document.querySelector('"+row+" [data-active]').innerText.includes('hang')")
	p.tile("primary", "open")
	p.prefers("dark")
	p.shot("drill-dark")
	p.button(row, "Heal")
	p.tile("primary", "closed")
	p.click("#lang")
	p.wait("what the fault does, in Chinese", "(document.querySelector('"+row+" p[lang=zh-CN]') || {innerText: ''}).innerText.includes('一言不发')")
	p.clean()
}

func TestTheConfigurationIsShownAndReloaded(t *testing.T) {
	h := newGateway(t, text)
	p := open(t, h.dashboard()+"#/config")
	p.wait("the plan", "document.querySelectorAll('.groups details').length > 3")
	said := p.text("main")
	for _, secret := range []string{"key-one", "key-two", "hidden-header-value", token} {
		if strings.Contains(ask[string](p, "document.documentElement.outerHTML"), secret) {
			t.Errorf("the page holds the secret %s", secret)
		}
	}
	if !strings.Contains(said, "set, not shown") || !strings.Contains(said, "timeouts.first_token") {
		t.Errorf("the plan is not shown:\n%s", said)
	}
	admin := strings.TrimPrefix(strings.SplitN(h.AdminURL(), "/?", 2)[0], "http://")
	h.write(strings.Replace(text, "reset: 12s", "reset: 15s", 1), strings.Replace(admin, "localhost", "127.0.0.1", 1))
	p.button("main", "Reload now")
	p.wait("the change", "document.querySelector('.changes') && document.querySelector('.changes').innerText.includes('12s -> 15s')")
	h.write("routes: [nonsense", admin)
	p.button("main", "Reload now")
	p.wait("the refusal", "document.querySelector('.reload pre')")
	p.shot("config-light")
	p.prefers("dark")
	p.shot("config-dark")
	p.clean("422")
}
