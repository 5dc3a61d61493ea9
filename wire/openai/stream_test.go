package openai

import (
	"fmt"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// The wire text of the stream tests: chunks as the vendors send them.
const chunkHead = `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m",`

func ch(delta, finish string) string {
	return fmt.Sprintf(`%s"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, chunkHead, delta, finish)
}

func tok(s string) string { return ch(`{"content":"`+s+`"}`, "null") }
func end(s string) string { return ch(`{}`, `"`+s+`"`) }

var (
	role  = ch(`{"role":"assistant","content":""}`, "null")
	usage = chunkHead + `"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}`
	done  = "[DONE]"
	good  = []string{role, tok("a"), tok("b"), end("stop"), usage, done}
)

func streamRequest() *wire.Request {
	return &wire.Request{Dialect: backstop.OpenAI, Op: wire.Chat, Model: "m", Stream: true, Choices: 1}
}

func okReply() *wire.Reply {
	return &wire.Reply{Vendor: "generic", Dialect: backstop.OpenAI, Caller: backstop.OpenAI, Status: 200, Surface: wire.SurfaceFirst}
}

// event makes an event as the reader of a stream would: "!" before the data
// names it error, "#" makes it a comment.
func event(data string) *sse.Event {
	if c, ok := strings.CutPrefix(data, "#"); ok {
		return &sse.Event{Raw: []byte(": " + c + "\n\n"), Comment: true}
	}
	name := ""
	raw := ""
	if d, ok := strings.CutPrefix(data, "!"); ok {
		data, name, raw = d, "error", "event: error\n"
	}
	return &sse.Event{Raw: []byte(raw + "data: " + data + "\n\n"), Name: name, Data: []byte(data)}
}

const kinds = "?qtdfm" // of signals, as letters

// follow reads events until a fault and says what they were, letter by letter.
func followed(r wire.StreamReader, events []string) (letters string, fault backstop.Outcome) {
	for _, e := range events {
		sig := r.Event(event(e))
		letters += string(kinds[sig.Kind])
		if sig.Kind == wire.Fault {
			return letters, *sig.Outcome
		}
	}
	return letters, fault
}

func TestHowAStreamIsRead(t *testing.T) {
	two := func(a, b string) string { return chunkHead + `"choices":[` + a + `,` + b + `]}` }
	for _, c := range []struct {
		name    string
		events  []string
		signals string
		end     string // reason of the whole after a clean end
		cut     string // and after an unclean one
	}{
		{"a good stream", good, "qttttd", "ok", "ok"},
		{"nothing at all", nil, "", "garbled/empty", "broken/reset"},
		{"comments only", []string{"#ping", "#ping"}, "qq", "garbled/empty", "broken/reset"},
		{"comments, then done", []string{"#ping", "", done}, "qqd", "garbled/empty", "garbled/empty"},
		{"role and silence", []string{role}, "q", "garbled/cut", "broken/reset"},
		{"empty deltas are no progress", []string{role, ch(`{"content":""}`, "null"), ch(`{"content":null}`, "null")}, "qqq", "garbled/cut", "broken/reset"},
		{"no finish reason", []string{role, tok("a")}, "qt", "garbled/cut", "garbled/cut"},
		{"no finish reason but done", []string{role, tok("a"), done}, "qtd", "garbled/cut", "garbled/cut"},
		{"done forgotten", []string{role, tok("a"), end("stop")}, "qtt", "ok", "ok"},
		{"blank", []string{role, end("stop"), done}, "qqd", "garbled/blank", "garbled/blank"},
		{"blank with usage", []string{role, end("stop"), usage, done}, "qqqd", "garbled/blank", "garbled/blank"},
		{"blank but at the length limit", []string{role, end("length"), usage, done}, "qttd", "ok", "ok"},
		{"blank but filtered", []string{role, end("content_filter"), done}, "qtd", "ok", "ok"},
		{"a vendor's filter word", []string{role, end("sensitive"), done}, "qtd", "ok", "ok"},
		{"a vendor's stop word", []string{tok("a"), end("eos_token"), done}, "ttd", "ok", "ok"},
		{"a tool call", []string{role, ch(`{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"f","arguments":""}}]}`, "null"), ch(`{"tool_calls":[{"index":0,"function":{"arguments":""}}]}`, "null"), end("tool_calls"), done}, "qtqtd", "ok", "ok"},
		{"a function call of old", []string{ch(`{"function_call":{"name":"f","arguments":"{}"}}`, "null"), end("function_call")}, "tt", "ok", "ok"},
		{"a refusal", []string{ch(`{"refusal":"no"}`, "null"), end("stop")}, "tt", "ok", "ok"},
		{"reasoning", []string{ch(`{"reasoning_content":"r"}`, "null"), ch(`{"reasoning":"r"}`, "null"), tok("a"), end("stop")}, "tttt", "ok", "ok"},
		{"sound", []string{ch(`{"audio":{"data":"AAAA"}}`, "null"), end("stop")}, "tt", "ok", "ok"},
		{"content and finish in one", []string{ch(`{"content":"a"}`, `"stop"`), done}, "td", "ok", "ok"},
		{"azure's first chunk", append([]string{`{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`}, good...), "qqttttd", "ok", "ok"},
		{"usage of null in every chunk", []string{strings.Replace(tok("a"), `"choices"`, `"usage":null,"choices"`, 1), end("stop"), usage, done}, "tttd", "ok", "ok"},
		{"one malformed event", []string{tok("a"), `{"oops`, tok("b"), end("stop"), done}, "tmttd", "ok", "ok"},
		{"only malformed events", []string{`{"oops`, `<html>`, `"x"`, `[]`, `1`}, "mmmmm", "garbled/protocol", "broken/reset"},
		{"an alien object", []string{`{"html-message":"link broken"}`}, "m", "garbled/protocol", "broken/reset"},
		{"an absurd index", []string{strings.Replace(tok("a"), `"index":0`, `"index":99999999`, 1)}, "m", "garbled/protocol", "broken/reset"},
		{"choices that are said twice", []string{`{"choices":[{"index":0,"delta":{"content":"a"}}],"choices":[{"index":0,"delta":{}}]}`, `{"choices":[{"index":0,"delta":{"content":"a"}}],"choices":null}`, `{"choices":null,"choices":[{"index":0,"delta":{"content":"a"}}]}`}, "qqt", "garbled/cut", "garbled/cut"},
		{"choices before something broken", []string{`{"choices":[{"index":0,"delta":{"content":"a"}}],"x":}`, `{"choices":[{"index":0,"delta":{"content":"a"}`, `{"choices":[{"index":0,"delta":{"content":"a"}]}`, `{"choices":[{"index":0,"delta":{"content":"a"}},]}`, `{"choices":[{"index":0,"delta":{"content":"a"}} {}]}`, `{"choices":[1]}`, `{"choices":["a]}`}, "mmmmmmm", "garbled/protocol", "broken/reset"},
		{"choices of null", []string{`{"id":"","choices":null,"usage":null}`}, "q", "garbled/cut", "broken/reset"},
		{"what follows the end", append(append([]string{}, good...), tok("x"), `{"error":"late"}`, "!x"), "qttttdqqq", "ok", "ok"},
		{"two choices, both finished", []string{two(`{"index":0,"delta":{"content":"a"}}`, `{"index":1,"delta":{"content":"b"}}`), two(`{"index":0,"delta":{},"finish_reason":"stop"}`, `{"index":1,"delta":{},"finish_reason":"stop"}`)}, "tt", "ok", "ok"},
		{"two choices, one unfinished", []string{two(`{"index":0,"delta":{"content":"a"}}`, `{"index":1,"delta":{"content":"b"}}`), two(`{"index":0,"delta":{},"finish_reason":"stop"}`, `{"index":1,"delta":{}}`), done}, "ttd", "garbled/cut", "garbled/cut"},
		{"legacy text", []string{`{"id":"c","object":"text_completion","choices":[{"index":0,"text":"a","finish_reason":null}]}`, `{"choices":[{"index":0,"text":"","finish_reason":"stop"}]}`}, "tt", "ok", "ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, clean := range []bool{true, false} {
				r := Room{}.Reader(streamRequest(), okReply())
				letters, _ := followed(r, c.events)
				if letters != c.signals {
					t.Fatalf("signals %s, want %s", letters, c.signals)
				}
				want := c.cut
				if clean {
					want = c.end
				}
				o := r.End(clean)
				if o.Reason() != want {
					t.Errorf("clean=%v: %s, want %s", clean, o.Reason(), want)
				}
				if blank := o.Kind == backstop.KindBlank; o.Class != backstop.OK && o.Failed() == blank {
					t.Errorf("%s counts %v", o.Reason(), o.Counts)
				}
			}
		})
	}
}

