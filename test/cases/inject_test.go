package cases

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile are texts that would end or begin an event, or end an answer, if
// they got out of the string that they stand in.
var hostile = map[string]string{
	"a done":             "a\n\ndata: [DONE]\n\nb",
	"an error event":     "a\n\nevent: error\ndata: {\"error\":{\"message\":\"gotcha\",\"type\":\"t\",\"code\":\"c\"}}\n\nb",
	"a message_stop":     "a\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\nb",
	"a completed":        "a\r\n\r\nevent: response.completed\r\ndata: {\"type\":\"response.completed\",\"response\":{}}\r\n\r\nb",
	"a finish reason":    "\"}]},\"finishReason\":\"STOP\"}]}\n\ndata: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
	"carriage returns":   "a\rdata: [DONE]\r\rb\r\n\r\n: c\r",
	"separators":         "a\u2028\u2028data: [DONE]\u2029\u2029\u0085b",
	"NUL and controls":   "a\x00b\x01\x02\x1b[31m\x7f\b\f\v",
	"a byte order mark":  "\ufeffa\ufeff",
	"a comment":          "\n: keep-alive\n\n:\n\nretry: 1\nid: 7\n",
	"quotes and slashes": `a\"b\\n\u000adata: [DONE]\`,
	"tags":               "<script>&amp;</script><think>x</think>",
}

func TestNoContentIsAnEvent(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		var text string
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b})
		for name, words := range hostile {
			for form, stream := range bothForms {
				if name == "tags" && up != caller { // a thought may be told as one
					words = strings.NewReplacer("<think>", "<i>", "</think>", "</i>").Replace(words)
				}
				for _, pieces := range [][]string{{words}, strings.Split(words, ""), {"x", words, "y"}} {
					text = strings.Join(pieces, "")
					p.play(up.healthy(primaryVoice, pieces...))
					a := g.ask(call{fixture: caller, stream: stream})
					if r := a.success("primary", text); r.kind != "success" || len(r.ids) != 1 || len(r.models) != 1 {
						t.Errorf("%s, %s, %d pieces: ids %q, models %q", name, form, len(pieces), r.ids, r.models)
						return
					}
					if strings.ContainsAny(a.body(), "\r\x00") { // some readers of streams end a line there
						t.Errorf("%s, %s: a raw control character goes out\n%s", name, form, a.show())
					}
				}
			}
		}
		b.saw(0)
		g.counts("primary", 0)
	})
}

// TestHalfCharactersStayContent sends lone surrogates, which JSON can name and
// no text can hold: they are one character or another, never the end of it.
func TestHalfCharactersStayContent(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b})
		for _, half := range []string{`\ud83d`, `\udf0d`, `\udf0d\ud83d`, `\ud83d\n\ndata: [DONE]`} {
			for form, stream := range bothForms {
				p.play(func(x *exchange) {
					raw := strings.NewReplacer("HALF", half)
					if !x.streams() {
						x.json(200, raw.Replace(up.whole(primaryVoice, "aHALFb", up.stop)))
						return
					}
					x.open200()
					for _, e := range up.good(primaryVoice, "a", "HALF", "b") {
						x.event(raw.Replace(e))
					}
					x.cleanEnd()
				})
				a := g.ask(call{fixture: caller, stream: stream})
				r := a.read()
				if r.kind != "success" || !strings.HasPrefix(r.text, "a") || !strings.HasSuffix(r.text, "b") || !utf8.ValidString(r.text) || len(r.text) < 3 {
					t.Errorf("%s, %s: got %s %q\n%s", half, form, r.kind, r.text, a.show())
				}
			}
		}
	})
}

// TestNoNameIsAnEvent puts the same texts where an answer names itself, its
// model, a tool or a call, or says what is wrong.
func TestNoNameIsAnEvent(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b})
		for name, words := range hostile {
			if strings.ContainsAny(words, "\x00") {
				continue // names with control characters are no names; their text has its own case
			}
			inJSON := strings.Trim(quote(words), `"`)
			for what, from := range map[string]string{"id": `"c1"`, "model": `"m"`} {
				p.play(func(x *exchange) {
					raw := strings.NewReplacer(from, `"`+inJSON+`"`)
					if !x.streams() {
						x.json(200, raw.Replace(up.whole(primaryVoice, "ab", up.stop)))
						return
					}
					x.open200()
					for _, e := range up.good(primaryVoice, "a", "b") {
						x.event(raw.Replace(e))
					}
					x.cleanEnd()
				})
				for form, stream := range bothForms {
					a := g.ask(call{fixture: caller, stream: stream})
					if r := a.read(); r.kind != "success" || r.text != "ab" || len(r.ids) > 1 || len(r.models) > 1 {
						t.Errorf("%s as %s, %s: got %s %q\n%s", name, what, form, r.kind, r.text, a.show())
						return
					}
				}
			}
		}
	})
}

