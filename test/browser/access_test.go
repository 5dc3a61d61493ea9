package browser

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func reload() chromedp.Action[chromedp.Void] { return chromedp.Reload() }

// axe is the text of axe-core, fetched once with npm from the lock file.
var axe = sync.OnceValues(func() (string, error) {
	file := filepath.Join("node_modules", "axe-core", "axe.min.js")
	if _, err := os.Stat(file); err != nil {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return "", err
		}
		if out, err := exec.Command(npm, "ci", "--no-audit", "--no-fund").CombinedOutput(); err != nil {
			return "", fmt.Errorf("npm ci: %w: %s", err, out)
		}
	}
	text, err := os.ReadFile(file)
	return string(text), err
})

type finding struct{ ID, Impact, Help, Node string }

func TestEveryScreenIsAccessible(t *testing.T) {
	script, err := axe()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("axe-core is not there (Debian: apt-get install npm): %v", err)
		}
		t.Skipf("axe-core is not there: %v", err)
	}
	h := newGateway(t, text)
	id := h.failedOver("503")
	stop := h.load()
	p := open(t, h.dashboard())
	command(p, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
	p.wait("the first screen", "document.querySelector('.tile')")
	p.tile("primary", "open")
	h.set(h.primary, "429:retry-after=600")
	for _, scheme := range []string{"light", "dark"} {
		p.prefers(scheme)
		for _, name := range []string{"now", "upstreams", "calls", "calls/" + id, "config", "drill"} {
			ask[bool](p, "location.hash = '#/"+name+"', true")
			p.wait("the screen "+name, "document.querySelector('main .panel') && document.querySelector('main h1')")
			p.wait("nothing moves", "document.getAnimations().filter((a) => a.playState === 'running' && a.effect.getComputedTiming().endTime < 1e6).length === 0 || (document.getAnimations().forEach((a) => a.finish()), false)")
			ask[bool](p, "window.axe ? true : ((0, eval)("+quotedJS(script)+"), true)")
			for _, f := range ask[[]finding](p, `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
			  .then((r) => r.violations.flatMap((v) => v.nodes.slice(0, 3).map((n) => ({ ID: v.id, Impact: v.impact, Help: v.help, Node: n.html.slice(0, 160) + ' ' + (n.failureSummary || '').slice(0, 300) }))))`) {
				t.Errorf("%s, %s: %s (%s): %s: %s", name, scheme, f.ID, f.Impact, f.Help, f.Node)
			}
		}
	}
	stop()
	p.shot("drill-parked-dark")
	ask[bool](p, "location.hash = '#/upstreams', true")
	p.wait("the upstreams", "document.querySelector('.card')")
	p.shot("upstreams-dark")
	p.prefers("light")
	p.shot("upstreams-light")
	p.clean()
}

// quotedJS is a long script as one string.
func quotedJS(s string) string {
	return strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(fmt.Sprintf("%q", s))
}
