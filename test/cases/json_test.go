package cases

import (
	"encoding/json"
	"strings"
	"testing"
)

// Section 9: JSON mode.

const jsonMode = `"response_format":{"type":"json_object"}`

// pieces are the deltas of a text in parts of n bytes; a character is never cut.
func pieces(text string, n int) (events []string) {
	for text != "" {
		end := min(n, len(text))
		for end < len(text) && text[end]&0xc0 == 0x80 {
			end++
		}
		events = append(events, tok(text[:end]))
		text = text[end:]
	}
	return events
}

// saying answers with a text in either form, with a finish reason.
func saying(text, reason string) script {
	return func(x *exchange) {
		if x.streams() {
			streamed(append(append([]string{role()}, pieces(text, 3)...), end(reason), usage(10, 5), done)...)(x)
			return
		}
		x.json(200, whole(text, reason))
	}
}

func TestF41WrappedJSON(t *testing.T) {
	t.Parallel()
	rows := map[string]struct {
		text   string
		same   bool // it is JSON already
		repair string
		late   bool // known only when the document has gone out
	}{
		"a a fence with its word": {text: "```json\n{\"a\":1}\n```", repair: "fence"},
		"b a bare fence":          {text: "```\n{\"a\":1}\n```", repair: "fence"},
		"c words before":          {text: "Here it is:\n{\"a\":1}", repair: "prose"},
		"d words behind":          {text: "{\"a\":1}\n\nHope this helps", repair: "prose", late: true},
		"e a thought":             {text: "<think>try {\"x\":0}</think>{\"a\":1}", repair: "think"},
		"f a fence inside":        {text: "{\"md\":\"```json\\n{}\\n```\"}", same: true},
	}
	for name, row := range rows {
		for form, stream := range bothForms {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				p, b := pair(t, saying(row.text, "stop"))
				g := start(t, setup{primary: p, backup: b})
				a := g.ask(call{stream: stream, more: jsonMode})
				r := a.read()
				if row.same {
					a.success("primary", row.text)
					if a.header.Get("X-Backstop-Repaired") != "" || r.tail["repaired"] != nil {
						t.Errorf("valid JSON is reported as repaired\n%s", a.show())
					}
					return
				}
				var v map[string]int
				if err := json.Unmarshal([]byte(r.text), &v); r.kind != "success" || err != nil || len(v) != 1 || v["a"] != 1 {
					t.Errorf("got %s %q (%v), want {\"a\":1}\n%s", r.kind, r.text, err, a.show())
				}
				got := a.header.Get("X-Backstop-Repaired")
				if stream {
					if note, _ := r.tail["repaired"].([]any); len(note) != 1 || note[0] != row.repair {
						t.Errorf("the last chunk tells of repairs %v, want %q\n%s", r.tail["repaired"], row.repair, a.show())
					}
				}
				if got != row.repair && !(stream && row.late && got == "") {
					t.Errorf("x-backstop-repaired is %q, want %q\n%s", got, row.repair, a.show())
				}
				if n := g.metric("backstop_json_repairs_total"); n < 1 {
					t.Errorf("%g repairs are counted", n)
				}
				b.saw(0)
				g.counts("primary", 0)
			})
			t.Run(name+", "+form+", nothing promised", func(t *testing.T) {
				t.Parallel()
				p, b := pair(t, saying(row.text, "stop"))
				g := start(t, setup{primary: p, backup: b})
				g.ask(call{stream: stream}).success("primary", row.text)
			})
		}
	}
}

func TestF42TruncatedJSON(t *testing.T) {
	t.Parallel()
	const cut = `{"name":"Jo`
	inArguments := func(x *exchange) {
		x.json(200, `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":`+
			quote(cut)+`}}]},"finish_reason":"length"}],"usage":`+usageOf(10, 5)+`}`)
	}
	marked := func(t *testing.T, a *answer, text string) {
		t.Helper()
		if !strings.HasPrefix(text, cut) || !json.Valid([]byte(text)) {
			t.Errorf("got %q, want the model's bytes and what closes them\n%s", text, a.show())
		}
		if a.header.Get("X-Backstop-Truncated") != "1" {
			t.Errorf("the header does not say truncated\n%s", a.show())
		}
	}
	for name, reason := range map[string]string{"a at the length limit": "length", "c although it says stop": "stop"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, saying(cut, reason))
			g := start(t, setup{primary: p, backup: b, routeYAML: "json: {truncated: mark}\n"})
			a := g.ask(call{more: jsonMode})
			r := a.read()
			marked(t, a, r.text)
			if reason == "length" && r.finish != "length" {
				t.Errorf("finish %q, want length", r.finish)
			}
			p.saw(1)
			b.saw(0)
			g.counts("primary", 0)
			if !g.last(1).Truncated {
				t.Error("the record does not say truncated")
			}
		})
		t.Run(name+", the next tier", func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", saying(cut, reason))
			b := newFake(t, "backup", func(x *exchange) { x.json(200, backupVoice.whole(`{"name":"Joan"}`, "stop")) })
			g := start(t, setup{primary: p, backup: b, routeYAML: "json: {truncated: next, invalid: next}\n"})
			a := g.ask(call{more: jsonMode})
			a.success("backup", `{"name":"Joan"}`)
			p.saw(1)
			b.saw(1)
			g.counts("primary", 0)
		})
		t.Run(name+", the next tier, none is left", func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", saying(cut, reason))
			g := start(t, setup{primary: p, routeYAML: "json: {truncated: next}\n"})
			a := g.ask(call{more: jsonMode})
			marked(t, a, a.read().text)
			p.saw(1)
		})
	}
	t.Run("a a violated schema", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", saying(cut, "length"))
		g := start(t, setup{primary: p, routeYAML: "json: {truncated: next}\n"})
		a := g.ask(call{more: `"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"object","required":["age"]}}}`})
		a.refused(502, "json_truncated")
		p.saw(1)
	})
	t.Run("b in tool arguments", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, inArguments)
		g := start(t, setup{primary: p, backup: b, routeYAML: "json: {truncated: mark}\n"})
		a := g.ask(call{more: `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`})
		r := a.success("primary", "")
		marked(t, a, r.chunks[0].Choices[0].Message.ToolCalls[0].Function.Arguments)
		if r.finish != "length" {
			t.Errorf("finish %q, want length", r.finish)
		}
		p.saw(1)
		b.saw(0)
	})
}