// TestNoArgumentIsAnEvent has them in a call of a tool.
func TestNoArgumentIsAnEvent(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b})
		for name, words := range hostile {
			arguments := `{"at":` + quote(words) + `}`
			p.play(streamed(up.calls(primaryVoice, "call_1", arguments)...))
			a := g.ask(call{fixture: caller, stream: true, body: caller.withTool(true)})
			r := a.read()
			if r.kind != "success" || len(r.calls) != 1 || r.calls[0].Function.Name != "look" || !sameJSON(r.calls[0].Function.Arguments, arguments) {
				t.Errorf("%s: got %s and %+v, want %s\n%s", name, r.kind, r.calls, arguments, a.show())
				return
			}
		}
	})
}

// TestNoErrorIsAnEvent has them in the words of an error, before the first
// token and behind it.
func TestNoErrorIsAnEvent(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p := newFakeOf(t, "primary", up, nil)
		g := start(t, setup{primary: p, primaryYAML: patient})
		for name, words := range hostile {
			inJSON := strings.Trim(quote(words), `"`)
			bad := strings.NewReplacer(`"busy"`, `"`+inJSON+`"`, `"m"`, `"`+inJSON+`"`, `"The model is overloaded."`, `"`+inJSON+`"`)
			p.play(streamed(append(up.begun(primaryVoice, "a"), bad.Replace(up.busy))...))
			a := g.ask(call{fixture: caller, stream: true})
			if r := a.read(); r.kind != "in-band" || r.text != "a" {
				t.Errorf("%s in a stream: got %s %q\n%s", name, r.kind, r.text, a.show())
				return
			}
			p.play(status(400, fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","status":"INVALID_ARGUMENT","message":%s,"code":null}}`, quote(words))))
			for form, stream := range bothForms {
				a := g.ask(call{fixture: caller, stream: stream})
				if r := a.read(); r.kind != "http-error" || a.status != 400 {
					t.Errorf("%s as a 400, %s: got %s\n%s", name, form, r.kind, a.show())
					return
				}
			}
		}
	})
}

// TestNoFramingIsContent is the other way: what an upstream sends around its
// events, with names and fields of other dialects, is nobody's event.
func TestNoFramingIsContent(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		p, b := pairOf(t, up, caller, func(x *exchange) {
			x.open200()
			noise := []string{": data: [DONE]\n", "retry: 1\n", "id: \"}\n", "unknown: event: error\n", "event\n", "data\n"}
			for i, e := range up.good(primaryVoice, "a", "b") {
				x.chunk(": event: error\n\n")
				x.chunk(noise[i%4] + e + "\n\n")
			}
			x.cleanEnd()
		})
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{fixture: caller, stream: true})
		a.success("primary", "ab")
		for _, e := range a.events() {
			if strings.Contains(e.data, "unknown") || e.name == "error" {
				t.Errorf("the noise is passed on\n%s", a.show())
			}
		}
	})
}
