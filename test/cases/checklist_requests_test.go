package cases

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Lines R of the checklist of what the SDKs expect (docs/checklist.md), for
// callers of every dialect.

// callerKeys are the headers that SDKs send a key in.
var callerKeys = []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

const callerKey = "a-key-of-a-caller-0123456789"

func keyOf(header, key string) map[string]string {
	if header == "Authorization" {
		key = "Bearer " + key
	}
	return map[string]string{header: key}
}

func TestChecklistR1KeysAndPathsOfEverySDK(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, l *fixture) {
		p, b := pairOf(t, l, l, l.healthy(primaryVoice, "ab"))
		g := start(t, setup{primary: p, backup: b, topYAML: "callers:\n  - {name: web, key: " + callerKey + "}\n"})
		for _, header := range callerKeys {
			for form, stream := range bothForms {
				paths := []string{l.path(stream), strings.Replace(l.path(stream), "/v1/", "/", 1), strings.Replace(l.path(stream), "/v1beta/", "/v1/", 1)}
				for _, path := range paths {
					a := g.ask(call{fixture: l, path: path, stream: stream, header: keyOf(header, callerKey)})
					if r := a.read(); r.kind != "success" || r.text != "ab" {
						t.Errorf("%s with %s, %s\n%s", path, header, form, a.show())
					}
				}
			}
			if a := g.ask(call{fixture: l, header: keyOf(header, "a-wrong-key-0123456789")}); a.status != http.StatusUnauthorized {
				t.Errorf("a wrong key in %s\n%s", header, a.show())
			}
		}
		unknown := map[string]string{"chat": "/v1/chat/nowhere", "responses": "/v1/responses/nowhere/x", "messages": "/v1/messages/nowhere", "gemini": "/v1beta/nowhere"}
		a := g.ask(call{fixture: l, path: unknown[l.name], header: keyOf("X-Api-Key", callerKey)})
		a.refused(http.StatusNotFound, "not_found")
	})
}

func TestChecklistR2UnknownFieldsAndTheirOrderSurvive(t *testing.T) {
	t.Parallel()
	const odd = `"zz_unknown" : {"b":[1 , 2.50,1e3],"a":"\u00e9\/" },"aa_last":null`
	everyFixture(t, func(t *testing.T, l *fixture) {
		p, b := pairOf(t, l, l, l.healthy(primaryVoice, "ab"))
		g := start(t, setup{primary: p, backup: b, primaryYAML: "quirks: {tool_id_max: 128}\n"})
		// Where the body names a model, the configured one takes its place.
		body := strings.Replace(l.with(false, odd), `"asked"`, `"m"`, 1)
		g.ask(call{fixture: l, body: body}).success("primary", "ab")
		if got := p.requests()[0].body; got != body {
			t.Errorf("the upstream gets\n%s\nwant\n%s", got, body)
		}
	})
}

func TestChecklistR3StainlessHeadersAreReadAndNothingOfTheHopGoesOn(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, l *fixture) {
		t.Run("a repeated request is not repeated here", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, l, l, status(500, `{"error":{"message":"x"}}`))
			g := start(t, setup{primary: p, backup: b, retries: 1})
			g.ask(call{fixture: l, stream: true, header: map[string]string{"X-Stainless-Retry-Count": "1"}}).fromBackup("broken/server")
			p.saw(1)
			g.ask(call{fixture: l, stream: true, header: map[string]string{"X-Stainless-Retry-Count": "0"}}).fromBackup("broken/server")
			p.saw(3)
		})
		t.Run("a timeout of the SDK is a deadline", func(t *testing.T) {
			t.Parallel()
			p := newFakeOf(t, "primary", l, hold)
			g := start(t, setup{primary: p})
			a := g.ask(call{fixture: l, stream: true, header: map[string]string{"X-Stainless-Timeout": "1"}})
			a.refused(http.StatusGatewayTimeout, "deadline_exceeded")
			if a.took < time.Second {
				t.Errorf("after %s", a.took)
			}
		})
		t.Run("nothing of the connection and no key goes on", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, l, l, l.healthy(primaryVoice, "ab"))
			g := start(t, setup{primary: p, backup: b, topYAML: "callers:\n  - {name: web, key: " + callerKey + "}\n"})
			header := keyOf(l.keys, callerKey)
			for name, value := range map[string]string{"Te": "trailers", "Proxy-Authorization": "Basic eDp5", "X-A": "1", "Keep-Alive": "timeout=5", "Cookie": "s=1", "X-Forwarded-For": "10.1.2.3", "X-Backstop-Timeout-Ms": "9000", "X-Stainless-Retry-Count": "0"} {
				header[name] = value
			}
			g.ask(call{fixture: l, header: header}).success("primary", "ab")
			x := p.requests()[0]
			for name := range header {
				if name != l.keys && x.header.Get(name) != "" && !strings.HasPrefix(name, "X-Stainless-") {
					t.Errorf("the upstream sees %s: %s", name, x.header.Get(name))
				}
			}
			if strings.Contains(x.head+x.body, callerKey) || !strings.HasSuffix(x.header.Get(l.keys), primaryKey) {
				t.Errorf("the upstream's key is not its own:\n%s", x.head)
			}
			for _, name := range callerKeys {
				if name != l.keys && x.header.Get(name) != "" {
					t.Errorf("there is a second key in %s", name)
				}
			}
		})
	})
}