func TestErrorEventsAreFaults(t *testing.T) {
	for _, c := range []struct {
		name, event, reason string
		next                bool
	}{
		{"an error object", `{"error":{"message":"quota exceeded","code":"insufficient_quota","type":"insufficient_quota"}}`, "limited/quota", true},
		{"an overloaded service", `{"error":{"message":"busy","type":"server_error","code":"server_is_overloaded"}}`, "broken/overload", true},
		{"object error", `{"object":"error","message":"m","type":"BadRequestError","code":400}`, "rejected/param", false},
		{"an error text", `{"error":"busy"}`, "broken/", true},
		{"a timeout code", `{"error":{"message":"m","type":"GatewayTimeout","code":504}}`, "broken/timeout", true},
		{"an error next to empty choices", chunkHead + `"choices":[],"error":{"code":502,"message":"Provider returned error"}}`, "broken/", true},
		{"a named event", `!{"error":{"message":"context overflow: the number of tokens to keep exceeds the context length"}}`, "rejected/context", false},
		{"a flat code", `{"code":"Throttling.RateQuota","message":"m","request_id":"r"}`, "limited/rate", true},
		{"an array around it", `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]`, "broken/", true},
		{"a broken finish reason", end("network_error"), "broken/server", true},
		{"no resources left", end("insufficient_system_resource"), "broken/overload", true},
		{"a finish reason that nobody knows", end("wibble"), "garbled/protocol", true},
		{"a base_resp", `{"id":"x","choices":null,"base_resp":{"status_code":1002,"status_msg":"rate limit"}}`, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Room{}.Reader(streamRequest(), okReply())
			letters, o := followed(r, []string{role, c.event})
			if letters != "qf" || !strings.HasPrefix(o.Reason(), c.reason) || o.NextTier != c.next {
				t.Errorf("first: %s %s next %v", letters, o.Reason(), o.NextTier)
			}
			if end := r.End(true); end.Reason() != o.Reason() {
				t.Errorf("the end says %s", end.Reason())
			}

			letters, o = followed(Room{}.Reader(streamRequest(), okReply()), []string{role, tok("a"), c.event})
			if letters != "qtf" || o.NextTier || o.RetrySame {
				t.Errorf("after a token: %s %s next %v retry %v", letters, o.Reason(), o.NextTier, o.RetrySame)
			}

			unary := streamRequest()
			unary.Stream = false
			letters, o = followed(Room{}.Reader(unary, okReply()), []string{role, tok("a"), c.event})
			if letters != "qtf" || o.NextTier != c.next || o.RetrySame {
				t.Errorf("held back for a unary caller: %s %s next %v retry %v", letters, o.Reason(), o.NextTier, o.RetrySame)
			}
		})
	}
}

