package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

func TestEverythingIsReachedWithTheKeyboard(t *testing.T) {
	h := newGateway(t, text)
	h.failedOver("503")
	p := open(t, h.dashboard())
	p.wait("the first screen", "document.querySelector('.tile')")
	at := func(hash string) { p.wait("the screen "+hash, "location.hash === '"+hash+"'") }
	p.keys("2")
	at("#/upstreams")
	p.keys("5")
	at("#/drill")
	p.keys("3")
	at("#/calls")
	p.wait("the calls", "document.querySelector('tbody a')")
	p.keys("j")
	p.wait("the first call has the focus", "document.activeElement === document.querySelector('tbody a')")
	p.keys(kb.Enter)
	p.wait("the timeline", "document.querySelector('.timeline')")
	p.keys(kb.Escape)
	at("#/calls")
	p.wait("the search", "document.querySelector('#find')") // the address changes first
	p.keys("/")
	p.wait("the search has the focus", "document.activeElement.id === 'find'")
	p.keys("5nothing")
	p.wait("keys that are typed are text", "document.querySelector('#find').value.endsWith('5nothing') && location.hash === '#/calls'")
	p.keys(kb.Escape)
	p.keys("?")
	p.wait("the list of keys", "document.querySelector('dialog[open]')")
	p.keys(kb.Escape)
	p.wait("it is closed", "!document.querySelector('dialog')")
	p.keys("1")
	at("#/now")
	p.wait("the first screen", "document.querySelector('.tile')")
	p.keys("t")
	p.wait("the dark theme", "document.documentElement.dataset.theme === 'dark'")
	p.keys("l")
	p.wait("Chinese", "document.documentElement.lang === 'zh-CN' && document.querySelector('nav').innerText.includes('现状')")
	p.shot("now-chinese-dark")
	// Both are kept.
	p.do(reload())
	p.wait("they are kept", "document.documentElement.dataset.theme === 'dark' && document.querySelector('nav') && document.querySelector('nav').innerText.includes('现状')")

	// Tab goes through what can be used in the order of the page, and it is seen.
	p.wait("the first screen again", "document.querySelector('.tile')")
	var order []string
	for range 12 {
		p.keys(kb.Tab)
		order = append(order, ask[string](p, "(document.activeElement.innerText || document.activeElement.ariaLabel || document.activeElement.tagName).slice(0, 20)"))
		if ask[string](p, "getComputedStyle(document.activeElement).outlineStyle") == "none" {
			t.Errorf("the focus on %q is not seen", order[len(order)-1])
		}
	}
	if got := strings.Join(order, "|"); !strings.HasPrefix(got, "跳到正文|Backstop|现状|上游|调用|配置|演练|") {
		t.Errorf("the order of the focus is %s", got)
	}
	p.clean()
}
