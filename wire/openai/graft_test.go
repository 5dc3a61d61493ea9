package openai

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/follow"
)

const otherHead = `{"id":"c2","object":"chat.completion.chunk","created":2,"model":"n","system_fingerprint":"fp2","odd":[1],`

// graftAll writes a begun stream, goes on with other events and closes it.
func graftAll(t *testing.T, r *wire.Request, text bool, events ...string) string {
	t.Helper()
	w := Room{}.Writer(r)
	w.Event(event(role), nil)
	w.Event(event(tok("a")), nil)
	g := w.(wire.Grafter)
	g.Hold()
	reader := Room{}.Reader(r, okReply())
	var out []byte
	for _, e := range events {
		ev := event(e)
		sig := reader.Event(ev)
		out = append(out, g.Graft(ev, &sig, text)...)
	}
	return string(append(out, w.Close(&wire.Note{Rescued: true})...))
}

func TestWhatIsGraftedOntoAStream(t *testing.T) {
	otherTok := otherHead + `"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}`
	mixed := otherHead + `"choices":[{"index":0,"delta":{"role":"assistant","reasoning_content":"r","reasoning_details":[{"a":1}],"content":"b"},"finish_reason":"eos"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	plain := streamRequest()
	counted := streamRequest()
	counted.UsageOn = true
	const head = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","odd":[1],"choices":`
	for _, c := range []struct {
		name   string
		r      *wire.Request
		text   bool
		events []string
		want   string
	}{
		{"text, with the caller's head", plain, true, []string{otherTok}, head + `[{"index":0,"delta":{"content":"b"},"finish_reason":null}]}` + "\n\n"},
		{"text that was passed already", plain, false, []string{otherTok}, ""},
		{"a role, an empty delta, reasoning", plain, true, []string{role, ch(`{"content":""}`, "null"), ch(`{"reasoning":"x"}`, "null")}, ""},
		{"a finish reason, with the note", plain, true, []string{end("stop")},
			`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_backstop":{"rescued":true}}` + "\n\ndata: [DONE]\n\n"},
		{"usage that was asked for, behind it", counted, true, []string{end("stop"), usage},
			`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
				`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12},"x_backstop":{"rescued":true}}` + "\n\ndata: [DONE]\n\n"},
		{"usage that was not", plain, true, []string{usage}, ""},
		{"everything at once", plain, true, []string{mixed}, head +
			`[{"index":0,"delta":{"role":"assistant","reasoning_content":"","reasoning_details":[],"content":"b"},"finish_reason":"stop"}],"x_backstop":{"rescued":true}}` + "\n\ndata: [DONE]\n\n"},
		{"everything but the text", counted, false, []string{mixed}, head +
			`[{"index":0,"delta":{"role":"assistant","reasoning_content":"","reasoning_details":[],"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2},"x_backstop":{"rescued":true}}` + "\n\ndata: [DONE]\n\n"},
		{"a head that is missing", plain, true, []string{`{"choices":[{"index":0,"delta":{"content":"b"}}]}`},
			`data: {"choices":[{"index":0,"delta":{"content":"b"}}],"id":"c1","object":"chat.completion.chunk","created":1,"model":"m"}` + "\n\n"},
		{"what is malformed or an error", plain, true, []string{`{"oops`, `{"error":{"message":"m"}}`}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := graftAll(t, c.r, c.text, c.events...); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAWriterSaysTextOfItsOwn(t *testing.T) {
	chat := Room{}.Writer(streamRequest())
	chat.Event(event(role), nil)
	if got := string(chat.(wire.Grafter).Text([]byte("a\"\n\xed\xa0\xbc北"))); got != `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a\"\n\ud83c北"},"finish_reason":null}]}`+"\n\n" {
		t.Errorf("got %s", got)
	}
	legacy := Room{}.Writer(&wire.Request{Op: wire.Completion}).(wire.Grafter)
	if got := string(legacy.Text([]byte("a"))); got != `data: {"id":"","object":"text_completion","created":0,"model":"","choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":null}]}`+"\n\n" {
		t.Errorf("got %s", got)
	}
	if got := legacy.Text(nil); got != nil {
		t.Errorf("no text gave %s", got)
	}
}

func TestAWriterParsesWhatNoReaderDid(t *testing.T) {
	r := Room{}.Reader(streamRequest(), okReply())
	ev, other := event(tok("a")), event(tok("b"))
	sig := r.Event(ev)
	w := Room{}.Writer(streamRequest())
	for _, e := range []*sse.Event{ev, other} { // the second is not the one that the reader took apart
		if got := string(w.Event(e, &sig)); got != string(e.Raw) {
			t.Errorf("got %q", got)
		}
	}
}

func TestTheTextOfEvents(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		text   string
		only   bool
	}{
		{"content only", []string{role, tok("a"), ch(`{"reasoning_content":"r"}`, "null"), tok(`b\n\"`), end("stop")}, "ab\n\"", true},
		{"legacy text", []string{chunkHead + `"choices":[{"index":0,"text":"x"}]}`}, "x", true},
		{"a pair of escapes", []string{tok(`\ud83c\udf0d`)}, "🌍", true},
		{"a pair in two events", []string{tok(`a\ud83c`), tok(`\udf0dz`)}, "a🌍z", true},
		{"half a pair", []string{tok(`a\ud83c`)}, "a\xed\xa0\xbc", true},
		{"two first halves", []string{tok(`\ud83c\ud83c\udf0d`)}, "\xed\xa0\xbc🌍", true},
		{"a character in two events", []string{tok("\xf0\x9f"), tok("\x8c\x8d")}, "🌍", true},
		{"a tool call", []string{tok("a"), ch(`{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":""}}]}`, "null")}, "a", false},
		{"a refusal", []string{ch(`{"refusal":"no"}`, "null")}, "", false},
		{"no refusal", []string{ch(`{"refusal":null,"content":"a","images":[],"audio":null}`, "null")}, "a", true},
		{"sound", []string{ch(`{"audio":{"data":"AA"}}`, "null")}, "", false},
		{"an image", []string{ch(`{"images":[{"x":1}]}`, "null")}, "", false},
		{"parts", []string{ch(`{"content":[{"type":"text","text":"a"}]}`, "null")}, "", false},
		{"a second choice", []string{tok("a"), chunkHead + `"choices":[{"index":1,"delta":{"content":""}}]}`}, "a", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Room{}.Reader(streamRequest(), okReply())
			var text []byte
			for _, e := range c.events {
				if r.Event(event(e)).Kind == wire.Token {
					text = r.(wire.TextReader).AppendText(text)
				}
			}
			if only := r.(wire.TextReader).TextOnly(); string(text) != c.text || only != c.only {
				t.Errorf("text %q, only text %t", text, only)
			}
		})
	}
}

func TestContentBytesAreThoseOfTheText(t *testing.T) {
	for data, want := range map[string]int{
		tok("abc"): 3, tok("北京"): 6, tok(`\u5317\u4eac`): 6, tok(`a\n\"b`): 4, tok(`\ud83c\udf0d`): 4, tok(`\u00e9\u0041`): 3,
		ch(`{"reasoning_content":"ab"}`, "null"): 2, role: 0,
		ch(`{"tool_calls":[{"index":0,"id":"c","function":{"arguments":"{\"a\""}}]}`, "null"): 4,
		ch(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]}`, "null"):          0,
	} {
		if got := (Room{}).Reader(streamRequest(), okReply()).Event(event(data)).Bytes; got != want {
			t.Errorf("%s counts %d bytes, want %d", data, got, want)
		}
	}
}

func TestARequestForTheRest(t *testing.T) {
	generic, prefill, vllm := backstop.DefaultUpstream(), backstop.DefaultUpstream(), backstop.DefaultUpstream()
	prefill.Quirks.Prefill, vllm.Quirks.Prefill, vllm.Vendor = true, true, "vllm"
	chat := `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true}`
	for _, c := range []struct {
		name string
		op   wire.Op
		body string
		u    *backstop.Upstream
		want string // "" = cannot
	}{
		{"an instruction", wire.Chat, chat, &generic, `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a\"b"},{"role":"user","content":` + string(appendString(nil, follow.GoOn)) + `}],"stream":true}`},
		{"a prefill", wire.Chat, chat, &prefill, `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a\"b"}],"stream":true}`},
		{"a prefill that has to be asked for", wire.Chat, chat, &vllm, `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"a\"b"}],"stream":true,"add_generation_prompt":false,"continue_final_message":true}`},
		{"a longer prompt", wire.Completion, `{"model":"m","prompt":"p"}`, &generic, `{"model":"m","prompt":"pa\"b"}`},
		{"prompts that are tokens", wire.Completion, `{"model":"m","prompt":[1,2]}`, &generic, ""},
		{"embeddings", wire.Embedding, `{"model":"m","input":"p"}`, &generic, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := mustRead(t, c.op, c.body)
			more, cannot := Room{}.Continue(r, c.u, "m", []byte(`a"b`))
			if c.want == "" {
				if cannot == nil || cannot.Class != backstop.Rejected {
					t.Errorf("got %+v, %+v", more, cannot)
				}
				return
			}
			if cannot != nil || string(more.Body) != c.want || string(r.Body) != c.body {
				t.Errorf("got %s", more.Body)
			}
			if _, fail := (Room{}).Read(c.op, more.Body); fail != nil {
				t.Error(fail)
			}
		})
	}
}

