package openai

import (
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/roomtest"
)

func calls(list string) string { return ch(`{"tool_calls":[`+list+`]}`, "null") }

func TestPiecesOfACallThatNeverBeganReachNobody(t *testing.T) {
	const (
		begin  = `{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}`
		args   = `{"index":0,"function":{"arguments":"{\"a\":1}"}}`
		other  = `{"index":1,"function":{"arguments":"{\"b\""}}`
		nobody = `{"index":7,"function":{"arguments":""}}`
		whole  = `[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]`
	)
	for name, c := range map[string]struct {
		sent    []string
		letters string
		caller  []string // nil = as it was sent
		calls   string   // of the body
		hub     string   // names and arguments
	}{
		"whole":               {[]string{role, calls(begin), calls(args), end("tool_calls")}, "qttt", nil, whole, `f{"a":1}`},
		"of another index":    {[]string{role, calls(begin), calls(args), calls(other), end("tool_calls")}, "qttmt", []string{role, calls(begin), calls(args), end("tool_calls")}, whole, `f{"a":1}`},
		"nothing of it":       {[]string{role, tok("a"), calls(nobody), end("stop")}, "qtmt", []string{role, tok("a"), end("stop")}, "", ""},
		"beside one that has": {[]string{role, calls(begin), calls(other + "," + args), end("tool_calls")}, "qttt", []string{role, calls(begin), calls(args), end("tool_calls")}, whole, `f{"a":1}`},
		"with the end": {[]string{role, tok("a"), ch(`{"tool_calls":[`+other+`]}`, `"stop"`)}, "qtt",
			[]string{role, tok("a"), ch(`{"tool_calls":null}`, `"stop"`)}, "", ""},
		"with the role": {[]string{ch(`{"role":"assistant","tool_calls":[`+other+`]}`, "null"), tok("a"), end("stop")}, "qtt",
			[]string{ch(`{"role":"assistant","tool_calls":null}`, "null"), tok("a"), end("stop")}, "", ""},
		"in another choice": {[]string{role, calls(begin), `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"delta":{"tool_calls":[` + args + `]},"index":1}]}`, calls(args), end("tool_calls")}, "qtmtt",
			[]string{role, calls(begin), calls(args), end("tool_calls")}, whole, `f{"a":1}`},
		"of the older form":                            {[]string{role, tok("a"), ch(`{"function_call":{"arguments":"{"}}`, "null"), end("stop")}, "qtmt", []string{role, tok("a"), end("stop")}, "", ""},
		"begun in an event that was cut":               {[]string{role, tok("a"), strings.TrimSuffix(calls(begin), "}"), calls(args), end("stop")}, "qtmmt", []string{role, tok("a"), end("stop")}, "", ""},
		"begun in an event with a choice that is none": {[]string{role, tok("a"), strings.TrimSuffix(calls(begin), "]}") + ",0]}", calls(args), end("stop")}, "qtmmt", []string{role, tok("a"), end("stop")}, "", ""},
		"begun in an event that was cut, in the older form": {[]string{role, tok("a"), strings.TrimSuffix(ch(`{"function_call":{"name":"f","arguments":""}}`, "null"), "}"),
			ch(`{"function_call":{"arguments":"{"}}`, "null"), end("stop")}, "qtmmt", []string{role, tok("a"), end("stop")}, "", ""},
		"begun in an event that was cut, and once more": {[]string{role, strings.TrimSuffix(calls(begin), "}"), calls(begin), calls(args), end("tool_calls")}, "qmttt",
			[]string{role, calls(begin), calls(args), end("tool_calls")}, whole, `f{"a":1}`},
		"the id alone first": {[]string{role, calls(`{"index":0,"id":"c1","type":"function"}`), calls(`{"index":0,"function":{"name":"f","arguments":"{\"a\":"}}`),
			calls(`{"index":0,"function":{"arguments":"1}"}}`), end("tool_calls")}, "qtttt", nil, whole, `f{"a":1}`},
		"its kind alone first": {[]string{role, calls(`{"index":0,"type":"function","function":{}}`), calls(`{"index":0,"id":"c1","function":{"name":"f"}}`), calls(args), end("tool_calls")}, "qqttt", nil, whole, `f{"a":1}`},
		"its kind is left out": {[]string{role, calls(`{"index":0,"id":"c1","function":{"name":"f","arguments":""}}`), calls(args), end("tool_calls")}, "qttt",
			[]string{role, calls(`{"type":"function","index":0,"id":"c1","function":{"name":"f","arguments":""}}`), calls(args), end("tool_calls")}, whole, `f{"a":1}`},
		"its kind is null": {[]string{role, calls(`{"index":0,"id":"c1","type":null,"function":{"name":"f","arguments":""}}`), calls(args), end("tool_calls")}, "qttt",
			[]string{role, calls(`{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}`), calls(args), end("tool_calls")}, whole, `f{"a":1}`},
		"the name behind the arguments": {[]string{role, calls(`{"index":0,"id":"c1","type":"function","function":{"arguments":"{\"a\":1}"}}`), calls(`{"index":0,"function":{"name":"f"}}`), end("tool_calls")}, "qttt", nil,
			whole, `f{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.caller
			if want == nil {
				want = c.sent
			}
			want = append(append([]string(nil), want...), done)
			letters, _ := followed(Room{}.Reader(streamRequest(), okReply()), append(append([]string(nil), c.sent...), done))
			p := roomtest.Play(Room{}, streamRequest(), okReply(), framed(append(c.sent, done)...), true)
			if letters != c.letters+"d" || string(p.Caller) != framed(want...) || p.Outcome.Class != backstop.OK {
				t.Errorf("%s, %s\ngot  %s\nwant %s", letters, p.Outcome.Reason(), p.Caller, framed(want...))
			}
			if has := strings.Contains(string(p.Body), `"tool_calls":[`); has != (c.calls != "") || !strings.Contains(string(p.Body), c.calls) || strings.Contains(string(p.Body), `"function_call"`) {
				t.Errorf("the body is %s", p.Body)
			}
			if got := told(append(c.sent, done)); got != c.hub {
				t.Errorf("other dialects are told %q, want %q", got, c.hub)
			}
		})
	}
}

// told is which tools are called, in the words of the hub: a name before its
// arguments.
func told(events []string) (s string) {
	read, d := Room{}.Reader(streamRequest(), okReply()), Room{}.Decoder()
	for _, data := range events {
		ev := &sse.Event{Data: []byte(data)}
		if read.Event(ev).Kind == wire.Malformed {
			continue
		}
		for _, x := range d.Event(ev) {
			switch x.Kind {
			case wire.DeltaCall:
				s += x.Name
			case wire.DeltaArguments:
				s += x.Text
			}
		}
	}
	return s
}
