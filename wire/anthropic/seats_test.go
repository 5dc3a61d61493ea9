package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// strictSDK puts a stream together as the SDKs do, and says what one of them
// would fail on: JavaScript's and Python's on anything in front of the message,
// Go's on a block that is not the next one and, as Python's, on what belongs to
// none, the AI SDK on text for a block that is over.
type strictSDK struct {
	begun  bool
	blocks []bool // by index: it is open
}

func (s *strictSDK) take(data []byte) (wrong string) {
	var e struct {
		Type  string
		Index int
		Delta struct{ Type string }
	}
	_ = json.Unmarshal(data, &e)
	switch e.Type {
	case messageStart:
		if s.begun {
			return "a second message begins"
		}
		s.begun = true
	case blockStart, blockDelta, blockStop:
		switch there := e.Index < len(s.blocks); {
		case !s.begun:
			return "a block before the message"
		case e.Type == blockStart && e.Index != len(s.blocks):
			return "not the next block"
		case e.Type == blockStart:
			s.blocks = append(s.blocks, true)
		case !there:
			return "of no block"
		case e.Type == blockStop:
			s.blocks[e.Index] = false
		case !s.blocks[e.Index] && e.Delta.Type == "text_delta":
			return "text behind the end of its block"
		}
	}
	return ""
}

const (
	toolOn  = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}`
	toolIn  = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}`
	toolOff = `{"type":"content_block_stop","index":1}`
	hm      = `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`
	sign    = `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s="}}`
	cite    = `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location"}}}`
	thinkOn = `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`
)

func at(index, event string) string {
	return strings.NewReplacer(`"index":0`, `"index":`+index, `"index":1`, `"index":`+index).Replace(event)
}

func TestWhatIsOfNoBlockReachesNobodyAndForgottenBeginsAreMade(t *testing.T) {
	const text, tools = `[{"type":"text","text":"Hello"}]`, `[{"type":"text","text":"Hello"},{"type":"tool_use","id":"t1","name":"f","input":{"a":1}}]`
	toolTurn := strings.Replace(endTurn, "end_turn", "tool_use", 1)
	end := []string{endTurn, stopped}
	for name, c := range map[string]struct {
		sent      []string
		malformed int
		caller    []string // nil = as it was sent
		content   string
	}{
		"whole": {append([]string{start, textOn, hello, off, toolOn, toolIn, toolOff}, toolTurn, stopped), 0, nil, tools},
		"text without its begin": {append([]string{start, hello, off}, end...), 0,
			append([]string{start, textOn, hello, off}, end...), text},
		"thinking without its begin": {append([]string{start, hm, sign, off, at("1", textOn), at("1", hello), toolOff}, end...), 0,
			append([]string{start, thinkOn, hm, sign, off, at("1", textOn), at("1", hello), toolOff}, end...),
			`[{"type":"thinking","thinking":"hm","signature":"s="},{"type":"text","text":"Hello"}]`},
		"a tool's input without its begin": {append([]string{start, textOn, hello, off, toolIn, toolOff}, end...), 2,
			append([]string{start, textOn, hello, off}, end...), text},
		"a tool's input in a text": {append([]string{start, textOn, hello, at("0", toolIn), off}, end...), 1,
			append([]string{start, textOn, hello, off}, end...), text},
		"a signature and a citation of nothing": {append([]string{start, at("7", sign), at("7", cite), textOn, hello, off}, end...), 2,
			append([]string{start, textOn, hello, off}, end...), text},
		"an end of nothing, and a second one": {append([]string{start, at("3", off), textOn, hello, off, off}, end...), 2,
			append([]string{start, textOn, hello, off}, end...), text},
		"a begin that is not the next": {append([]string{start, at("4", textOn), at("4", hello), at("4", off), at("9", toolOn), at("9", toolIn), at("9", toolOff)}, toolTurn, stopped), 0,
			append([]string{start, textOn, hello, off, toolOn, toolIn, toolOff}, toolTurn, stopped), tools},
		"two blocks of one index": {append([]string{start, textOn, hello, off, at("0", toolOn), at("0", toolIn), at("0", toolOff)}, toolTurn, stopped), 0,
			append([]string{start, textOn, hello, off, toolOn, toolIn, toolOff}, toolTurn, stopped), tools},
		"text behind the end of its block": {append([]string{start, textOn, hello, off, hello, off}, end...), 0,
			append([]string{start, textOn, hello, off, at("1", textOn), at("1", hello), at("1", off)}, end...),
			`[{"type":"text","text":"Hello"},{"type":"text","text":"Hello"}]`},
		"input behind the end of its block": {append([]string{start, textOn, hello, off, toolOn, toolOff, toolIn}, toolTurn, stopped), 0, nil, tools},
		"a second begin of the message": {append([]string{start, textOn, hello, start, off}, end...), 1,
			append([]string{start, textOn, hello, off}, end...), text},
		"a block before the message": {append([]string{textOn, hello, start, textOn, hello, off}, end...), 2,
			append([]string{start, textOn, hello, off}, end...), text},
		"both are open at once": {append([]string{start, textOn, toolOn, hello, toolIn, off, toolOff}, toolTurn, stopped), 0, nil, tools},
	} {
		t.Run(name, func(t *testing.T) {
			want := c.caller
			if want == nil {
				want = c.sent
			}
			p := play(t, framed(c.sent...), true, true)
			malformed := 0
			for _, k := range p.Signals {
				if k == wire.Malformed {
					malformed++
				}
			}
			if string(p.Caller) != framed(want...) || malformed != c.malformed || p.Outcome.Class != backstop.OK {
				t.Errorf("%d malformed, %s\ngot  %s\nwant %s", malformed, p.Outcome.Reason(), p.Caller, framed(want...))
			}
			checkCaller(t, p.Caller, true)
			var body struct{ Content json.RawMessage }
			if json.Unmarshal(p.Body, &body) != nil || string(body.Content) != c.content {
				t.Errorf("the body is %s\nwant %s", p.Body, c.content)
			}
		})
	}
}

func TestAStreamOfWhatNeverBeganSaysNothing(t *testing.T) {
	for name, c := range map[string]struct{ stream, want string }{
		"a tool's input alone":       {framed(start, toolIn, toolOff, endTurn, stopped), "garbled/blank"},
		"a message that never began": {framed(textOn, hello, off), "garbled/protocol"},
	} {
		if p := play(t, c.stream, true, true); p.Outcome.Reason() != c.want {
			t.Errorf("%s: %s, want %s\n%s", name, p.Outcome.Reason(), c.want, p.Caller)
		}
	}
}

func TestWhatIsAddedToACallGoesWhereTheCallWentTo(t *testing.T) {
	read, w := Room{}.Reader(&wire.Request{Stream: true}, nil).(*reader), Room{}.Writer(nil).(*writer)
	var out []byte
	for _, data := range []string{start, at("4", textOn), at("4", hello), at("4", off), at("9", toolOn), strings.Replace(at("9", toolIn), "1}", "1", 1)} {
		ev := &sse.Event{Name: typeOf([]byte(data)), Data: []byte(data)}
		sig := read.Event(ev)
		out = append(out, w.Event(ev, &sig)...)
	}
	call := -1
	read.Arguments(func(_, at int, _ func([]byte) []byte) { call = at })
	out = append(out, w.Argue(0, call, []byte("}"))...)
	if want := framed(start, textOn, hello, off, toolOn, strings.Replace(toolIn, "1}", "1", 1), strings.Replace(toolIn, `{\"a\":1}`, "}", 1)); string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
}
