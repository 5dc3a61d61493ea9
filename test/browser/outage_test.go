package browser

import (
	"strings"
	"testing"
)

func TestAnOutageIsSeenAsItHappens(t *testing.T) {
	h := newGateway(t, text)
	p := open(t, h.dashboard())
	p.tile("primary", "closed")
	if ask[bool](p, "location.href.includes('token')") {
		t.Error("the token stays in the address bar")
	}
	h.load()
	p.wait("calls that the primary answers", "document.querySelector('#verdict').className.includes('tone-primary')")
	p.shot("now-calm-light")

	h.set(h.primary, "hang")
	p.tile("primary", "open")
	p.wait("the verdict", "document.querySelector('#verdict').className.includes('tone-failed')")
	p.wait("the backup answers", "document.querySelector('#verdict').innerText.includes('backup')")
	if said := p.text("#verdict"); !strings.Contains(said, "primary is out") || !strings.Contains(said, "Nothing to do") {
		t.Errorf("the verdict says %q", said)
	}
	p.wait("the transition is told", "document.querySelector('.happened').innerText.includes('closed → open')")
	p.shot("now-outage-light")
	p.prefers("dark")
	p.shot("now-outage-dark")

	h.set(h.primary, "ok")
	p.tile("primary", "closed")
	p.shot("now-recovered-dark")
	p.clean()
}
