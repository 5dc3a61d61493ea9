package cases

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// Section 8: what the backup receives.

const fullRequest = `"temperature":0,"parallel_tool_calls":true,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],` +
	`"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"type":"object","properties":{"a":{"type":"integer"}}}}}`

// members are the top-level members of a request.
func members(t *testing.T, x *exchange) map[string]json.RawMessage {
	t.Helper()
	m := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(x.body), &m); err != nil {
		t.Fatalf("the body is no JSON: %v", err)
	}
	return m
}

func TestF38ParametersTheBackupRejects(t *testing.T) {
	t.Parallel()
	down := status(503, `{"error":{"message":"m"}}`)
	const named = `{"error":{"message":"parallel_tool_calls is not supported","type":"invalid_request_error","param":"parallel_tool_calls","code":"unsupported_parameter"}}`
	answer := func(x *exchange) { x.json(200, backupVoice.whole(`{"a":1}`, "stop")) }
	t.Run("one more try without exactly that one", func(t *testing.T) {
		t.Parallel()
		p, b := newFake(t, "primary", down), newFake(t, "backup", inTurn(status(400, named), answer))
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{more: fullRequest})
		a.success("backup", `{"a":1}`)
		if got := a.header.Get("X-Backstop-Dropped"); got != "parallel_tool_calls" {
			t.Errorf("x-backstop-dropped is %q", got)
		}
		b.saw(2)
		first, second := members(t, b.requests()[0]), members(t, b.requests()[1])
		delete(first, "parallel_tool_calls")
		if len(first) != len(second) || second["tools"] == nil || second["response_format"] == nil || string(second["temperature"]) != "0" {
			t.Errorf("the second body differs in more than that parameter:\n%s", b.requests()[1].body)
		}
		g.counts("backup", 0)
	})
	t.Run("and no third", func(t *testing.T) {
		t.Parallel()
		p, b := newFake(t, "primary", down), newFake(t, "backup", status(400, named))
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{more: fullRequest})
		if r := a.read(); r.kind != "http-error" || a.status != 400 {
			t.Errorf("want the backup's 400\n%s", a.show())
		}
		b.saw(2)
	})
	t.Run("rules of the upstream come first", func(t *testing.T) {
		t.Parallel()
		p, b := newFake(t, "primary", down), newFake(t, "backup", answer)
		g := start(t, setup{primary: p, backup: b, backupYAML: "quirks: {drop_params: [parallel_tool_calls], set_params: {temperature: 1}}\n"})
		g.ask(call{more: fullRequest}).success("backup", `{"a":1}`)
		if m := members(t, b.requests()[0]); m["parallel_tool_calls"] != nil || string(m["temperature"]) != "1" || m["tools"] == nil {
			t.Errorf("the rules are not applied: %s", b.requests()[0].body)
		}
		if m := members(t, p.requests()[0]); m["parallel_tool_calls"] == nil || string(m["temperature"]) != "0" {
			t.Errorf("they are applied to the primary: %s", p.requests()[0].body)
		}
		b.saw(1)
	})
	for name, words := range map[string]string{
		"b only streams":                  "only stream mode",
		"b only streams, in Qwen's words": "This model only support stream mode, please enable the stream parameter to access the model.",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := newFake(t, "primary", down), newFake(t, "backup", func(x *exchange) {
				if !x.streams() {
					x.json(400, `{"error":{"message":`+quote(words)+`,"type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}`)
					return
				}
				backupVoice.good("B1", "B2")(x)
			})
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{})
			a.fromBackup("broken/overload")
			if !strings.HasPrefix(a.body(), "{") {
				t.Errorf("want one body\n%s", a.show())
			}
			b.saw(2)
			g.ask(call{}).fromBackup("broken/overload")
			b.saw(3) // it is remembered
			g.counts("backup", 0)
		})
	}
	t.Run("b only streams, as the default asks", func(t *testing.T) {
		t.Parallel()
		p, b := newFake(t, "primary", down), newFake(t, "backup", func(x *exchange) {
			if !x.streams() {
				x.json(400, `{"error":{"message":"only stream mode"}}`)
				return
			}
			backupVoice.good("B1", "B2")(x)
		})
		g := start(t, setup{primary: p, backup: b, unary: "stream"})
		g.ask(call{}).fromBackup("broken/overload")
		b.saw(1)
	})
	for name, template := range map[string]string{"c no tools at all, a template": "busy", "c no tools at all, nothing else": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, down)
			p.play(down)
			g := start(t, setup{primary: p, backup: b, template: template, backupYAML: "quirks: {no_tools: true}\n"})
			a := g.ask(call{stream: true, more: `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]`})
			b.saw(0)
			if template != "" {
				a.success("local", template)
				return
			}
			if r := a.read(); r.kind != "http-error" || a.status < 500 || !strings.Contains(r.fault.Message, "backup") {
				t.Errorf("want an explicit error that names the backup\n%s", a.show())
			}
		})
	}
}