// Whatever two upstreams say, the caller of the first who is given on to the
// second gets whole events and one [DONE], last.
func FuzzGraft(f *testing.F) {
	f.Add([]byte(framed(role, tok("a"))), []byte(framed(role, tok("b"), end("eos"), usage, done)), true, true)
	f.Add([]byte(framed(tok("a"), end("stop"), done)), []byte(framed(otherHead+`"choices":[{"index":1,"delta":{"reasoning_details":[1],"content":{},"tool_calls":[{}]},"finish_reason":"x"}],"usage":{}}`)), false, false)
	f.Fuzz(func(t *testing.T, first, second []byte, text, usageOn bool) {
		r := streamRequest()
		r.UsageOn = usageOn
		w := Room{}.Writer(r).(*writer)
		var out []byte
		run := func(stream []byte, pass func(*sse.Event, *wire.Signal) []byte) {
			read, events := Room{}.Reader(r, okReply()), sse.NewReader(bytes.NewReader(stream), 0)
			for {
				ev, err := events.Next()
				if ev != nil {
					sig := read.Event(ev)
					out = append(out, pass(ev, &sig)...)
				}
				if err != nil {
					return
				}
			}
		}
		run(first, w.Event)
		w.Hold()
		out = append(out, w.Text([]byte("x\xff\n"))...)
		run(second, func(ev *sse.Event, sig *wire.Signal) []byte { return w.Graft(ev, sig, text) })
		checkCaller(t, append(out, w.Close(&wire.Note{Rescued: true})...))
	})
}

