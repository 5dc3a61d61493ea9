package browser

import (
	"strings"
	"testing"
)

// phone is a configuration with names as long as people give them.
const phone = `listen: "127.0.0.1:0"
admin: {listen: "ADMIN", token: ` + token + `}
drain: {delay: 0s, limit: 5s}
defaults: {allow_private: true, breaker: {reset: 12s}}
upstreams:
  openai-production-eu-west: {dialect: openai, base_url: PRIMARY, keys: [key-one-0123456789, key-two-0123456789], headers: {x-team: hidden-header-value}}
  dashscope-qwen-fallback: {dialect: openai, base_url: BACKUP, limits: {rate: 500, burst: 500}}
routes:
  - model: "*"
    tiers:
      - {upstream: openai-production-eu-west}
      - {upstream: dashscope-qwen-fallback, model: qwen3-235b-a22b-instruct-2507}
      - local: {template: {text: "The assistant is busy, please try again in a minute."}}
`

// tooWide is what sticks out of the page (a browser that pretends to be a phone
// makes its window as wide as that, so the width is told), and cut what hides a
// part of its text: a name may end in an ellipsis where the whole is its title.
const (
	tooWide = `(() => { const x = [...document.querySelectorAll('main *, header *, nav *, footer')].find((e) => e.getBoundingClientRect().right > 391 && !e.closest('.scroll, pre, .hidden')); return x ? x.outerHTML.slice(0, 200) : ''; })()`
	small   = `[...document.querySelectorAll('main button, main select, main input, nav a, header button')].filter((e) => { const r = e.getBoundingClientRect(); return r.width && r.height && (r.height < 24 || r.width < 24); }).map((e) => e.outerHTML.slice(0, 120)).join(' ')`
	cut     = `[...document.querySelectorAll('main *, nav *, header *')].filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible' && !e.closest('.scroll, pre, .hidden, .u-wrap, select') && !e.title).map((e) => e.outerHTML.slice(0, 160)).join(' ')`
)

func TestThePageFitsAPhone(t *testing.T) {
	h := newGateway(t, phone)
	id := h.failedOver("503")
	p := open(t, h.dashboard())
	p.size(390, 844)
	p.wait("the first screen", "document.querySelector('.tile')")
	h.load()
	h.set(h.primary, "hang")
	p.tile("openai-production-eu-west", "open")
	for _, look := range []string{"en-light", "en-dark", "zh-dark", "zh-light"} {
		language, scheme, _ := strings.Cut(look, "-")
		p.prefers(scheme)
		if ask[string](p, "document.documentElement.lang.slice(0, 2)") != language {
			p.click("#lang")
		}
		p.wait("the language", "document.documentElement.lang.startsWith('"+language+"')")
		for _, name := range []string{"now", "upstreams", "calls", "calls/" + id, "config", "drill"} {
			ask[bool](p, "location.hash = '#/"+name+"', true")
			p.wait("the screen "+name, "document.querySelector('main .panel')")
			if wide := ask[int](p, "Math.max(document.documentElement.scrollWidth, innerWidth) - 390"); wide > 0 { // while a tile turns, too
				t.Errorf("%s, %s is %d pixels too wide", name, look, wide)
			}
			ask[bool](p, "document.getAnimations().forEach((a) => a.finish()) || true")
			for what, find := range map[string]string{"sticks out": tooWide, "is cut": cut, "is too small for a finger": small} {
				if found := ask[string](p, find); found != "" {
					t.Errorf("%s, %s: %s: %s", name, look, what, found)
				}
			}
			p.shot("phone-" + strings.Split(name, "/")[0] + map[bool]string{true: "-why"}[strings.Contains(name, "/")] + "-" + look)
		}
	}
	p.clean()
}
