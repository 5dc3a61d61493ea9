package cases

import (
	"testing"
)

// Section 6: habits of vendors.

func TestF29AzuresFirstChunk(t *testing.T) {
	t.Parallel()
	const first = `data: {"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`
	for form, stream := range bothForms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, streamed(first, role(), tok("a"), tok("b"), end("stop"), usage(10, 2), done))
			g := start(t, setup{primary: p, backup: b, unary: "stream"})
			g.ask(call{stream: stream}).success("primary", "ab")
			if r := g.last(1); r.Input != 10 || r.Output != 2 {
				t.Errorf("usage on record is %d/%d, want 10/2", r.Input, r.Output)
			}
			g.counts("primary", 0)
		})
	}
	t.Run("it does not commit", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(opened(first), hold))
		g := start(t, setup{primary: p, backup: b, scaled: true})
		a := g.ask(call{stream: true})
		a.fromBackup("hang")
		near(t, "the status line", a.opened, usual.sec(4.5))
	})
}

// TestF30FinishReasonWithoutContent is the row in the form of relays, where the
// message stays as it came; Gemini's own form has a test of its own.
func TestF30FinishReasonWithoutContent(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{"NO_IMAGE": "content_filter", "SAFETY": "content_filter", "MAX_TOKENS": "length"} {
		for shape, message := range map[string]string{"no content": `{"role":"assistant"}`, "null": `{"role":"assistant","content":null}`} {
			t.Run(reason+", "+shape, func(t *testing.T) {
				t.Parallel()
				p, b := pair(t, status(200, `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":`+message+`,"finish_reason":"`+reason+`"}],"usage":`+usageOf(10, 0)+`}`))
				g := start(t, setup{primary: p, backup: b})
				a := g.ask(call{})
				r := a.success("primary", "")
				if r.kind == "success" && (r.finish != want || len(r.chunks[0].Choices) != 1) {
					t.Errorf("finish %q, want one choice and %q\n%s", r.finish, want, a.show())
				}
				p.saw(1)
				b.saw(0)
				g.counts("primary", 0)
			})
		}
		t.Run(reason+", a stream", func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, streamed(role(), end(reason), done))
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{stream: true})
			if r := a.success("primary", ""); r.finish != want {
				t.Errorf("finish %q, want %q\n%s", r.finish, want, a.show())
			}
			b.saw(0)
			g.counts("primary", 0)
		})
	}
}

func TestF31SafetyRefusalsAreNotRoutedAround(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"content_policy_violation", "content_filter"} {
		body := `{"error":{"code":"` + code + `","type":"invalid_request_error","message":"m"}}`
		for form, stream := range bothForms {
			t.Run(code+", "+form, func(t *testing.T) {
				t.Parallel()
				p, b := pair(t, status(400, body))
				g := start(t, setup{primary: p, backup: b, template: "busy"})
				a := g.ask(call{stream: stream})
				if a.status != 400 || a.body() != body || a.header.Get("X-Should-Retry") != "false" {
					t.Errorf("want the upstream's own answer\n%s", a.show())
				}
				p.saw(1)
				b.saw(0)
				g.counts("primary", 0)
				g.parked("primary", "")
			})
		}
		t.Run(code+", the operator's switch", func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, status(400, body))
			g := start(t, setup{primary: p, backup: b, routeYAML: "refusal: next\n"})
			g.ask(call{stream: true}).fromBackup("refused/filter")
			b.saw(1)
			g.counts("primary", 0)
		})
	}
}