func TestReasoningAloneIsNoAnswerUntilSomebodyHasIt(t *testing.T) {
	events := []string{ch(`{"reasoning_content":"hm"}`, "null"), end("stop"), done}
	r := Room{}.Reader(streamRequest(), okReply())
	followed(r, events)
	if o := r.End(true); o.Class != backstop.OK {
		t.Errorf("a stream caller: %s", o.Reason())
	}
	unary := streamRequest()
	unary.Stream = false
	r = Room{}.Reader(unary, okReply())
	followed(r, events)
	if o := r.End(true); o.Kind != backstop.KindBlank || !o.NextTier {
		t.Errorf("a unary caller: %s", o.Reason())
	}
}

func TestDashScopeStatusCommentIsHeard(t *testing.T) {
	raw := "id:1\nevent:error\n:HTTP_STATUS/429\ndata:{\"code\":\"X\",\"message\":\"m\"}\n\n"
	reply := okReply()
	reply.Vendor = "dashscope"
	sig := Room{}.Reader(streamRequest(), reply).Event(&sse.Event{Raw: []byte(raw), Name: "error", Data: []byte(`{"code":"X","message":"m"}`)})
	if sig.Kind != wire.Fault || sig.Outcome.Class != backstop.Limited {
		t.Errorf("got %v %s", sig.Kind, sig.Outcome.Reason())
	}
}

