package responses

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// strictSDK puts a stream together as OpenAI's SDK for JavaScript does, and says
// what that would fail on.
type strictSDK struct {
	begun bool
	items []sdkItem
}

type sdkItem struct {
	kind           string
	parts, summary int
}

func (s *strictSDK) take(data []byte) (wrong string) {
	// Not a struct alone, whose members match in any case.
	var m map[string]json.RawMessage
	_ = json.Unmarshal(data, &m)
	text := func(name string) (v string) { _ = json.Unmarshal(m[name], &v); return v }
	number := func(name string) int {
		n := -1
		_ = json.Unmarshal(m[name], &n)
		return n
	}
	var body struct {
		Type             string
		Content, Summary []json.RawMessage
	}
	kind := text("type")
	if raw := m["item"]; raw != nil {
		_ = json.Unmarshal(raw, &body)
	}
	if raw := m["part"]; raw != nil {
		_ = json.Unmarshal(raw, &body)
	}
	switch {
	case kind == errorEvent:
		return ""
	case !s.begun && kind != created:
		return "no begin"
	case kind == created:
		s.begun = true
		return ""
	case kind == itemAdded:
		s.items = append(s.items, sdkItem{body.Type, len(body.Content), len(body.Summary)})
		return ""
	case !inItem[kind] && !strings.HasPrefix(kind, customInput):
		return ""
	}
	at := number("output_index")
	if at < 0 || at >= len(s.items) {
		return "no item"
	}
	it, part := &s.items[at], number("content_index")
	switch kind {
	case itemDone:
		*it = sdkItem{body.Type, len(body.Content), len(body.Summary)}
	case partAdded:
		it.parts++
	case summaryAdded:
		it.summary++
	case textDelta, textDone, refusalDelta, refusalDone, cited, partDone:
		if it.kind == "message" && (part < 0 || part >= it.parts) {
			return "no part"
		}
	case thoughtDelta, thoughtDone:
		if it.kind == "reasoning" && (part < 0 || part >= it.parts) {
			return "no part"
		}
	case gistDelta, gistDone, summaryDone:
		if n := number("summary_index"); it.kind == "reasoning" && (n < 0 || n >= it.summary) {
			return "no summary"
		}
	}
	return ""
}

func TestWhatWasNotAnnouncedIsToldAnew(t *testing.T) {
	const (
		callOn   = `{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"c","name":"f","arguments":""}}`
		callIn   = `{"type":"response.function_call_arguments.delta","output_index":1,"item_id":"fc_1","delta":"{}"}`
		callOff  = `{"type":"response.output_item.done","output_index":1,"item":{"id":"fc_1","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{}"}}`
		thought  = `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":0,"delta":"hm"}`
		homeless = `{"type":"response.output_text.delta","delta":"Hello"}`
		custom   = `{"type":"response.custom_tool_call_input.delta","output_index":5,"delta":"x"}`
	)
	nowhere := func(event string) string {
		return strings.NewReplacer(`"output_index":0,`, "", `"output_index":1,`, "", `"content_index":0,`, "").Replace(event)
	}
	second := func(event string) string {
		return strings.NewReplacer(`"output_index":0`, `"output_index":1`, "msg_1", "msg_2").Replace(event)
	}
	bare := strings.Replace(bare, `"sequence_number":8`, `"sequence_number":30`, 1)
	full := strings.Replace(bare, `"output":[]`, `"output":[{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":"Hello"}]},{"id":"fc_1","type":"function_call","status":"completed","call_id":"c","name":"f","arguments":"{}"}]`, 1)
	short := strings.ReplaceAll(msgOff, ` world\nevent: error`, "")
	for name, c := range map[string]struct {
		sent      []string
		malformed int
		asSent    bool
		text      string // that the caller hears
		calls     string
		thought   string
	}{
		"whole":                            {[]string{begun, going, msgOn, textOn, hello, short, callOn, callIn, callOff, bare}, 0, true, "Hello", "f{}", ""},
		"text without an item":             {[]string{begun, hello, short, bare}, 0, false, "Hello", "", ""},
		"text without a part":              {[]string{begun, msgOn, hello, short, bare}, 0, false, "Hello", "", ""},
		"text that says nowhere where":     {[]string{begun, homeless, bare}, 0, false, "Hello", "", ""},
		"nothing says where":               {[]string{begun, nowhere(msgOn), nowhere(textOn), nowhere(hello), nowhere(short), nowhere(callOn), nowhere(callIn), nowhere(callOff), bare}, 0, false, "Hello", "f{}", ""},
		"an item that is not the next":     {[]string{begun, second(msgOn), second(textOn), second(hello), second(short), bare}, 0, false, "Hello", "", ""},
		"an item that only ends":           {[]string{begun, short, callOff, full}, 0, false, "Hello", "f{}", ""},
		"a part of nothing":                {[]string{begun, textOn, hello, short, bare}, 0, false, "Hello", "", ""},
		"reasoning without an item":        {[]string{begun, thought, second(msgOn), second(textOn), second(hello), second(short), bare}, 0, false, "Hello", "", "hm"},
		"a call's input without its begin": {[]string{begun, msgOn, textOn, hello, short, callIn, bare}, 1, true, "Hello", "", ""},
		"a custom tool's":                  {[]string{begun, msgOn, textOn, hello, short, custom, bare}, 1, true, "Hello", "", ""},
		"a call that is known goes on":     {[]string{begun, msgOn, textOn, hello, short, callOn, strings.ReplaceAll(hello, `"output_index":0`, `"output_index":3`), callIn, callOff, bare}, 0, false, "HelloHello", "f{}", ""},
		"no begin":                         {[]string{going, msgOn, textOn, hello, short, bare}, 0, false, "Hello", "", ""},
		"no begin at all":                  {[]string{msgOn, textOn, hello, short, bare}, 0, false, "Hello", "", ""},
		"the end repeats it all":           {[]string{begun, textOff, msgOff, end}, 0, false, "Hello world\nevent: error", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, framed(c.sent...), true, true)
			malformed := 0
			for _, k := range p.Signals {
				if k == wire.Malformed {
					malformed++
				}
			}
			if malformed != c.malformed || p.Outcome.Class != backstop.OK {
				t.Errorf("%d malformed, %s", malformed, p.Outcome.Reason())
			}
			checkCaller(t, p.Caller, true)
			var sent []string
			for _, data := range c.sent {
				if data != custom && !(c.malformed > 0 && data == callIn) {
					sent = append(sent, data)
				}
			}
			if as := string(p.Caller) == framed(sent...); as != c.asSent {
				t.Errorf("it passed as it came: %v\n%s", as, p.Caller)
			}
			for what, body := range map[string][]byte{"the stream": aggregated(string(p.Caller)), "the body": p.Body} {
				text, calls, thought := saidIn(body)
				if text != c.text || calls != c.calls || thought != c.thought {
					t.Errorf("%s says %q, %q, %q\n%s\n%s", what, text, calls, thought, body, p.Caller)
				}
			}
		})
	}
}

