package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// failedOver sends calls at a broken primary until one was answered by the
// backup, and returns its id.
func (h *gateway) failedOver(fault string) string {
	h.t.Helper()
	h.set(h.primary, fault)
	id := h.call("gpt-4o")
	if id == "" {
		h.t.Fatal("the call got no answer")
	}
	return id
}

func TestTheTimelineOfACallIsTheTrueOne(t *testing.T) {
	h := newGateway(t, text)
	id := h.failedOver("hang")
	p := open(t, h.dashboard())
	p.wait("the frame", "document.querySelector('nav')")
	ask[bool](p, "location.hash = '#/calls', true")
	p.wait("the call in the list", fmt.Sprintf("document.querySelector('a[href=\"#/calls/%s\"]')", id))
	p.shot("calls-light")
	p.click(fmt.Sprintf("a[href=%q]", "#/calls/"+id))
	p.wait("the timeline", "document.querySelector('#sentence') && document.querySelectorAll('.timeline .row').length > 2")
	p.shot("why-light")
	said := p.text("main")
	for _, want := range []string{"backup answered after", "primary failed: hang", "try 1: primary as gpt-4o", "primary: hang", "try 2: backup as backup-model", "first token from backup", "HTTP 200"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q:\n%s", want, said)
		}
	}
	// What is drawn and what is said are what the gateway remembers.
	type drawn struct {
		Order          []string
		Hang, First    float64
		Start, Attempt float64
	}
	got := ask[drawn](p, `(async () => {
	  const call = await (await fetch('/api/calls/`+id+`')).json();
	  const steps = [...document.querySelectorAll('.steps li')].map((li) => li.innerText);
	  const at = (text) => parseFloat(steps.find((s) => s.includes(text)).replace(/ s\n[^]*/, '')) * (steps.find((s) => s.includes(text)).includes(' s') ? 1000 : 1);
	  return { Order: steps.map((s) => s.split('\n').pop()), Hang: call.attempts[0].duration_ms, Attempt: call.attempts.length, Start: call.attempts[1].start_ms, First: at('primary: hang') };
	})()`)
	if got.Attempt != 2 || got.Hang < 1000 || got.Start < got.Hang || got.First < got.Hang*0.98 || got.First > got.Hang*1.02 {
		t.Errorf("%+v", got)
	}
	place := func(text string) int {
		for i, s := range got.Order {
			if strings.Contains(s, text) {
				return i
			}
		}
		return -1
	}
	if !(place("try 1") < place("primary: hang") && place("primary: hang") < place("try 2") && place("try 2") < place("first token from backup")) {
		t.Errorf("the order is %v", got.Order)
	}
	p.prefers("dark")
	p.shot("why-dark")

	// An id that nobody knows is said, and drawn as text.
	ask[bool](p, "location.hash = '#/calls/nobody', true")
	p.wait("a word about the id", "document.querySelector('[role=alert]')")
	p.clean("404")
}

func TestARequestThatWasPassedOnIsToldAsOne(t *testing.T) {
	files := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/files/none" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer files.Close()
	h := newGateway(t, strings.Replace(text, "base_url: PRIMARY", "passthrough: true, base_url: "+files.URL+"/v1", 1))
	p := open(t, h.dashboard())
	p.wait("the frame", "document.querySelector('nav')")
	for path, want := range map[string]string{
		"/v1/files":      "Passed on to primary, as it was: ok, HTTP 200 after",
		"/v1/files/none": "Passed on to primary, as it was: rejected, HTTP 404 after",
	} {
		resp, err := http.Get(h.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		ask[bool](p, "location.hash = '#/calls/"+resp.Header.Get("X-Request-Id")+"', true")
		p.wait("what was passed on", fmt.Sprintf("document.querySelector('#sentence')?.innerText.startsWith(%q)", want))
	}
	p.clean("")
}
