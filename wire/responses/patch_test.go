package responses

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
)

// patched is a caller's stream in which other words stand: what each text
// event is to say, the event itself if that is the same.
func patched(t *testing.T, list []string, words map[string]string, rest, finish string) string {
	t.Helper()
	read, w := Room{}.Reader(&wire.Request{Stream: true}, nil).(*reader), Room{}.Writer(nil).(*writer)
	var out strings.Builder
	for _, data := range list {
		ev := &sse.Event{Data: []byte(data)}
		sig := read.Event(ev)
		text := string(read.AppendText(nil))
		switch word, other := words[text]; {
		case read.Finish() != "":
			out.Write(w.Text([]byte(rest)))
			if finish == "" {
				out.Write(w.Event(ev, &sig))
			} else {
				out.Write(w.Patch(ev, &sig, nil, finish))
			}
		case text != "" && other:
			out.Write(w.Patch(ev, &sig, []byte(word), ""))
		default:
			out.Write(w.Event(ev, &sig))
		}
	}
	out.Write(w.Close(nil))
	checkCaller(t, []byte(out.String()), true)
	return out.String()
}

// told is the text of all that a stream says: its deltas, the events that end
// its parts and items, and its last.
func told(t *testing.T, stream string) (deltas, done, items, whole string) {
	t.Helper()
	for _, line := range strings.Split(stream, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		e := gjson.Parse(data)
		switch e.Get("type").Str {
		case textDelta:
			deltas += e.Get("delta").Str
		case textDone:
			done += e.Get("text").Str
		case itemDone:
			items += e.Get("item.content.0.text").Str
		case completed, incomplete:
			whole, _, _ = Room{}.Content([]byte(e.Get("response").Raw))
		}
	}
	return
}

func TestOtherWordsStandEverywhereInAStream(t *testing.T) {
	all := []string{begun, going, msgOn, textOn, hello, world, textOff, msgOff, end}
	const second = " world\nevent: error"
	for name, c := range map[string]struct {
		words  map[string]string
		rest   string
		finish string
		want   string
	}{
		"the first piece is left out": {map[string]string{"Hello": ""}, "", "", second},
		"the last piece is left out":  {map[string]string{second: ""}, "", "", "Hello"},
		"all is left out but a rest":  {map[string]string{"Hello": "", second: ""}, "{}", "", "{}"},
		"a piece is another":          {map[string]string{second: " there"}, "", "", "Hello there"},
		"something follows":           {nil, "}", "", "Hello" + second + "}"},
		"something follows, and cut":  {nil, "}", "length", "Hello" + second + "}"},
		"nothing but the end differs": {nil, "", "length", "Hello" + second},
	} {
		t.Run(name, func(t *testing.T) {
			stream := patched(t, all, c.words, c.rest, c.finish)
			deltas, done, items, whole := told(t, stream)
			if deltas != c.want || done != c.want || items != c.want || whole != c.want {
				t.Errorf("%q %q %q %q, want %q\n%s", deltas, done, items, whole, c.want, stream)
			}
			if cut := strings.Contains(stream, "event: response.incomplete"); cut != (c.finish == "length") {
				t.Errorf("cut: %v\n%s", cut, stream)
			}
			for _, id := range []string{`"id":"resp_1"`, `"input_tokens":15`} {
				if !strings.Contains(stream[strings.LastIndex(stream, "event: response."):], id) {
					t.Errorf("no %s at the end of %s", id, stream)
				}
			}
		})
	}
}

func TestWhatIsNotPatchedPassesByteForByte(t *testing.T) {
	all := []string{begun, going, msgOn, textOn, hello, world, textOff, msgOff, end}
	if got := patched(t, all, nil, "", ""); got != framed(all...) {
		t.Errorf("%s", got)
	}
}

func TestArgumentsOfTheLastCallCanBeAddedTo(t *testing.T) {
	call := `{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"c","name":"f","arguments":""}}`
	piece := `{"type":"response.function_call_arguments.delta","sequence_number":3,"output_index":0,"item_id":"fc_1","delta":"{\"a\":1"}`
	done := `{"type":"response.function_call_arguments.done","sequence_number":4,"output_index":0,"item_id":"fc_1","arguments":"{\"a\":1"}`
	off := `{"type":"response.output_item.done","sequence_number":5,"output_index":0,"item":{"id":"fc_1","type":"function_call","status":"incomplete","call_id":"c","name":"f","arguments":"{\"a\":1"}}`
	read, w := Room{}.Reader(&wire.Request{Stream: true}, nil).(*reader), Room{}.Writer(nil).(*writer)
	var out strings.Builder
	var arguments []byte
	tool := ""
	for _, data := range []string{begun, call, piece, done, off} {
		ev := &sse.Event{Data: []byte(data)}
		sig := read.Event(ev)
		read.Arguments(func(_, _ int, appendTo func([]byte) []byte) { arguments = appendTo(arguments) })
		read.ToolNames(func(_, _ int, name string) { tool = name })
		out.Write(w.Event(ev, &sig))
	}
	if string(arguments) != `{"a":1` || tool != "f" {
		t.Fatalf("%s %s", tool, arguments)
	}
	out.Write(w.Argue(0, 0, []byte("}")))
	ev := &sse.Event{Data: []byte(bare)}
	sig := read.Event(ev)
	if read.Finish() != "tool_calls" {
		t.Errorf("%q", read.Finish())
	}
	out.Write(w.Patch(ev, &sig, nil, "length"))
	out.Write(w.Close(nil))
	checkCaller(t, []byte(out.String()), true)
	if n := strings.Count(out.String(), `"arguments":"{\"a\":1}"`); n != 3 || !strings.Contains(out.String(), "event: response.incomplete") {
		t.Errorf("%d times in %s", n, out.String())
	}
	if strings.Contains(out.String(), `"completed"`) {
		t.Errorf("a call that was cut is completed in %s", out.String())
	}
}

func TestAnItemWhoseEndWasHeldBackEndsWithItsAnswer(t *testing.T) {
	read, w := Room{}.Reader(&wire.Request{Stream: true}, nil).(*reader), Room{}.Writer(nil).(*writer)
	var out strings.Builder
	for _, data := range []string{begun, going, msgOn, textOn, hello, world, textOff, msgOff, end} {
		ev := &sse.Event{Data: []byte(data)}
		sig := read.Event(ev)
		if read.Finish() != "" {
			w.Hold()
		}
		out.Write(w.Event(ev, &sig))
	}
	out.Write(w.Close(&wire.Note{Tier: "primary"}))
	checkCaller(t, []byte(out.String()), true)
	if deltas, done, items, whole := told(t, out.String()); done != deltas || items != deltas || whole != deltas {
		t.Errorf("%q %q %q %q", deltas, done, items, whole)
	}
}

func TestARefusalIsToldFromAnAnswer(t *testing.T) {
	refusal := `{"type":"response.refusal.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"No"}`
	for name, c := range map[string]struct {
		list []string
		want bool
	}{
		"a refusal":              {[]string{begun, refusal}, true},
		"a text":                 {[]string{begun, hello}, false},
		"a text and a refusal":   {[]string{begun, hello, refusal}, false},
		"nothing":                {[]string{begun}, false},
		"a refusal in its whole": {[]string{begun, strings.Replace(bare, `"output":[]`, `"output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]`, 1)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			read := Room{}.Reader(&wire.Request{Stream: true}, nil)
			for _, data := range c.list {
				read.Event(&sse.Event{Data: []byte(data)})
			}
			if got := read.(wire.Refuser).Refusing(); got != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}