func TestF39ForeignHistory(t *testing.T) {
	t.Parallel()
	long := "call_" + strings.Repeat("0123456789", 8) + "-abcdefgh"
	if len(long) != 94 {
		t.Fatalf("the id has %d characters", len(long))
	}
	history := `{"model":"asked","stream":true,"messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"` + long + `","type":"function","function":{"name":"f","arguments":"{ \"a\" : 1 }"}}]},` +
		`{"role":"tool","tool_call_id":"` + long + `","content":"1"},{"role":"assistant","content":"one"},{"role":"user","content":"again"}]}`
	down := status(503, `{"error":{"message":"m"}}`)
	messages := func(x *exchange) string { return string(members(t, x)["messages"]) }
	t.Run("long ids are mapped in pairs", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, down)
		g := start(t, setup{primary: p, backup: b, primaryYAML: "quirks: {tool_id_max: 128}\n"})
		for range 2 {
			g.ask(call{stream: true, body: history}).fromBackup("broken/overload")
		}
		if messages(p.requests()[0]) != string(members(t, &exchange{body: history})["messages"]) {
			t.Errorf("the primary does not get the caller's own bytes: %s", p.requests()[0].body)
		}
		ids := regexp.MustCompile(`"(?:id|tool_call_id)":"([^"]*)"`)
		var seen []string
		for _, x := range b.requests() {
			for _, m := range ids.FindAllStringSubmatch(messages(x), -1) {
				seen = append(seen, m[1])
			}
		}
		short := regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
		if len(seen) != 4 || seen[0] != seen[1] || seen[0] != seen[2] || seen[0] != seen[3] || !short.MatchString(seen[0]) {
			t.Errorf("ids at the backup are %q, want one short id four times", seen)
		}
		if strings.ReplaceAll(messages(b.requests()[0]), seen[0], long) != messages(p.requests()[0]) {
			t.Errorf("more than the ids has changed: %s", b.requests()[0].body)
		}
	})
	t.Run("reasoning is demanded", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, down)
		g := start(t, setup{primary: p, backup: b, primaryYAML: "quirks: {tool_id_max: 128}\n", backupYAML: "quirks: {reasoning_content: required, tool_id_max: 128}\n"})
		g.ask(call{stream: true, body: history}).fromBackup("broken/overload")
		var turns []map[string]any
		if err := json.Unmarshal([]byte(messages(b.requests()[0])), &turns); err != nil {
			t.Fatal(err)
		}
		for i, turn := range turns {
			if text, ok := turn["reasoning_content"].(string); (turn["role"] == "assistant") != ok || ok && text == "" {
				t.Errorf("turn %d is %v", i+1, turn)
			}
		}
		if messages(p.requests()[0]) != string(members(t, &exchange{body: history})["messages"]) {
			t.Errorf("the primary does not get the caller's own bytes: %s", p.requests()[0].body)
		}
	})
}

func TestF40ToolCallDeltas(t *testing.T) {
	t.Parallel()
	calls := func(list string) string { return ch(`{"tool_calls":[`+list+`]}`, "null") }
	begin := func(index, id, name string) string {
		return `{"index":` + index + `,"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":""}}`
	}
	piece := func(index, arguments string) string {
		return `{"index":` + index + `,"function":{"arguments":` + quote(arguments) + `}}`
	}
	rows := map[string]struct {
		events []string
		want   []string // arguments by index
	}{
		"a two pieces of one call in a chunk": {[]string{calls(begin("0", "t1", "f")), calls(piece("0", `{"a":`) + "," + piece("0", `1}`))}, []string{`{"a":1}`}},
		"b repeated pieces":                   {[]string{calls(begin("0", "t1", "f")), calls(piece("0", `{"a":"`)), calls(piece("0", "x")), calls(piece("0", "x")), calls(piece("0", `"}`))}, []string{`{"a":"xx"}`}},
		"c interleaved": {[]string{calls(begin("0", "t1", "f")), calls(begin("1", "t2", "g")), calls(piece("0", `{"a":`)), calls(piece("1", `{"b":`)),
			calls(piece("0", `1}`)), calls(piece("1", `2}`))}, []string{`{"a":1}`, `{"b":2}`}},
	}
	for name, row := range rows {
		events := append(append([]string{role()}, row.events...), end("tool_calls"), done)
		t.Run(name+", a stream", func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, streamed(events...))
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{stream: true})
			var got []string
			for _, e := range a.events() {
				got = append(got, "data: "+e.data)
			}
			if strings.Join(got, "\n") != strings.Join(events, "\n") {
				t.Errorf("the events have changed:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(events, "\n"))
			}
		})
		t.Run(name+", one body", func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, streamed(events...))
			g := start(t, setup{primary: p, backup: b, unary: "stream"})
			a := g.ask(call{})
			r := a.success("primary", "")
			var got []string
			if len(r.chunks) == 1 && len(r.chunks[0].Choices) == 1 {
				for _, c := range r.chunks[0].Choices[0].Message.ToolCalls {
					got = append(got, c.Function.Arguments)
				}
			}
			if strings.Join(got, "|") != strings.Join(row.want, "|") || r.finish != "tool_calls" {
				t.Errorf("arguments %q and finish %q, want %q\n%s", got, r.finish, row.want, a.show())
			}
		})
	}
	half := opened(role(), calls(begin("0", "t1", "f")), calls(piece("0", `{"a":"Jo`)))
	t.Run("d cut in the arguments, a stream", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(half, fin))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true}).brokenOff("", "stream_incomplete")
		b.saw(0)
	})
	t.Run("d cut in the arguments, one body", func(t *testing.T) {
		t.Parallel()
		p := newFake(t, "primary", then(half, fin))
		g := start(t, setup{primary: p, unary: "stream"})
		g.ask(call{}).refused(502, "stream_incomplete")
	})
}
