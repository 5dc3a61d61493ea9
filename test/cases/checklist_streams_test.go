package cases

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Lines S of the checklist, for callers and upstreams of every dialect.

func TestChecklistS1HeadersGoOutAtTheCommit(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		var wrote atomic.Pointer[time.Time]
		p, b := pairOf(t, up, caller, func(x *exchange) {
			opened(append(up.head(primaryVoice), up.ping)...)(x)
			if x.at(1) {
				now := time.Now()
				wrote.Store(&now)
				x.event(up.good(primaryVoice, "a", "b")[len(up.head(primaryVoice)):]...)
				x.cleanEnd()
			}
		})
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{fixture: caller, stream: true})
		a.success("primary", "ab")
		if at := a.began.Add(a.opened); at.Before(*wrote.Load()) {
			t.Errorf("the status line went out %s before the first token", wrote.Load().Sub(at))
		}
	})
}

func TestChecklistS2EveryKindOfSilenceHasItsDeadline(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		comments := func(x *exchange) { x.every(1, 1, ": still here") }
		head, begun := opened(up.head(primaryVoice)...), opened(up.begun(primaryVoice, "a", "b")...)
		rows := map[string]script{
			"before the headers":     hold,
			"before the first token": then(head, hold),
			"comments alone":         then(head, comments),
			"pings alone":            then(head, func(x *exchange) { x.every(1, 1, up.ping) }),
			"in the middle":          then(begun, hold),
			"comments in the middle": then(begun, comments),
		}
		p, b := pairOf(t, up, caller, byWord(rows))
		g := start(t, setup{primary: p, backup: b, scaled: true, primaryYAML: patient})
		calls := map[string]*answer{}
		for name := range rows {
			calls[name] = g.open(call{fixture: caller, stream: true, body: caller.asking(true, name)})
		}
		for name, a := range calls {
			a.wait()
			if strings.HasSuffix(name, "middle") {
				a.brokenOff("ab", "stream_stalled")
				near(t, "the error frame", a.took, usual.sec(4.5))
				a.tried("primary", "hang/idle")
				continue
			}
			a.fromBackup("hang")
			near(t, "the status line", a.opened, usual.sec(4.5))
			a.tried("primary", "hang/first_token")
		}
		b.saw(4)
	})
}

func TestChecklistS3ACommittedStreamThatBreaksEndsInAnError(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		begun := up.begun(primaryVoice, "a", "b")
		rows := map[string]script{
			"a clean end without a terminal": streamed(begun...),
			"the connection is closed":       then(opened(begun...), fin),
			"a bad chunk size":               then(opened(begun...), func(x *exchange) { x.raw("zz\r\n"); x.hold() }),
			"an error event":                 streamed(append(begun, up.busy)...),
		}
		for mode, text := range map[string]string{"off": "ab", "splice": "abc"} {
			t.Run("rescue "+mode, func(t *testing.T) {
				t.Parallel()
				p, b := pairOf(t, up, caller, byWord(rows))
				b.play(caller.healthy(backupVoice, "ab", "c"))
				g := start(t, setup{primary: p, backup: b, rescue: mode, primaryYAML: patient})
				for name := range rows {
					a := g.ask(call{fixture: caller, stream: true, body: caller.asking(true, name)})
					r := a.read()
					switch {
					case mode == "splice":
						if r.kind != "success" || r.text != text || r.tail["rescued"] != true {
							t.Errorf("%s: got %s %q with note %v, want the whole text\n%s", name, r.kind, r.text, r.tail, a.show())
						}
					case name == "an error event":
						a.brokenOff(text, "upstream_unavailable")
					default:
						a.brokenOff(text, "stream_incomplete")
					}
				}
				g.counts("primary", len(rows))
			})
		}
	})
}

func TestChecklistS4AMalformedEventIsDropped(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		good := up.good(primaryVoice, "a", "b")
		at := len(good) - len(up.ends(primaryVoice, "ab", up.stop)) - 1
		rows := map[string]script{}
		for name, bad := range map[string]string{"cut": `data: {"oops`, "no JSON": "data: oops", "a list": "data: [1,2", "named": "event: content_block_delta\ndata: {\"oops"} {
			rows[name] = streamed(append(append(append([]string(nil), good[:at]...), bad), good[at:]...)...)
		}
		p, b := pairOf(t, up, caller, byWord(rows))
		g := start(t, setup{primary: p, backup: b})
		for name := range rows {
			a := g.ask(call{fixture: caller, stream: true, body: caller.asking(true, name)})
			a.success("primary", "ab")
			if strings.Contains(a.body(), "oops") || strings.Contains(a.body(), "[1,2") {
				t.Errorf("it is passed on\n%s", a.show())
			}
		}
		if n := g.metric("backstop_malformed_events_total", `upstream="primary"`); n != float64(len(rows)) {
			t.Errorf("%g malformed events are counted, want %d", n, len(rows))
		}
	})
}

