package backstophttp

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// fixture is one dialect as its callers and upstreams use it in a test. What it
// says is made out of the words of the hub, so every test holds for all of them.
type fixture struct{ room wire.HubRoom }

func fixtureOf(d backstop.Dialect) fixture { return fixture{Rooms()[d].(wire.HubRoom)} }

// pairs runs a test for each caller and each upstream of another dialect.
func pairs(t *testing.T, test func(t *testing.T, caller, up fixture)) {
	for from := range Rooms() {
		for to := range Rooms() {
			if from == to || to == backstop.Responses {
				continue
			}
			t.Run(string(from)+" caller, "+string(to)+" upstream", func(t *testing.T) { test(t, fixtureOf(from), fixtureOf(to)) })
		}
	}
}

// everyPair runs a test for each caller and each upstream.
func everyPair(t *testing.T, test func(t *testing.T, caller, up fixture)) {
	pairs(t, test)
	for d := range Rooms() {
		t.Run(string(d)+" caller and upstream", func(t *testing.T) { test(t, fixtureOf(d), fixtureOf(d)) })
	}
}

// forms runs a test for stream callers and others.
func forms(t *testing.T, test func(t *testing.T, stream bool)) {
	for name, stream := range map[string]bool{"unary": false, "stream": true} {
		t.Run(name, func(t *testing.T) { test(t, stream) })
	}
}

// question is the smallest prompt.
func question(stream bool) *wire.Prompt {
	return &wire.Prompt{
		Op: wire.Chat, Model: "m", Stream: stream, UsageOn: stream, Choices: 1, MaxTokens: 100,
		Turns: []wire.Turn{{Role: wire.ByAsker, Parts: []wire.Part{{Kind: wire.PartText, Text: "hi"}}}},
	}
}

func withTool(p *wire.Prompt) *wire.Prompt {
	p.Tools = []wire.Tool{{Name: "look", Description: "looks", Schema: []byte(`{"type":"object","properties":{"at":{"type":"string"}}}`)}}
	return p
}

func withSchema(p *wire.Prompt) *wire.Prompt {
	p.Promise = wire.Promise{Kind: wire.PromiseSchema, Schema: []byte(`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`)}
	p.PromiseName = "answer"
	return p
}

// asks is a caller's request.
func (g fixture) asks(t testing.TB, p *wire.Prompt) *wire.Request {
	t.Helper()
	own := *p
	own.Dialect = g.room.Dialect()
	out, losses := g.room.FromHub(&own, &backstop.Upstream{Vendor: vendorOf(g.room.Dialect())}, &backstop.Step{Model: "m", Plain: !p.Stream})
	if len(losses.Cannot) > 0 {
		t.Fatalf("%s cannot say %v", g.room.Dialect(), losses.Cannot)
	}
	op := wire.Chat
	if g.room.Dialect() == backstop.Responses {
		op = wire.Responses
	}
	r, fail := g.room.Read(op, out.Body)
	if fail != nil {
		t.Fatalf("%s: %v", out.Body, fail)
	}
	r.Model, r.Stream = "m", p.Stream
	return r
}

// vendorOf is whose models and habits an upstream of the dialect has.
func vendorOf(d backstop.Dialect) string {
	switch d {
	case backstop.Anthropic:
		return "anthropic"
	case backstop.Gemini:
		return "gemini"
	}
	return "generic"
}

// says is a stream of an upstream, an event a string. It ends as the dialect
// has it unless the last delta is none that ends.
func (g fixture) says(list ...wire.Delta) []string {
	e := g.room.Encoder(wire.Head{ID: "id_" + string(g.room.Dialect()), Created: 1, Model: "m-" + string(g.room.Dialect())})
	w := g.room.Writer(&wire.Request{Dialect: g.room.Dialect(), Op: wire.Chat, Stream: true, UsageOn: true, Choices: 1})
	var out []string
	for i := range list {
		for _, f := range e.Encode(list[i : i+1]) {
			if b := w.Event(&sse.Event{Name: f.Name, Data: f.Data}, &wire.Signal{Kind: f.Kind}); len(b) > 0 {
				out = append(out, string(b))
			}
		}
	}
	if b := w.Close(nil); len(b) > 0 {
		out = append(out, string(b))
	}
	return out
}

// tells is a whole answer of text.
func (g fixture) tells(pieces ...string) []string {
	return g.says(append(texts(pieces...), ended(wire.EndStop)...)...)
}

// begins is the begin of an answer, and what follows it.
func (g fixture) begins(pieces []string, then ...string) []string {
	return append(g.says(texts(pieces...)...), then...)
}

