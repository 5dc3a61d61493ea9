package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const (
	waitTime = 3 * time.Minute // for a state to come; a busy machine needs a part of it
)

// tab is a page of the browser and what it complained about.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	errors []string
}

// open makes a tab with a memory of its own.
func open(t *testing.T, url string) *tab {
	t.Helper()
	p := &tab{t: t}
	ctx, cancel := chromedp.NewContext(chrome, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.listen))
	t.Cleanup(cancel)
	p.ctx = ctx
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as this context
		t.Fatal(err)
	}
	p.size(1440, 960)
	p.prefers("light")
	p.do(chromedp.Navigate(url))
	return p
}

func (p *tab) listen(ev any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := ev.(type) {
	case *runtime.EventExceptionThrown:
		text, _ := json.Marshal(e.ExceptionDetails)
		p.errors = append(p.errors, "exception: "+string(text))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			text, _ := json.Marshal(e.Args)
			p.errors = append(p.errors, "console: "+string(text))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError {
			p.errors = append(p.errors, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	}
}

// clean fails the test if the page complained, except about what is expected.
func (p *tab) clean(expected ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
next:
	for _, e := range p.errors {
		for _, x := range expected {
			if strings.Contains(e, x) {
				continue next
			}
		}
		p.t.Errorf("the page complains: %s", e)
	}
	p.errors = nil
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitTime)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// lookEvery is how often a page is asked for a state.
const lookEvery = 50 * time.Millisecond

// wait waits until an expression of the page is true.
func (p *tab) wait(what, expression string) {
	p.t.Helper()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	end := time.NewTimer(waitTime)
	defer end.Stop()
	for !ask[bool](p, "Boolean("+expression+")") {
		select {
		case <-tick.C:
		case <-end.C:
			p.shot("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
			p.t.Fatalf("%s: did not come; the page says:\n%.1500s", what, p.text("body"))
		}
	}
}

// text is what a part of the page shows, "" if it is not there.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return ask[string](p, fmt.Sprintf("(document.querySelector(%q) || {innerText: ''}).innerText", selector))
}

// ask evaluates an expression.
func ask[T any](p *tab, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitTime)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	return out
}

// click clicks what a selector names.
func (p *tab) click(selector string) {
	p.t.Helper()
	find := fmt.Sprintf("document.querySelector(%q)", selector)
	p.wait(selector, find)
	ask[bool](p, find+".click() || true")
}

// button clicks the button with a text within what a selector names.
func (p *tab) button(within, text string) {
	p.t.Helper()
	find := fmt.Sprintf("[...document.querySelectorAll(%q)].find((b) => b.textContent.trim() === %q)", within+" button", text)
	p.wait("the button "+text, find)
	ask[bool](p, find+".click() || true")
}

// keys types keys into the page.
func (p *tab) keys(keys string) { p.t.Helper(); p.do(chromedp.KeyEvent(keys)) }

// command sends a command of the browser's own.
func command[P, R any](p *tab, c cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, waitTime)
	defer cancel()
	out, err := chromedp.Call(ctx, c, params)
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// size sets the window, in CSS pixels.
func (p *tab) size(width, height int64) {
	p.t.Helper()
	command(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 600})
}

// prefers sets the colour scheme of the system.
func (p *tab) prefers(scheme string) {
	p.t.Helper()
	command(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// shot keeps a picture of the whole page.
func (p *tab) shot(name string) {
	p.t.Helper()
	ask[bool](p, "document.getAnimations().forEach((a) => a.finish()) || true")
	all := true
	picture := command(p, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &all}).Data
	dir := filepath.Join("..", "..", "artefacts", "browser")
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Errorf("no picture %s: %v", name, err)
	}
}

// tile waits until an upstream's tile has turned to a state.
func (p *tab) tile(upstream, state string) {
	p.t.Helper()
	p.wait("the tile of "+upstream+" turns to "+state, fmt.Sprintf("document.querySelector('.tile[data-upstream=%q][data-state=%q]')", upstream, state))
}