func TestWhatIsAddedToACallOfSuchAStreamGoesWhereTheCallWentTo(t *testing.T) {
	at := func(index, id string) (added, input string) {
		return `{"type":"response.output_item.added","output_index":` + index + `,"item":{"id":"` + id + `","type":"function_call","status":"in_progress","call_id":"` + id + `","name":"f","arguments":""}}`,
			`{"type":"response.function_call_arguments.delta","output_index":` + index + `,"item_id":"` + id + `","delta":"{\"of\":\"` + id + `\""}`
	}
	one, oneIn := at("1", "fc_one")
	other, otherIn := at("0", "fc_other")
	far, farIn := at("7", "fc_far")
	for name, c := range map[string]struct {
		sent []string
		want string // what the calls of the caller's stream are called with
	}{
		"in another order":  {[]string{begun, one, oneIn, other, otherIn}, `f{"of":"fc_one" }f{"of":"fc_other"}`},
		"behind a gap":      {[]string{begun, far, farIn}, `f{"of":"fc_far"       }`},
		"behind loose text": {[]string{begun, hello, far, farIn}, `f{"of":"fc_far"       }`},
		"as is usual":       {[]string{begun, other, otherIn}, `f{"of":"fc_other"}`},
	} {
		t.Run(name, func(t *testing.T) {
			read, w := Room{}.Reader(&wire.Request{Stream: true}, &wire.Reply{}).(*reader), Room{}.Writer(nil).(*writer)
			var out []byte
			known := map[int]bool{}
			take := func(data string) {
				ev := &sse.Event{Name: gjson.Get(data, "type").Str, Data: []byte(data)}
				sig := read.Event(ev)
				if sig.Kind == wire.Token {
					read.Arguments(func(_, call int, _ func([]byte) []byte) { known[call] = true })
				}
				out = append(out, w.Event(ev, &sig)...)
			}
			for _, data := range c.sent {
				take(data)
			}
			for call := range known {
				out = append(out, w.Argue(0, call, []byte(strings.Repeat(" ", call)+"}"))...) // tells the calls apart
			}
			take(bare)
			out = append(out, w.Close(nil)...)
			if _, calls, _ := saidIn(aggregated(string(out))); calls != c.want {
				t.Errorf("%s, want %s\n%s", calls, c.want, out)
			}
		})
	}
}

// aggregated is the body of a stream, by its events and not by its end.
func aggregated(stream string) []byte {
	sum := Room{}.Aggregator(nil)
	for _, line := range strings.Split(stream, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			sum.Add([]byte(data))
		}
	}
	return sum.Body()
}

func saidIn(body []byte) (text, calls, thought string) {
	m, ok := Room{}.DecodeBody(body)
	if !ok {
		return "", "", ""
	}
	for _, p := range m.Choices[0].Parts {
		switch p.Kind {
		case wire.PartText:
			text += p.Text
		case wire.PartToolCall:
			calls += p.Name + p.Arguments
		case wire.PartReasoning:
			thought += p.Text
		}
	}
	return text, calls, thought
}
