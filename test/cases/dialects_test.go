package cases

import (
	"fmt"
	"strings"
	"testing"
)

// Rows of the page that speak of other dialects than the rest of it, in the
// dialect that the row names.

func TestF02WarmButTokenlessInOtherDialects(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		fixture *fixture
		script  script
	}{
		"c message_start, then pings": {&messagesFixture, then(opened(messagesHead(primaryVoice)...), func(x *exchange) { x.every(0.5, 1, messagesFixture.ping) })},
		"d created and in progress": {&responsesFixture, then(opened(responsesHead(primaryVoice)...), func(x *exchange) {
			x.every(0.5, 1, responsesHead(primaryVoice)[1])
		})},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, row.fixture, row.fixture, row.script)
			g := start(t, setup{primary: p, backup: b, scaled: true})
			a := g.ask(call{fixture: row.fixture, stream: true})
			a.fromBackup("hang")
			near(t, "the status line", a.opened, usual.sec(4.5))
			g.tried("primary", "hang/first_token")
			g.counts("primary", 1)
		})
	}
}

func TestF04ThinkingIsProgressInTheAnthropicDialect(t *testing.T) {
	t.Parallel()
	const p40 pace = 40 // 120 s are 3 s here
	l := &messagesFixture
	p, b := pairOf(t, l, l, then(opened(messagesHead(primaryVoice)...), func(x *exchange) {
		pings := func(from, to float64) {
			for s := from; s < to && x.at(s); s += 15 {
				x.event(l.ping)
			}
		}
		pings(15, 60)
		x.at(60)
		x.event(named("content_block_start", `,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`),
			named("content_block_delta", `,"index":0,"delta":{"type":"thinking_delta","thinking":"hm"}`))
		pings(75, 120)
		if x.at(120) {
			x.event(named("content_block_delta", `,"index":0,"delta":{"type":"signature_delta","signature":"s"}`), named("content_block_stop", `,"index":0`),
				named("content_block_start", `,"index":1,"content_block":{"type":"text","text":""}`),
				named("content_block_delta", `,"index":1,"delta":{"type":"text_delta","text":"ab"}`), named("content_block_stop", `,"index":1`),
				named("message_delta", `,"delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}`), named("message_stop", ""))
			x.cleanEnd()
		}
	}))
	p.pace = p40
	g := start(t, setup{primary: p, backup: b, first: p40.sec(120), idle: p40.sec(120)})
	a := g.ask(call{fixture: l, stream: true})
	if r := a.success("primary", "ab"); r.think != "hm" {
		t.Errorf("the thought is %q\n%s", r.think, a.show())
	}
	if a.opened > p40.sec(100) {
		t.Errorf("a thought does not commit: the status line came after %s", a.opened)
	}
	b.saw(0)
	g.tried("primary", "ok")
	g.counts("primary", 0)
}

func TestF13ErrorAfterAHarmlessPreambleInOtherDialects(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		fixture *fixture
		script  script
		outcome string
	}{
		"b created, in progress, error": {&responsesFixture, streamed(append(responsesHead(primaryVoice), responsesFixture.busy)...), "broken/server"},
		"b created, in progress, failed": {&responsesFixture, streamed(append(responsesHead(primaryVoice),
			named("response.failed", `,"sequence_number":2,"response":{"id":"c1","object":"response","status":"failed","error":{"code":"server_is_overloaded","message":"m"},"output":[]}`))...), "broken/overload"},
		"c message_start, ping, error": {&messagesFixture, streamed(messagesHead(primaryVoice)[0], messagesFixture.ping, messagesFixture.busy), "broken/overload"},
		"d status 529":                 {&messagesFixture, status(529, messagesFixture.busyBody), "broken/overload"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, row.fixture, row.fixture, row.script)
			g := start(t, setup{primary: p, backup: b})
			g.ask(call{fixture: row.fixture, stream: true}).fromBackup(row.outcome)
			g.tried("primary", row.outcome)
			g.counts("primary", 1)
		})
	}
	t.Run("e the same after three deltas", func(t *testing.T) {
		t.Parallel()
		p, b := pairOf(t, &messagesFixture, &messagesFixture, streamed(append(messagesFixture.begun(primaryVoice, "a", "b", "c"), messagesFixture.busy)...))
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{fixture: &messagesFixture, stream: true})
		a.brokenOff("abc", "upstream_unavailable")
		if strings.Contains(a.body(), "message_stop") || !strings.Contains(a.body(), "event: error\n") {
			t.Errorf("want an error event and no message_stop\n%s", a.show())
		}
		b.saw(0)
		g.tried("primary", "broken/overload")
		g.counts("primary", 1)
	})
}

// TestF30FinishReasonWithoutContentOfGeminiItself has the row's dialect
// upstream, and callers of that dialect and of all others.
func TestF30FinishReasonWithoutContentOfGeminiItself(t *testing.T) {
	t.Parallel()
	words := map[string]map[string]string{ // of each caller's dialect
		"NO_IMAGE":   {"chat": "content_filter", "responses": "content_filter", "messages": "refusal", "gemini": "NO_IMAGE"},
		"SAFETY":     {"chat": "content_filter", "responses": "content_filter", "messages": "refusal", "gemini": "SAFETY"},
		"MAX_TOKENS": {"chat": "length", "responses": "max_output_tokens", "messages": "max_tokens", "gemini": "MAX_TOKENS"},
	}
	everyFixture(t, func(t *testing.T, l *fixture) {
		p, b := pairOf(t, &geminiFixture, l, nil)
		g := start(t, setup{primary: p, backup: b})
		for reason, want := range words {
			body := fmt.Sprintf(`{"candidates":[{"finishReason":%q,"index":0}],"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":"m","responseId":"c1"}`, reason)
			p.play(func(x *exchange) {
				if x.streams() {
					streamed("data: " + body)(x)
					return
				}
				x.json(200, body)
			})
			for form, stream := range bothForms {
				a := g.ask(call{fixture: l, stream: stream})
				if r := a.success("primary", ""); r.finish != want[l.name] || strings.Contains(a.body(), `"choices":[],"finish`) {
					t.Errorf("%s, %s: finish %q, want %q\n%s", reason, form, r.finish, want[l.name], a.show())
				}
			}
		}
		p.saw(2 * len(words))
		b.saw(0)
		g.counts("primary", 0)
		p.play(status(200, `{"usageMetadata":{"promptTokenCount":10,"totalTokenCount":10},"modelVersion":"m"}`))
		g.ask(call{fixture: l}).fromBackup("garbled/blank") // row d: no candidates
		g.counts("primary", 0)
	})
}
