package openai

import (
	"encoding/json"
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

func mustRead(t testing.TB, op wire.Op, body string) *wire.Request {
	t.Helper()
	r, fail := Room{}.Read(op, []byte(body))
	if fail != nil {
		t.Fatal(fail)
	}
	return r
}

func TestWhatAnUpstreamGets(t *testing.T) {
	plain := backstop.Upstream{Unary: backstop.UnaryPlain}
	stream := backstop.Upstream{Unary: backstop.UnaryStream}
	quirk := func(q backstop.Quirks) backstop.Upstream {
		return backstop.Upstream{Unary: backstop.UnaryPlain, Quirks: q}
	}
	for _, c := range []struct {
		name, in string
		u        backstop.Upstream
		s        backstop.Step
		want     string
		stream   bool
	}{
		{"nothing to change", `{ "model":"m", ` + hello + `}`, plain, backstop.Step{}, `{ "model":"m", ` + hello + `}`, false},
		{"another model, in place", `{"a":1, "model" : "m" ,` + hello + `}`, plain, backstop.Step{Model: "n\"x"}, `{"a":1, "model" : "n\"x" ,` + hello + `}`, false},
		{"a unary call asks for a stream with usage", `{"model":"m",` + hello + `}`, stream, backstop.Step{}, `{"model":"m",` + hello + `,"stream":true,"stream_options":{"include_usage":true}}`, true},
		{"unless one body is ordered", `{"model":"m",` + hello + `}`, stream, backstop.Step{Plain: true}, `{"model":"m",` + hello + `}`, false},
		{"or the answer cannot be put together", `{"model":"m",` + hello + `,"n":2,"logprobs":true}`, stream, backstop.Step{}, `{"model":"m",` + hello + `,"n":2,"logprobs":true}`, false},
		{"stream false becomes true", `{"stream": false,"model":"m",` + hello + `}`, stream, backstop.Step{}, `{"stream": true,"model":"m",` + hello + `,"stream_options":{"include_usage":true}}`, true},
		{"a stream caller without usage", `{"model":"m","stream":true,` + hello + `}`, plain, backstop.Step{}, `{"model":"m","stream":true,` + hello + `,"stream_options":{"include_usage":true}}`, true},
		{"a stream caller with usage", `{"model":"m","stream":true,"stream_options":{"include_usage":true},` + hello + `}`, plain, backstop.Step{}, `{"model":"m","stream":true,"stream_options":{"include_usage":true},` + hello + `}`, true},
		{"usage switched off by the caller", `{"model":"m","stream":true,"stream_options":{"include_usage":false,"x":1},` + hello + `}`, plain, backstop.Step{}, `{"model":"m","stream":true,"stream_options":{"include_usage":true,"x":1},` + hello + `}`, true},
		{"other stream options stay", `{"model":"m","stream":true,"stream_options":{"x":1},` + hello + `}`, plain, backstop.Step{}, `{"model":"m","stream":true,"stream_options":{"x":1,"include_usage":true},` + hello + `}`, true},
		{"empty stream options", `{"model":"m","stream":true,"stream_options":{},` + hello + `}`, plain, backstop.Step{}, `{"model":"m","stream":true,"stream_options":{"include_usage":true},` + hello + `}`, true},
		{"stream options of null", `{"model":"m","stream":true,"stream_options":null,` + hello + `}`, plain, backstop.Step{}, `{"model":"m","stream":true,"stream_options":{"include_usage":true},` + hello + `}`, true},
		{"a stream caller asked plainly", `{"model":"m","stream":true,"stream_options":{"x":1},` + hello + `}`, stream, backstop.Step{Plain: true}, `{"model":"m","stream":false,` + hello + `}`, false},
		{"a parameter left out", `{"model":"m","parallel_tool_calls":true,` + hello + `}`, plain, backstop.Step{Without: []string{"parallel_tool_calls"}}, `{"model":"m",` + hello + `}`, false},
		{"the first one left out", `{"a":1, "model":"m",` + hello + `}`, plain, backstop.Step{Without: []string{"a"}}, `{"model":"m",` + hello + `}`, false},
		{"the last ones left out", `{"model":"m",` + hello + ` , "a":1 , "b":2 }`, plain, backstop.Step{Without: []string{"b", "a"}}, `{"model":"m",` + hello + ` }`, false},
		{"no usage where stream_options is not taken", `{"model":"m","stream":true,"stream_options":{"include_usage":true},` + hello + `}`, quirk(backstop.Quirks{DropParams: []string{"stream_options"}}), backstop.Step{}, `{"model":"m","stream":true,` + hello + `}`, true},
		{"nor where it was rejected", `{"model":"m","stream":true,` + hello + `}`, plain, backstop.Step{Without: []string{"stream_options"}}, `{"model":"m","stream":true,` + hello + `}`, true},
		{"renamed", `{"model":"m","max_tokens":5,` + hello + `}`, quirk(backstop.Quirks{RenameParams: map[string]string{"max_tokens": "max_completion_tokens"}}), backstop.Step{}, `{"model":"m","max_completion_tokens":5,` + hello + `}`, false},
		{"renamed onto one that is there", `{"model":"m","max_tokens":5,"max_completion_tokens":6,` + hello + `}`, quirk(backstop.Quirks{RenameParams: map[string]string{"max_tokens": "max_completion_tokens"}}), backstop.Step{}, `{"model":"m","max_completion_tokens":6,` + hello + `}`, false},
		{"renamed, then set", `{"model":"m","a":5,` + hello + `}`, quirk(backstop.Quirks{RenameParams: map[string]string{"a": "b"}, SetParams: map[string]any{"b": 7, "z": map[string]any{"on": true}}}), backstop.Step{}, `{"model":"m","b":7,` + hello + `,"z":{"on":true}}`, false},
		{"dropped, then set", `{"model":"m","a":5,` + hello + `}`, quirk(backstop.Quirks{DropParams: []string{"a"}, SetParams: map[string]any{"a": "x"}}), backstop.Step{}, `{"model":"m",` + hello + `,"a":"x"}`, false},
		{"dropped next to renamed and dropped", `{"model":"m","x":1,"a":5,` + hello + `}`, quirk(backstop.Quirks{RenameParams: map[string]string{"a": "b"}, DropParams: []string{"x", "b"}}), backstop.Step{}, `{"model":"m",` + hello + `}`, false},
		{"no quirk touches the core", `{"model":"m",` + hello + `}`, quirk(backstop.Quirks{DropParams: []string{"model", "messages"}, SetParams: map[string]any{"model": "x", "stream": true}, RenameParams: map[string]string{"messages": "x"}}), backstop.Step{}, `{"model":"m",` + hello + `}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustRead(t, wire.Chat, c.in)
			c.s.Plain = c.s.Plain || c.u.Unary == backstop.UnaryPlain && !r.Stream // as the engine orders it
			out, cannot := Room{}.Outbound(r, &c.u, &c.s)
			if cannot != nil {
				t.Fatal(cannot.Message)
			}
			if string(out.Body) != c.want || out.Stream != c.stream || out.Path != "/chat/completions" {
				t.Errorf("got  %s %v\nwant %s %v", out.Body, out.Stream, c.want, c.stream)
			}
			if c.in == c.want && &out.Body[0] != &r.Body[0] {
				t.Error("the bytes were copied for nothing")
			}
			if string(r.Body) != c.in {
				t.Error("the request was changed")
			}
		})
	}
}

func TestEmbeddingsAndCompletionsHaveTheirPaths(t *testing.T) {
	u := &backstop.Upstream{Unary: backstop.UnaryStream}
	out, _ := Room{}.Outbound(mustRead(t, wire.Embedding, `{"model":"m","input":"x"}`), u, &backstop.Step{})
	if out.Path != "/embeddings" || out.Stream || string(out.Body) != `{"model":"m","input":"x"}` {
		t.Errorf("%+v %s", out, out.Body)
	}
	out, _ = Room{}.Outbound(mustRead(t, wire.Completion, `{"model":"m","prompt":"x"}`), u, &backstop.Step{})
	if out.Path != "/completions" || !out.Stream {
		t.Errorf("%+v %s", out, out.Body)
	}
}

func TestCallsThatAnUpstreamCannotTakeGoToTheNextTier(t *testing.T) {
	tools := `{"model":"m",` + hello + `,"tools":[{"type":"function"}]}`
	promised := `{"model":"m",` + hello + `,"response_format":{"type":"json_object"}}`
	for _, c := range []struct {
		name, body string
		q          backstop.Quirks
		s          backstop.Step
		param      string
	}{
		{"no tools", tools, backstop.Quirks{NoTools: true}, backstop.Step{}, "tools"},
		{"tools are never dropped", tools, backstop.Quirks{DropParams: []string{"tools"}}, backstop.Step{}, "tools"},
		{"not even after a rejection", tools, backstop.Quirks{}, backstop.Step{Without: []string{"tools"}}, "tools"},
		{"a promise is never dropped", promised, backstop.Quirks{}, backstop.Step{Without: []string{"response_format"}}, "response_format"},
		{"nothing goes without messages", tools, backstop.Quirks{}, backstop.Step{Without: []string{"messages"}}, "messages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, o := Room{}.Outbound(mustRead(t, wire.Chat, c.body), &backstop.Upstream{Quirks: c.q}, &c.s)
			if o == nil || o.Class != backstop.Rejected || o.Kind != backstop.KindParam || !o.NextTier || o.RetrySame || o.Failed() || o.Param != c.param {
				t.Errorf("got %+v", o)
			}
		})
	}
	_, o := Room{}.Outbound(mustRead(t, wire.Chat, `{"model":"m",`+hello+`}`), &backstop.Upstream{Quirks: backstop.Quirks{NoTools: true}}, &backstop.Step{})
	if o != nil {
		t.Errorf("a call without tools may go there: %+v", o)
	}
}

func TestForeignHistoryIsFitted(t *testing.T) {
	long := strings.Repeat("x", 94)
	body := `{"model":"m","messages":[{"role":"user","content":"q"},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"` + long + `","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"short","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"` + long + `","content":"r"},{"role":"tool","tool_call_id":"short","content":"` + long + `"}]}`
	step := &backstop.Step{Plain: true}
	r := mustRead(t, wire.Chat, body)

	out, _ := Room{}.Outbound(r, &backstop.Upstream{Quirks: backstop.Quirks{ToolIDMax: 64}}, step)
	var got struct {
		Messages []struct {
			ToolCallID string `json:"tool_call_id"`
			ToolCalls  []struct{ ID string }
			Calls      []struct{ ID string } `json:"tool_calls"`
			Content    *string
			Reasoning  *string `json:"reasoning_content"`
		}
	}
	if err := json.Unmarshal(out.Body, &got); err != nil {
		t.Fatal(err)
	}
	id := got.Messages[1].Calls[0].ID
	if len(id) > 40 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || id != got.Messages[2].ToolCallID {
		t.Errorf("ids %q and %q", id, got.Messages[2].ToolCallID)
	}
	if got.Messages[1].Calls[1].ID != "short" || got.Messages[3].ToolCallID != "short" || *got.Messages[3].Content != long {
		t.Error("what was short enough or no id has changed")
	}
	if strings.Contains(strings.ReplaceAll(string(out.Body), id, long), "reasoning_content") || strings.ReplaceAll(string(out.Body), id, long) != body {
		t.Error("other bytes have changed")
	}
	if short := shortToolID(long, 9); len(short) != 9 {
		t.Errorf("an upstream of 9 characters got %q", short)
	}
	if shortToolID(long, 64) == shortToolID(long+"y", 64) {
		t.Error("two ids became one")
	}

	out, _ = Room{}.Outbound(r, &backstop.Upstream{Quirks: backstop.Quirks{ToolIDMax: 128}}, step)
	if string(out.Body) != body {
		t.Error("an upstream without the limit gets the same bytes")
	}

	out, _ = Room{}.Outbound(r, &backstop.Upstream{Quirks: backstop.Quirks{ReasoningContent: "required"}}, step)
	if err := json.Unmarshal(out.Body, &got); err != nil {
		t.Fatal(err)
	}
	for i, m := range got.Messages {
		if has := m.Reasoning != nil && *m.Reasoning != ""; has != (i == 1) {
			t.Errorf("message %d: reasoning_content %v", i, m.Reasoning)
		}
	}
}

func TestProbesAreTiny(t *testing.T) {
	u := backstop.DefaultUpstream()
	for _, c := range []struct {
		name string
		p    backstop.Probe
		want string
	}{
		{"plain", backstop.Probe{Upstream: &u, Model: "m"}, `{"model":"m","messages":[{"role":"user","content":"Reply with one word: ok"}],"max_tokens":16,"stream":false}`},
		{"stream", backstop.Probe{Upstream: &u, Model: "m", Stream: true}, `{"model":"m","messages":[{"role":"user","content":"Reply with one word: ok"}],"max_tokens":16,"stream":true,"stream_options":{"include_usage":true}}`},
		{"JSON", backstop.Probe{Upstream: &u, Model: "m", JSON: true}, `{"model":"m","messages":[{"role":"user","content":"Reply with this JSON object: {\"ok\":true}"}],"response_format":{"type":"json_object"},"max_tokens":16,"stream":false}`},
		{"embeddings", backstop.Probe{Upstream: &u, Model: "m", Embed: true, Stream: true}, `{"model":"m","input":"ping"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := Room{}.Probe(&c.p)
			if string(out.Body) != c.want || !json.Valid(out.Body) || out.Stream != (c.p.Stream && !c.p.Embed) {
				t.Errorf("got %s %v", out.Body, out.Stream)
			}
		})
	}
	strict := u
	strict.Quirks.RenameParams = map[string]string{"max_tokens": "max_completion_tokens"}
	if out := (Room{}).Probe(&backstop.Probe{Upstream: &strict, Model: "m"}); !strings.Contains(string(out.Body), `"max_completion_tokens":16`) {
		t.Errorf("a probe keeps to the quirks: %s", out.Body)
	}
}