func TestChecklistS5ThereIsOneTerminalAndNothingBehindIt(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		good := up.good(primaryVoice, "a", "b")
		with := func(more ...string) script { return streamed(append(append([]string(nil), good...), more...)...) }
		rows := map[string]script{"as it should be": with()}
		if up != &geminiFixture { // its streams have no terminal but their end
			rows["more behind it"] = with(up.says(primaryVoice, "more")...)
			rows["twice"] = with(good[len(good)-1])
		}
		if up == &chatFixture || up == &messagesFixture {
			rows["left out"] = streamed(good[:len(good)-1]...)
		}
		if up == &chatFixture {
			rows["usage left out as well"] = streamed(good[:len(good)-2]...)
		}
		p, b := pairOf(t, up, caller, byWord(rows))
		g := start(t, setup{primary: p, backup: b})
		for name := range rows {
			// The strict readers know what ends a stream and what may follow: nothing.
			a := g.ask(call{fixture: caller, stream: true, body: caller.asking(true, name)})
			a.success("primary", "ab")
			want := map[string]string{"chat": "data: [DONE]\n", "responses": "event: response.completed\n", "messages": "event: message_stop\n", "gemini": `"finishReason"`}
			if n := strings.Count(a.body(), want[caller.name]); n != 1 {
				t.Errorf("%s: %d times %q\n%s", name, n, want[caller.name], a.show())
			}
		}
	})
}

func TestChecklistS6ToolCallsComeWholeAndAreNeverSpliced(t *testing.T) {
	t.Parallel()
	const arguments = `{ "at" :"caf\u00e9 \"x\"", "n":1.50}`
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		t.Run("a call", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, up, caller, streamed(up.calls(primaryVoice, "call_1", arguments)...))
			g := start(t, setup{primary: p, backup: b, unary: "stream"})
			for _, stream := range bothForms {
				a := g.ask(call{fixture: caller, stream: stream, body: caller.withTool(stream)})
				r := a.success("primary", "")
				if len(r.calls) != 1 || r.calls[0].ID == "" || r.calls[0].Function.Name != "look" {
					t.Errorf("calls %+v\n%s", r.calls, a.show())
					continue
				}
				// Where both sides have arguments as a text they are the same bytes.
				got, exact := r.calls[0].Function.Arguments, stream && caller != &geminiFixture && up != &geminiFixture
				if exact && got != arguments || !sameJSON(got, arguments) {
					t.Errorf("arguments %s, want %s\n%s", got, arguments, a.show())
				}
			}
		})
		if up == &geminiFixture {
			return // it says a call all at once
		}
		t.Run("a cut in the arguments", func(t *testing.T) {
			t.Parallel()
			list := up.calls(primaryVoice, "call_1", `{"at":"he`)
			cut := map[string]int{"chat": 3, "responses": 4, "messages": 3}[up.name]
			p, b := pairOf(t, up, caller, then(opened(list[:cut]...), fin))
			g := start(t, setup{primary: p, backup: b, rescue: "splice"})
			a := g.ask(call{fixture: caller, stream: true, body: caller.withTool(true)})
			if r := a.read(); r.kind == "in-band" && caller != &geminiFixture {
				b.saw(0)
			} else if caller != &geminiFixture || r.kind == "success" && r.text != "B1B2" {
				t.Errorf("got %s %q: want an error, or the backup's answer to who has nothing yet\n%s", r.kind, r.text, a.show())
			}
		})
	})
	t.Run("calls that alternate", func(t *testing.T) {
		t.Parallel()
		piece := func(list string) string { return ch(`{"tool_calls":[`+list+`]}`, "null") }
		begin := func(i, id string) string {
			return piece(`{"index":` + i + `,"id":"` + id + `","type":"function","function":{"name":"look","arguments":""}}`)
		}
		more := func(i, text string) string {
			return piece(`{"index":` + i + `,"function":{"arguments":` + quote(text) + `}}`)
		}
		list := []string{role(), begin("0", "call_1"), begin("1", "call_2"), more("0", `{"at":`), more("1", `{"at":`), more("0", `"here"}`), more("1", `"there"}`), end("tool_calls"), done}
		everyFixture(t, func(t *testing.T, l *fixture) {
			p, b := pairOf(t, &chatFixture, l, streamed(list...))
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{fixture: l, stream: true, body: l.withTool(true)})
			r := a.success("primary", "")
			if len(r.calls) != 2 || !sameJSON(r.calls[0].Function.Arguments, `{"at":"here"}`) || !sameJSON(r.calls[1].Function.Arguments, `{"at":"there"}`) {
				t.Errorf("calls %+v\n%s", r.calls, a.show())
			}
		})
	})
}

