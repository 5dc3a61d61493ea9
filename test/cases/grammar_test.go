package cases

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// Section 5: the grammar of event streams.

func TestF24LongLines(t *testing.T) {
	t.Parallel()
	for _, size := range []int{65_535, 65_536, 65_537, 1_048_577, 4_194_304} {
		t.Run(fmt.Sprintf("%d bytes", size), func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat("x", size-len(tok("")))
			p, b := pair(t, streamed(role(), tok(text), end("stop"), done))
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{stream: true})
			if len(tok(text)) != size {
				t.Fatalf("the line has %d bytes", len(tok(text)))
			}
			a.success("primary", text)
		})
	}
	t.Run("above the limit", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(opened(role(), tok("a")), func(x *exchange) {
			piece := strings.Repeat("x", 1<<20)
			x.chunk(`data: {"id":"c1","x":"`)
			for i := 0; i < 64 && !x.shut; i++ {
				x.chunk(piece)
			}
			x.hold()
		}))
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{stream: true})
		a.brokenOff("a", "event_too_large")
		b.saw(0)
		g.counts("primary", 0)
	})
}

func TestF25LineEndsSpacesAndMixed(t *testing.T) {
	t.Parallel()
	list := []string{role(), tok("a"), tok("b"), end("stop"), usage(10, 2), done}
	play := func(form func(i int, event string) string) script {
		return func(x *exchange) {
			x.open200()
			for i, e := range list {
				x.chunk(form(i, e))
			}
			x.cleanEnd()
		}
	}
	crlf := func(_ int, e string) string { return e + "\r\n\r\n" }
	bare := func(_ int, e string) string { return strings.Replace(e, "data: ", "data:", 1) + "\n\n" }
	rows := map[string]script{
		"a CRLF":     play(crlf),
		"b no space": play(bare),
		"c alternating": play(func(i int, e string) string {
			if i%2 == 0 {
				return crlf(i, e)
			}
			return bare(i, e)
		}),
		"e two data lines": play(func(_ int, e string) string {
			return "event: message\n" + strings.Replace(e, `,"choices"`, ",\ndata: \"choices\"", 1) + "\n\n"
		}),
	}
	for name, s := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, s)
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{stream: true})
			a.success("primary", "ab")
			g.tried("primary", "ok")
			if r := g.last(1); r.Input != 10 || r.Output != 2 {
				t.Errorf("usage on record is %d/%d, want 10/2", r.Input, r.Output)
			}
		})
		t.Run(name+", an error", func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, func(x *exchange) {
				x.open200()
				switch {
				case strings.HasPrefix(name, "b"):
					x.chunk(bare(0, overloadedFrame))
				case strings.HasPrefix(name, "e"):
					x.chunk(strings.Replace(overloadedFrame, `,"type"`, ",\ndata: \"type\"", 1) + "\n\n")
				default:
					x.chunk(crlf(0, overloadedFrame))
				}
				x.hold()
			})
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{stream: true})
			a.fromBackup("broken/overload")
			below(t, "the answer", a.took, atOnce)
		})
	}
	t.Run("d each event when it is whole", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, func(x *exchange) {
			x.open200()
			for i, e := range list[:3] {
				x.at(float64(i))
				x.chunk(e + "\r\n\r\n")
			}
			x.hold()
		})
		g := start(t, setup{primary: p, backup: b})
		a := g.open(call{stream: true})
		a.has(`"content":"b"`)
		a.leave()
		g.last(1)
	})
	t.Run("d 64 MiB", func(t *testing.T) {
		t.Parallel()
		if testing.Short() || raced {
			t.Skip("moves 64 MiB")
		}
		const events = 4096
		text := strings.Repeat("x", 16<<10)
		p, b := pair(t, func(x *exchange) {
			x.open200()
			x.chunk(role() + "\r\n\r\n")
			e := tok(text) + "\r\n\r\n"
			for range events {
				x.chunk(e)
			}
			x.chunk(end("stop") + "\r\n\r\n" + done + "\r\n\r\n")
			x.cleanEnd()
		})
		g := start(t, setup{primary: p, backup: b})
		r := g.ask(call{stream: true}).read()
		if r.kind != "success" || len(r.text) != events*len(text) || len(r.chunks) != events+2 {
			t.Errorf("got %s with %d bytes in %d chunks, want %d in %d", r.kind, len(r.text), len(r.chunks), events*len(text), events+2)
		}
	})
}

