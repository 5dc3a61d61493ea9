package openai

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"backstop/sse"
	"backstop/wire"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each testdata/streams/NAME.sse is what an upstream sends; NAME.json is the
// body that the aggregate makes of it, NAME.caller.sse what a stream caller
// without usage gets.
func TestStreamsGiveTheirGoldenAnswers(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*.sse")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		base := strings.TrimSuffix(file, ".sse")
		if strings.HasSuffix(base, ".caller") {
			continue
		}
		t.Run(filepath.Base(base), func(t *testing.T) {
			r := streamRequest()
			if strings.HasPrefix(filepath.Base(base), "legacy") {
				r.Op = wire.Completion
			}
			read, write, sum := Room{}.Reader(r, okReply()), Room{}.Writer(r), Room{}.Aggregator(r)
			var caller bytes.Buffer
			for _, ev := range eventsOf(t, file) {
				sig := read.Event(ev)
				caller.Write(write.Event(ev, &sig))
				if sig.Kind == wire.Quiet || sig.Kind == wire.Token {
					sum.Add(ev.Data)
				}
			}
			if o := read.End(true); o.Reason() != "ok" {
				t.Fatalf("the stream is %s", o.Reason())
			}
			caller.Write(write.Close(nil))
			body := sum.Body()
			if !json.Valid(body) {
				t.Fatalf("no JSON: %s", body)
			}
			if again := sum.Body(); !bytes.Equal(again, body) {
				t.Errorf("asked again: %s", again)
			}
			golden(t, base+".json", append(body, '\n'))
			golden(t, base+".caller.sse", caller.Bytes())

			again := Room{}.Aggregator(r)
			r.UsageOn = true
			for _, data := range (Room{}).Explode(r, body) {
				if !json.Valid(data) {
					t.Fatalf("exploded: %s", data)
				}
				again.Add(data)
			}
			if !sameJSON(t, again.Body(), body) {
				t.Errorf("exploded and put together:\n%s\nwant\n%s", again.Body(), body)
			}
		})
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\ngot\n%s\nwant\n%s", file, got, want)
	}
}

func eventsOf(t testing.TB, file string) []*sse.Event {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list []*sse.Event
	r := sse.NewReader(bytes.NewReader(b), 0)
	for {
		ev, err := r.Next()
		if err != nil {
			return list
		}
		list = append(list, &sse.Event{
			Raw: bytes.Clone(ev.Raw), Name: ev.Name, Data: bytes.Clone(ev.Data), Comment: ev.Comment,
		})
	}
}

func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

func aggregated(op wire.Op, events ...string) string {
	a := Room{}.Aggregator(&wire.Request{Op: op})
	for _, e := range events {
		a.Add([]byte(e))
	}
	return string(a.Body())
}

func TestHowPiecesArePutTogether(t *testing.T) {
	call := func(args string) string {
		return ch(`{"tool_calls":[{"index":0,"function":{"arguments":"`+args+`"}}]}`, "null")
	}
	for _, c := range []struct {
		name   string
		events []string
		want   string // the choices
	}{
		{"pieces of arguments are kept although they repeat", []string{ch(`{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":""}}]}`, "null"), call(`{\"a\":\"`), call("x"), call("x"), call(`\"}`), end("tool_calls")},
			`[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{\"a\":\"xx\"}"}}]},"finish_reason":"tool_calls"}]`},
		{"two entries of one index in one chunk are one call", []string{ch(`{"tool_calls":[{"index":0,"id":"t","type":"function","function":{"name":"f","arguments":"{"}},{"index":0,"function":{"arguments":"}"}}]}`, `"tool_calls"`)},
			`[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]`},
		{"two calls that both say index 0 stay two", []string{ch(`{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"{}"}},{"index":0,"id":"u","function":{"name":"g","arguments":"{}"}}]}`, `"tool_calls"`)},
			`[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"u","type":"function","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"tool_calls"}]`},
		{"a surrogate pair cut in two is whole again", []string{tok(`\ud83d`), tok(`\ude00`), end("stop")},
			`[{"index":0,"message":{"role":"assistant","content":"\ud83d\ude00"},"finish_reason":"stop"}]`},
		{"custom tools", []string{ch(`{"tool_calls":[{"index":0,"id":"t","type":"custom","custom":{"name":"f","input":"a"}}]}`, "null"), ch(`{"tool_calls":[{"index":0,"custom":{"input":"b"}}]}`, `"tool_calls"`)},
			`[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"t","type":"custom","custom":{"name":"f","input":"ab"}}]},"finish_reason":"tool_calls"}]`},
		{"content that comes as parts", []string{ch(`{"content":[{"type":"thinking","thinking":"t"}]}`, "null"), tok("a"), tok("b"), end("stop")},
			`[{"index":0,"message":{"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"text","text":"ab"}]},"finish_reason":"stop"}]`},
		{"an empty answer has empty content", []string{role, end("length")}, `[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"length"}]`},
		{"without a finish reason it is null", []string{tok("a")}, `[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":null}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":` + c.want + `}`
			if got := aggregated(wire.Chat, c.events...); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestNothingToPutTogether(t *testing.T) {
	for _, events := range [][]string{nil, {"[DONE]", "", "x", "[]", `{"a":`}} {
		if got := aggregated(wire.Chat, events...); got != `{"object":"chat.completion","choices":[]}` {
			t.Errorf("got %s", got)
		}
	}
	if got := aggregated(wire.Chat, `{"choices":[{"index":-1},{"index":500},{"index":"x"},7]}`, `{"choices":{}}`); got != `{"object":"chat.completion","choices":[]}` {
		t.Errorf("absurd choices: %s", got)
	}
}

// Twice the events may cost only about twice the memory traffic.
func TestPuttingTogetherIsLinear(t *testing.T) {
	cost := func(n int) float64 {
		piece := []byte(tok("word "))
		return testing.AllocsPerRun(3, func() {
			a := Room{}.Aggregator(nil)
			for range n {
				a.Add(piece)
			}
			_ = a.Body()
		})
	}
	if small, large := cost(2000), cost(4000); large > small+20 {
		t.Errorf("%.0f allocations for 2000 events, %.0f for 4000", small, large)
	}
}