func TestChecklistS7AnyFramingIsRead(t *testing.T) {
	t.Parallel()
	const text = "北京🌍"
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		big := strings.Repeat("x", 1<<20+1)
		good := up.good(primaryVoice, "a", text)
		whole := strings.Join(good, "\n\n") + "\n\n"
		rows := map[string]struct {
			pieces []string
			text   string
		}{
			"CRLF":               {[]string{strings.ReplaceAll(whole, "\n", "\r\n")}, "a" + text},
			"CR":                 {[]string{strings.ReplaceAll(whole, "\n", "\r")}, "a" + text},
			"no space":           {[]string{strings.ReplaceAll(strings.ReplaceAll(whole, "data: ", "data:"), "event: ", "event:")}, "a" + text},
			"data in lines":      {[]string{strings.ReplaceAll(whole, `,"`, ",\ndata: \"")}, "a" + text},
			"comments":           {[]string{": x\n\n:\n\n" + strings.ReplaceAll(whole, "data: ", ": x\ndata: ")}, "a" + text},
			"id and retry":       {[]string{"retry: 10\n\n" + strings.ReplaceAll(whole, "data: ", "id: 7\nretry: 10\ndata: ")}, "a" + text},
			"a byte order mark":  {[]string{"\ufeff" + whole}, "a" + text},
			"one byte at a time": {strings.Split(strings.ToValidUTF8(whole, ""), ""), "a" + text},
			"inside characters":  {cutInside(whole), "a" + text},
			"all at once":        {[]string{whole}, "a" + text},
			"more than 1 MiB":    {[]string{strings.Join(up.good(primaryVoice, big), "\n\n") + "\n\n"}, big},
		}
		p, b := pairOf(t, up, caller, nil)
		g := start(t, setup{primary: p, backup: b, unary: "stream"})
		for name, row := range rows {
			p.play(func(x *exchange) {
				x.open200()
				for _, piece := range row.pieces {
					x.chunk(piece)
				}
				x.cleanEnd()
			})
			for form, stream := range bothForms {
				if !stream && len(row.pieces) != 1 {
					continue // put together or not, they are read in the same way
				}
				a := g.ask(call{fixture: caller, stream: stream})
				if r := a.success("primary", row.text); r.kind != "success" || r.text != row.text {
					t.Errorf("that was %s, %s", name, form)
				}
			}
		}
	})
}

// cutInside cuts a text inside each of its characters.
func cutInside(text string) (list []string) {
	from := 0
	for i := 1; i < len(text); i++ {
		if text[i]&0xc0 == 0x80 {
			list = append(list, text[from:i])
			from = i
		}
	}
	return append(list, text[from:])
}

func TestChecklistS8KeepAlivesDisturbNobodyAndAreNoProgress(t *testing.T) {
	t.Parallel()
	everyFixture(t, func(t *testing.T, l *fixture) {
		t.Run("before the answer", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, l, l, func(x *exchange) {
				x.open200()
				if x.at(18) {
					x.event(l.good(primaryVoice, "a", "b")...)
					x.cleanEnd()
				}
			})
			g := start(t, setup{primary: p, backup: b, first: usual.sec(60), keepalive: usual.sec(5)})
			a := g.ask(call{fixture: l, stream: true})
			a.success("primary", "ab")
			sign := ": keep-alive\n\n"
			if l == &geminiFixture {
				sign = "\n\n" // its SDKs take a comment for a broken event
			}
			if n := signs(a.body(), sign); n < 3 || n > 4 {
				t.Errorf("%d signs of life, want 3\n%s", n, a.show())
			}
		})
		t.Run("no progress", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, l, l, then(opened(l.head(primaryVoice)...), hold))
			g := start(t, setup{primary: p, backup: b, scaled: true, keepalive: usual.sec(1)})
			a := g.ask(call{fixture: l, stream: true})
			if r := a.read(); r.kind != "success" || r.text != "B1B2" || a.tier() != "backup" {
				t.Errorf("got %s %q from %q\n%s", r.kind, r.text, a.tier(), a.show())
			}
			near(t, "the answer", a.took, usual.sec(4.5))
			g.counts("primary", 1)
		})
		t.Run("an error behind them", func(t *testing.T) {
			t.Parallel()
			p := newFakeOf(t, "primary", l, then(opened(l.head(primaryVoice)...), hold))
			g := start(t, setup{primary: p, scaled: true, keepalive: usual.sec(1)})
			g.ask(call{fixture: l, stream: true}).brokenOff("", "upstream_timeout")
		})
	})
}