func TestUsageAndToolsAreReported(t *testing.T) {
	r := Room{}.Reader(streamRequest(), okReply())
	followed(r, []string{role, tok("a")})
	if in, out := r.Usage(); in != -1 || out != -1 || r.ToolBegun() {
		t.Errorf("before: %d %d %v", in, out, r.ToolBegun())
	}
	followed(r, []string{ch(`{"tool_calls":[{"index":0,"id":"t1"}]}`, "null"), end("tool_calls"), usage})
	if in, out := r.Usage(); in != 10 || out != 2 || !r.ToolBegun() {
		t.Errorf("after: %d %d %v", in, out, r.ToolBegun())
	}
	if o := r.End(true); o.InputTokens != 10 || o.OutputTokens != 2 || o.Status != 200 {
		t.Errorf("outcome: %+v", o)
	}
	for name, e := range map[string]string{
		"in the choice":       strings.Replace(end("stop"), `"index":0`, `"index":0,"usage":{"prompt_tokens":10,"completion_tokens":2}`, 1),
		"in x_groq":           strings.Replace(end("stop"), `"id":"c1"`, `"id":"c1","x_groq":{"id":"r","usage":{"prompt_tokens":10,"completion_tokens":2}}`, 1),
		"in the finish chunk": strings.Replace(end("stop"), `"id":"c1"`, `"id":"c1","usage":{"prompt_tokens":10,"completion_tokens":2}`, 1),
	} {
		r := Room{}.Reader(streamRequest(), okReply())
		followed(r, []string{tok("a"), e})
		if in, out := r.Usage(); in != 10 || out != 2 {
			t.Errorf("%s: %d %d", name, in, out)
		}
	}
}

// send passes events through a reader and a writer, as a driver does.
func send(r *wire.Request, note *wire.Note, events ...string) string {
	read, write := Room{}.Reader(r, okReply()), Room{}.Writer(r)
	var out strings.Builder
	for _, e := range events {
		ev := event(e)
		sig := read.Event(ev)
		out.Write(write.Event(ev, &sig))
	}
	out.Write(write.Close(note))
	out.Write(write.Close(note)) // once is enough
	return out.String()
}

func framed(events ...string) string {
	out := ""
	for _, e := range events {
		out += "data: " + e + "\n\n"
	}
	return out
}