func TestF26LineSeparatorsInAString(t *testing.T) {
	t.Parallel()
	// The encoder of the tests escapes them: the upstream sends the raw bytes.
	raw := strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029")
	first := raw.Replace(tok("a\u2028b\u2029c"))
	if strings.Count(first, "\xe2\x80\xa8") != 1 {
		t.Fatalf("not the raw bytes: %q", first)
	}
	p, b := pair(t, streamed(role(), first, ch(`{"content":"`+"\u2028"+`"}`, `"stop"`), done))
	g := start(t, setup{primary: p, backup: b})
	g.ask(call{stream: true}).success("primary", "a\u2028b\u2029c\u2028")
}

func TestF27AnySegmentation(t *testing.T) {
	t.Parallel()
	const text = "北京🌍"
	list := []string{role(), tok(text), end("stop"), usage(10, 3), done}
	stream := strings.Join(list, "\n\n") + "\n\n"
	cutAt := func(places ...int) []string {
		var out []string
		from := 0
		for _, at := range places {
			out = append(out, stream[from:at])
			from = at
		}
		return append(out, stream[from:])
	}
	var bytewise, inside []int
	for i := 1; i < len(stream); i++ {
		bytewise = append(bytewise, i)
		if !utf8.RuneStart(stream[i]) {
			inside = append(inside, i)
		}
	}
	rows := map[string]struct {
		pieces []string
		chunks int
		text   string
	}{
		"a one byte a segment":        {cutAt(bytewise...), 3, text},
		"b inside the characters":     {cutAt(inside...), 3, text},
		"c fields in segments":        {strings.SplitAfter("event: message\n"+strings.ReplaceAll(strings.TrimSuffix(stream, "\n\n"), "\n\n", "\n\nevent: message\n")+"\n\n", "\n"), 3, text},
		"d fifty events in a segment": {[]string{role() + "\n\n" + strings.Repeat(tok("x")+"\n\n", 50) + end("stop") + "\n\n" + done + "\n\n"}, 52, strings.Repeat("x", 50)},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, func(x *exchange) {
				x.open200()
				for _, piece := range row.pieces {
					x.chunk(piece)
				}
				x.cleanEnd()
			})
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{stream: true})
			r := a.success("primary", row.text)
			if len(r.chunks) != row.chunks || strings.Contains(a.body(), "\uFFFD") {
				t.Errorf("%d chunks, want %d\n%s", len(r.chunks), row.chunks, a.show())
			}
		})
	}
}

func TestF28CommentLines(t *testing.T) {
	t.Parallel()
	comments := func(x *exchange) {
		x.open200()
		for range 3 {
			x.chunk(": OPENROUTER PROCESSING\n\n")
		}
		x.chunk(":\n\n")
	}
	t.Run("then an answer", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, func(x *exchange) {
			comments(x)
			x.chunk(": x\n" + role() + "\n\n")
			x.chunk(": x\n" + tok("a") + "\n\n")
			x.event(tok("b"), end("stop"), usage(10, 2), done)
			x.cleanEnd()
		})
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{stream: true})
		r := a.success("primary", "ab")
		if len(r.chunks) != 4 || strings.Contains(a.body(), "data: :") || strings.Contains(a.body(), "data: OPENROUTER") {
			t.Errorf("%d chunks, want 4 and no comment as data\n%s", len(r.chunks), a.show())
		}
	})
	t.Run("then an answer in one body", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, func(x *exchange) {
			comments(x)
			x.event(role(), tok("a"), tok("b"), end("stop"), done)
			x.cleanEnd()
		})
		g := start(t, setup{primary: p, backup: b, unary: "stream"})
		g.ask(call{}).success("primary", "ab")
	})
	t.Run("they do not commit", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, then(comments, hold))
		g := start(t, setup{primary: p, backup: b, scaled: true})
		a := g.ask(call{stream: true})
		a.fromBackup("hang")
		near(t, "the status line", a.opened, usual.sec(4.5))
	})
}