func TestChecklistR4ACallerWhoLeavesCancelsTheUpstream(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b, unary: "stream"})
		begun := then(opened(up.begun(primaryVoice, "first")...), hold)
		for i, row := range []struct {
			script script
			stream bool
			sees   string
		}{{hold, true, ""}, {begun, true, "first"}, {begun, false, ""}, {hold, false, ""}} {
			p.play(row.script)
			a := g.open(call{fixture: caller, stream: row.stream})
			eventually(t, "the request is at the primary", func() bool { return p.count() == i+1 })
			if row.sees != "" {
				a.has(row.sees)
			}
			a.leave()
			before(t, 100*time.Millisecond, "the connection upstream is closed", func() bool { return p.open() == 0 })
			if r := g.last(i + 1); r.Outcome != "canceled" || len(r.Attempts) != 1 {
				t.Errorf("on record as %s with %d attempts", r.Outcome, len(r.Attempts))
			}
		}
		b.saw(0)
		g.counts("primary", 0)
	})
}

func TestChecklistR5UsageIsToldIffItWasAskedFor(t *testing.T) {
	t.Parallel()
	for _, up := range []*fixture{&chatFixture, &messagesFixture, &geminiFixture} {
		t.Run(up.name+" upstream", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, up, up, up.healthy(primaryVoice, "a", "b"))
			g := start(t, setup{primary: p, backup: b})
			for i, more := range []string{`"stream_options":{"include_usage":true}`, "", `"stream_options":{"include_usage":false}`} {
				a := g.ask(call{stream: true, more: more})
				r := a.success("primary", "ab")
				want := 0
				if i == 0 {
					want = 1
				}
				if len(r.usages) != want || want == 1 && (r.usages[0] != usageForm{10, 2, 12} || len(r.chunks[len(r.chunks)-1].Choices) != 0) {
					t.Errorf("%q: usages %v, want %d in a chunk of their own, last\n%s", more, r.usages, want, a.show())
				}
				if rec := g.last(i + 1); rec.Input != 10 || rec.Output != 2 {
					t.Errorf("usage on record is %d/%d, want 10/2", rec.Input, rec.Output)
				}
			}
			if up == &chatFixture && strings.Count(p.requests()[1].body, `"include_usage":true`) != 1 {
				t.Errorf("the upstream is not asked for usage: %s", p.requests()[1].body)
			}
		})
	}
}

// The strict reader of the Responses form checks that numbers grow, that the
// deltas add up to the end and that nothing stands behind it.
func TestChecklistR6ResponsesStreamsAreNumberedAndCompleted(t *testing.T) {
	t.Parallel()
	for _, up := range []*fixture{&chatFixture, &responsesFixture, &messagesFixture, &geminiFixture} {
		t.Run(up.name+" upstream", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, up, &responsesFixture, up.healthy(primaryVoice, "a", "b"))
			g := start(t, setup{primary: p, backup: b})
			g.ask(call{fixture: &responsesFixture}).success("primary", "ab")
			a := g.ask(call{fixture: &responsesFixture, stream: true})
			a.success("primary", "ab")
			events := a.events()
			if first, last := events[0], events[len(events)-1]; first.name != "response.created" || last.name != "response.completed" {
				t.Errorf("from %s to %s\n%s", first.name, last.name, a.show())
			}
			if up == &responsesFixture {
				return
			}
			numbers := regexp.MustCompile(`"sequence_number":(\d+)`).FindAllStringSubmatch(a.body(), -1)
			for i, n := range numbers {
				if n[1] != fmt.Sprint(i) {
					t.Errorf("event %d has the number %s\n%s", i, n[1], a.show())
					break
				}
			}
		})
	}
}