func FuzzTextOfAString(f *testing.F) {
	for _, seed := range []string{`a`, `\u00e9\n`, `\ud83c\udf0d`, `\ud83c`, `\udf0d\ud83c`, "北\xff", `\\u0041`, `\/`} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, inner string, cut int) {
		doc := []byte(`"` + inner + `"`)
		if skipString(doc, 0) != len(doc) {
			return
		}
		got := appendDecoded(nil, []byte(inner))
		if utf8.ValidString(inner) && utf8.Valid(got) {
			var want string
			if err := json.Unmarshal(doc, &want); err != nil || want != string(got) {
				t.Fatalf("%q is %q, want %q (%v)", inner, got, want, err)
			}
			if n := decodedSize([]byte(inner)); n != len(want) {
				t.Fatalf("%q has %d bytes, want %d", inner, n, len(want))
			}
		}
		if cut > 0 && cut < len(inner) && skipString([]byte(`"`+inner[:cut]+`"`), 0) == cut+2 && skipString([]byte(`"`+inner[cut:]+`"`), 0) == len(inner)-cut+2 {
			if two := appendDecoded(appendDecoded(nil, []byte(inner[:cut])), []byte(inner[cut:])); string(two) != string(got) {
				t.Fatalf("%q in two pieces is %q, in one %q", inner, two, got)
			}
		}
		again := appendEncoded(nil, got)
		if skipString(again, 0) != len(again) {
			t.Fatalf("%q is written as %q", got, again)
		}
		if back := appendDecoded(nil, again[1:len(again)-1]); string(back) != string(got) {
			t.Fatalf("%q comes back as %q", got, back)
		}
	})
}

func TestHalvesOfPairsAreRecognised(t *testing.T) {
	for _, r := range "🌍𐀀􏿿" {
		high, low := utf16.EncodeRune(r)
		text := appendUnit([]byte("x"), high)
		if lastHalf(text) != high || !strings.HasSuffix(string(appendEncoded(nil, text)), `"`) {
			t.Errorf("%x: %x", high, lastHalf(text))
		}
		if text = appendUnit(text, low); string(text) != "x"+string(r) || lastHalf(text) != -1 {
			t.Errorf("%q", text)
		}
	}
}