// signs counts the signs of life that a stream begins with.
func signs(stream, sign string) (n int) {
	for strings.HasPrefix(stream, sign) {
		stream = stream[len(sign):]
		n++
	}
	return n
}

func TestChecklistS9AnEmptyFirstChunkPassesAndNamesStayTheSame(t *testing.T) {
	t.Parallel()
	const first = `data: {"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`
	everyFixture(t, func(t *testing.T, l *fixture) {
		p, b := pairOf(t, &chatFixture, l, streamed(append([]string{first}, chatFixture.good(primaryVoice, "a", "b")...)...))
		g := start(t, setup{primary: p, backup: b, unary: "stream"})
		for _, stream := range bothForms {
			a := g.ask(call{fixture: l, stream: stream})
			if r := a.success("primary", "ab"); len(r.ids) != 1 || len(r.models) != 1 || r.models[0] != "m" {
				t.Errorf("ids %q and models %q\n%s", r.ids, r.models, a.show())
			}
		}
		b.saw(0)
	})
}

func TestChecklistS10CompressedAnswersAreReadAsTheyCome(t *testing.T) {
	t.Parallel()
	everyPair(t, func(t *testing.T, caller, up *fixture) {
		t.Run("one body", func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			z := gzip.NewWriter(&out)
			_, _ = z.Write([]byte(up.whole(primaryVoice, "ab", up.stop)))
			_ = z.Close()
			p, b := pairOf(t, up, caller, func(x *exchange) { x.answer(200, "application/json", out.String(), "Content-Encoding: gzip") })
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{fixture: caller})
			if a.success("primary", "ab"); a.header.Get("Content-Encoding") != "" {
				t.Errorf("it goes out compressed\n%s", a.show())
			}
		})
		t.Run("a form that nobody asked for", func(t *testing.T) {
			t.Parallel()
			p, b := pairOf(t, up, caller, status(200, "\x1b\x03\x00\xf8\xa5", "Content-Encoding: br"))
			g := start(t, setup{primary: p, backup: b})
			for _, stream := range bothForms {
				a := g.ask(call{fixture: caller, stream: stream})
				if r := a.read(); r.kind != "success" || r.text != "B1B2" {
					t.Errorf("got %s %q\n%s", r.kind, r.text, a.show())
				}
			}
			if got := p.requests()[0].header.Get("Accept-Encoding"); got != "identity" && got != "" {
				t.Errorf("the upstream is asked for %q", got)
			}
		})
		for _, packed := range []bool{false, true} {
			name := map[bool]string{false: "each event as it comes", true: "each compressed event as it comes"}[packed]
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				seen := make(chan struct{}) // the caller has the first token
				p, b := pairOf(t, up, caller, func(x *exchange) {
					send := x.event
					if packed {
						x.chunked("text/event-stream", "Content-Encoding: gzip")
						var out bytes.Buffer
						z := gzip.NewWriter(&out)
						send = func(events ...string) {
							_, _ = z.Write([]byte(strings.Join(events, "\n\n") + "\n\n"))
							_ = z.Flush()
							x.chunk(out.String())
							out.Reset()
						}
					} else {
						x.open200()
					}
					good := up.good(primaryVoice, "first", "second")
					at := len(up.begun(primaryVoice, "first"))
					send(good[:at]...)
					select {
					case <-seen:
						send(good[at:]...)
						x.cleanEnd()
					case <-x.line.gone:
					case <-x.f.stop:
					}
					x.fin()
				})
				g := start(t, setup{primary: p, backup: b, first: patience, idle: patience})
				a := g.open(call{fixture: caller, stream: true})
				if a.has("first") {
					close(seen)
				}
				a.wait()
				a.success("primary", "firstsecond")
			})
		}
	})
}