// calls is a whole answer that calls a tool.
func (g fixture) calls(arguments ...string) []string {
	list := []wire.Delta{{Kind: wire.DeltaStart, ID: "a1", Model: "mu"}, {Kind: wire.DeltaCall, ID: "call_1", Name: "look"}}
	for _, text := range arguments {
		list = append(list, wire.Delta{Kind: wire.DeltaArguments, Text: text})
	}
	return g.says(append(append(list, wire.Delta{Kind: wire.DeltaPartEnd}), ended(wire.EndTools)...)...)
}

func texts(pieces ...string) []wire.Delta {
	list := []wire.Delta{{Kind: wire.DeltaStart, ID: "a1", Model: "mu", Created: 1}}
	for _, text := range pieces {
		list = append(list, wire.Delta{Kind: wire.DeltaText, Text: text})
	}
	return list
}

func ended(e wire.Ending) []wire.Delta {
	u := wire.NoUsage()
	u.Input, u.Output = 10, 5
	return []wire.Delta{{Kind: wire.DeltaFinish, Ending: e}, {Kind: wire.DeltaUsage, Usage: u}, {Kind: wire.DeltaDone}}
}

// plain is the plain body of a stream.
func (g fixture) plain(events []string) string { return string(g.sum(strings.Join(events, ""))) }

// sum puts a stream together.
func (g fixture) sum(stream string) []byte {
	whole := g.room.Aggregator(&wire.Request{Dialect: g.room.Dialect(), Op: wire.Chat, Stream: true, UsageOn: true, Choices: 1})
	for list := sse.NewReader(strings.NewReader(stream), 0); ; {
		ev, err := list.Next()
		if err != nil {
			return whole.Body()
		}
		if !ev.Comment {
			whole.Add(ev.Data)
		}
	}
}

// heard is what a caller makes of an answer.
type heard struct {
	body    []byte
	verdict backstop.Outcome
	text    string
	calls   []wire.Part
	ending  wire.Ending
	usage   wire.Usage
}

// hears reads an answer as a caller of the dialect does.
func (g fixture) hears(t testing.TB, stream bool, got string) (h heard) {
	t.Helper()
	h.body = []byte(got)
	if stream {
		h.body = g.sum(got)
		h.verdict = g.judges(got)
	}
	m, ok := g.room.DecodeBody(h.body)
	if !ok || len(m.Choices) == 0 {
		return h
	}
	h.usage, h.ending = m.Usage, m.Choices[0].Ending
	for _, p := range m.Choices[0].Parts {
		switch p.Kind {
		case wire.PartText:
			h.text += p.Text
		case wire.PartToolCall:
			h.calls = append(h.calls, p)
		}
	}
	return h
}

// judges follows a stream as a reader of the dialect.
func (g fixture) judges(stream string) backstop.Outcome {
	read := g.room.Reader(&wire.Request{Op: wire.Chat, Stream: true, Choices: 1}, &wire.Reply{Status: 200, Dialect: g.room.Dialect(), Caller: g.room.Dialect()})
	for list := sse.NewReader(strings.NewReader(stream), 0); ; {
		ev, err := list.Next()
		if err != nil {
			return read.End(true)
		}
		if sig := read.Event(ev); sig.Kind == wire.Fault {
			return *sig.Outcome
		}
	}
}

// speak makes upstreams speak dialects.
func speak(primary, backup fixture, more ...func(*backstop.Plan)) func(*backstop.Plan) {
	return func(p *backstop.Plan) {
		for i, g := range [...]fixture{primary, backup} {
			p.Upstreams[i].Dialect, p.Upstreams[i].Vendor = g.room.Dialect(), vendorOf(g.room.Dialect())
			if g.room.Dialect() == backstop.Responses { // one that serves such calls itself
				p.Upstreams[i].Dialect, p.Upstreams[i].Vendor = backstop.OpenAI, "openai"
			}
		}
		for _, change := range more {
			change(p)
		}
	}
}

// ask serves a call of a caller of the dialect.
func (h *house) ask(g fixture, p *wire.Prompt) (*page, *backstop.Event) {
	h.t.Helper()
	return h.serve(context.Background(), &Call{Request: g.asks(h.t, p), ID: "req_1", Caller: "web"})
}

// wrapped answers with a plain body.
func wrapped(text string) http.HandlerFunc { return body(200, text) }

// shows reports whether an answer has the x_backstop object with some words.
func shows(answer []byte, words ...string) bool {
	_, note, ok := bytes.Cut(answer, []byte(`"x_backstop":`))
	for _, word := range words {
		ok = ok && bytes.Contains(note, []byte(word))
	}
	return ok
}