// A hostile body costs what its bytes cost.
func TestHostileBodiesAreCheap(t *testing.T) {
	many := strings.Repeat(`"user":1,`, 900)
	call := `{"role":"tool","tool_call_id":"` + strings.Repeat("x", 70) + `"},`
	for name, body := range map[string]string{
		"one parameter 900 times":  `{` + many + `"model":"m",` + hello + `}`,
		"20,000 tool ids to map":   `{"model":"m",` + many + `"messages":[` + strings.Repeat(call, 20_000) + `{}]}`,
		"nested 900 deep, 200 KiB": `{"model":"m","messages":[{"content":` + strings.Repeat("[", 900) + `"` + strings.Repeat("x", 200<<10) + `"` + strings.Repeat("]", 900) + `}]}`,
		"200,000 stream options":   `{"model":"m",` + hello + `,"stream":true,"stream_options":{` + strings.Repeat(`"a":1,`, 200_000) + `"b":2}}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := mustRead(t, wire.Chat, body)
			allocs := testing.AllocsPerRun(1, func() {
				out, _ := Room{}.Outbound(r, &backstop.Upstream{Quirks: backstop.Quirks{DropParams: []string{"user"}}}, &backstop.Step{Model: "n"})
				if strings.Contains(string(out.Body), `"user":1`) || !json.Valid(out.Body) {
					t.Error("not as it should be")
				}
			})
			if allocs > 400_000 {
				t.Errorf("%.0f allocations", allocs)
			}
		})
	}
	if _, fail := (Room{}).Read(wire.Chat, []byte(`{`+strings.Repeat(`"a":1,`, 2000)+`"model":"m",`+hello+`}`)); fail == nil {
		t.Error("2000 parameters are too many")
	}
}

func FuzzOutbound(f *testing.F) {
	f.Add([]byte(`{"model":"m",`+hello+`,"a":1,"b":[{}],"stream":true}`), "n", "a", uint8(7))
	f.Add([]byte(`{"a":1,"model":"m",`+hello+`}`), "", "b", uint8(0))
	f.Fuzz(func(t *testing.T, body []byte, model, drop string, bits uint8) {
		r, fail := Room{}.Read(wire.Chat, body)
		if fail != nil {
			return
		}
		u := &backstop.Upstream{Unary: backstop.UnaryStream}
		if bits&1 != 0 {
			u.Quirks = backstop.Quirks{ToolIDMax: 4, ReasoningContent: "required", DropParams: []string{"b"}, RenameParams: map[string]string{"c": "d"}, SetParams: map[string]any{"e": "f"}}
		}
		s := &backstop.Step{Model: model, Plain: bits&2 != 0}
		if bits&4 != 0 {
			s.Without = []string{drop}
		}
		out, cannot := Room{}.Outbound(r, u, s)
		if cannot != nil {
			return
		}
		again, fail := Room{}.Read(wire.Chat, out.Body)
		if fail != nil {
			t.Fatalf("%s\nbecame %s: %v", body, out.Body, fail)
		}
		wanted := r.Model
		if model != "" {
			wanted = string([]rune(model)) // broken bytes become U+FFFD
		}
		if again.Stream != out.Stream || again.Model != wanted {
			t.Fatalf("%s\nbecame %s", body, out.Body)
		}
	})
}