func TestWhatAStreamCallerGets(t *testing.T) {
	with := streamRequest()
	with.UsageOn = true
	withUsage := func(s string) string {
		return strings.Replace(s, `"id":"c1"`, `"id":"c1","usage":{"prompt_tokens":10,"completion_tokens":2}`, 1)
	}
	nullUsage := func(s string) string { return strings.Replace(s, `"id":"c1"`, `"id":"c1","usage":null`, 1) }
	for _, c := range []struct {
		name string
		r    *wire.Request
		in   []string
		want string
	}{
		{"usage was asked for", with, good, framed(good...)},
		{"usage was not asked for", streamRequest(), good, framed(role, tok("a"), tok("b"), end("stop"), done)},
		{"usage in the finish chunk, asked for", with, []string{tok("a"), withUsage(end("stop")), done}, framed(tok("a"), withUsage(end("stop")), done)},
		{"usage in the finish chunk, not asked for", streamRequest(), []string{tok("a"), withUsage(end("stop")), done}, framed(tok("a"), end("stop"), done)},
		{"usage of null", streamRequest(), []string{nullUsage(tok("a")), end("stop"), usage, done}, framed(nullUsage(tok("a")), end("stop"), done)},
		{"done forgotten", with, []string{tok("a"), end("stop")}, framed(tok("a"), end("stop"), done)},
		{"done twice, and more behind it", with, []string{tok("a"), end("stop"), done, tok("x"), done}, framed(tok("a"), end("stop"), done)},
		{"no finish reason, no done", with, []string{tok("a"), done}, framed(tok("a"))},
		{"comments and malformed events", with, []string{"#ping", tok("a"), `{"oops`, "", `{}`, end("stop"), done}, framed(tok("a"), end("stop"), done)},
		{"vendors' finish reasons", with, []string{tok("a"), end("sensitive")}, framed(tok("a"), end("content_filter"), done)},
		{"a window exceeded", with, []string{tok("a"), end("model_context_window_exceeded")}, framed(tok("a"), end("length"), done)},
		{"TGI's stop", with, []string{tok("a"), end("eos_token")}, framed(tok("a"), end("stop"), done)},
		{"faults are not passed on", with, []string{tok("a"), `{"error":"x"}`}, framed(tok("a"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := send(c.r, nil, c.in...); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestANoteGoesBeforeTheEnd(t *testing.T) {
	got := send(streamRequest(), &wire.Note{Rescued: true, Attempts: 2}, good...)
	want := framed(role, tok("a"), tok("b"), end("stop"), chunkHead+`"choices":[],"x_backstop":{"attempts":2,"rescued":true}}`, done)
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRawBytesPassUntouched(t *testing.T) {
	w := Room{}.Writer(streamRequest())
	for _, raw := range []string{
		"data:" + tok("a") + "\r\n\r\n",
		": x\nid: 7\ndata: " + tok("\u2028") + "\n\n",
		"data: " + strings.Replace(tok("a"), `,"choices"`, ",\ndata: \"choices\"", 1) + "\n\n",
	} {
		data := strings.ReplaceAll(strings.TrimRight(raw[strings.Index(raw, "data:")+5:], "\r\n"), "\ndata: ", "\n")
		ev := &sse.Event{Raw: []byte(raw), Data: []byte(data)}
		if got := w.Event(ev, &wire.Signal{Kind: wire.Token}); string(got) != raw {
			t.Errorf("got %q, want %q", got, raw)
		}
	}
	cut := &sse.Event{Raw: []byte("data: " + tok("z")), Data: []byte(tok("z"))}
	if got := w.Event(cut, &wire.Signal{Kind: wire.Token}); string(got) != framed(tok("z")) {
		t.Errorf("an event without its blank line: %q", got)
	}
}

func TestAFailureEndsTheStream(t *testing.T) {
	w := Room{}.Writer(streamRequest())
	ev := event(tok("a"))
	w.Event(ev, &wire.Signal{Kind: wire.Token})
	f := &backstop.Failure{Code: backstop.CodeStreamStalled, Message: "primary: no token for 10 s"}
	want := framed(`{"error":{"message":"primary: no token for 10 s","type":"timeout_error","param":null,"code":"stream_stalled"}}`)
	if got := string(w.Failure(f, "id")); got != want {
		t.Errorf("got %s", got)
	}
	if w.Event(ev, &wire.Signal{Kind: wire.Token}) != nil || w.Close(nil) != nil || w.Failure(f, "id") != nil {
		t.Error("something followed the failure")
	}
}
