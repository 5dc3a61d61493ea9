package cases

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Section 4: wrong or empty bodies.

func TestF19A200WithNothingInIt(t *testing.T) {
	t.Parallel()
	blank := func(until float64, then func(x *exchange)) script {
		return func(x *exchange) {
			x.chunked("application/json")
			for s := 1.0; s <= until && x.at(s); s++ {
				x.chunk("\n")
			}
			if !x.shut {
				then(x)
			}
		}
	}
	rows := map[string]struct {
		stream  bool
		script  script
		outcome string
		reason  string
		code    string
		status  int
		late    bool
	}{
		"a blank lines for 10 s":      {false, blank(10, func(x *exchange) { x.cleanEnd() }), "hang/first_token", "hang", "upstream_timeout", 504, true},
		"c a stream without an event": {true, streamed(), "garbled/empty", "garbled/empty", "upstream_empty", 502, false},
		"d no bytes":                  {false, status(200, ""), "garbled/empty", "garbled/empty", "upstream_empty", 502, false},
		"d no bytes for a stream":     {true, status(200, ""), "garbled/empty", "garbled/empty", "upstream_empty", 502, false},
		"e comments and the end":      {true, streamed(": keep-alive", ": keep-alive", ": keep-alive", done), "garbled/empty", "garbled/empty", "upstream_empty", 502, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, row.script)
			g := start(t, setup{primary: p, backup: b, scaled: row.late})
			a := g.ask(call{stream: row.stream})
			a.fromBackup(row.reason)
			g.tried("primary", row.outcome)
			g.counts("primary", 1)
			if row.late {
				near(t, "the answer", a.took, usual.sec(4.5))
			}
		})
		t.Run(name+", nobody else", func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", row.script)
			g := start(t, setup{primary: p, scaled: row.late})
			g.ask(call{stream: row.stream}).refused(row.status, row.code)
		})
	}
	t.Run("b blank lines, then an answer", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, blank(3, func(x *exchange) {
			x.chunk(whole("ab", "stop"))
			x.cleanEnd()
		}))
		p.pace = 4
		g := start(t, setup{primary: p, backup: b, scaled: true})
		g.ask(call{}).success("primary", "ab")
		g.tried("primary", "ok")
		g.counts("primary", 0)
	})
}

func TestF20HTMLOrAlienJSONWith200(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html><html><head><title>Welcome</title></head><body>Welcome</body></html>"
	rows := map[string]struct {
		contentType, body, outcome string
	}{
		"a a page":          {"text/html", page, "garbled/html"},
		"b a page as JSON":  {"application/json", page, "garbled/html"},
		"c JSON of another": {"application/json", `{"html-message":"link broken"}`, "garbled/protocol"},
		"d a text":          {"text/plain", "OK", "garbled/protocol"},
	}
	for name, row := range rows {
		s := func(x *exchange) { x.answer(200, row.contentType, row.body) }
		for form, stream := range bothForms {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				p, b := pair(t, s)
				g := start(t, setup{primary: p, backup: b})
				a := g.ask(call{stream: stream})
				a.fromBackup(row.outcome)
				g.tried("primary", row.outcome)
				g.counts("primary", 1)
			})
			t.Run(name+", "+form+", nobody else", func(t *testing.T) {
				t.Parallel()
				p := newFake(t, "primary", s)
				g := start(t, setup{primary: p})
				a := g.ask(call{stream: stream})
				a.refused(502, "upstream_unavailable")
				if strings.Contains(a.body(), "<") || strings.Contains(a.body(), "link broken") {
					t.Errorf("the upstream's page reaches the caller\n%s", a.show())
				}
			})
		}
	}
}

func TestF21EmptyCompletion(t *testing.T) {
	t.Parallel()
	body := func(message, finish string, completion int) string {
		return fmt.Sprintf(`{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":%s,"finish_reason":%q}],"usage":%s}`,
			message, finish, usageOf(10, completion))
	}
	empty := map[string]struct {
		stream bool
		script script
	}{
		"a a plain answer": {false, status(200, body(`{"role":"assistant","content":""}`, "stop", 0))},
		"e a stream":       {true, streamed(role(), end("stop"), done)},
	}
	for name, row := range empty {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, row.script)
			g := start(t, setup{primary: p, backup: b})
			g.ask(call{stream: row.stream}).fromBackup("garbled/blank")
			g.tried("primary", "garbled/blank")
			g.counts("primary", 0)
		})
		t.Run(name+", nobody else", func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", row.script)
			g := start(t, setup{primary: p})
			g.ask(call{stream: row.stream}).refused(502, "upstream_empty")
		})
	}
	whole := map[string]string{
		"b a tool call":      body(`{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]}`, "tool_calls", 5),
		"c a content filter": body(`{"role":"assistant","content":""}`, "content_filter", 0),
		"d a length limit":   `{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":10,"completion_tokens":900,"total_tokens":910,"completion_tokens_details":{"reasoning_tokens":900}}}`,
	}
	for name, body := range whole {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, status(200, body))
			g := start(t, setup{primary: p, backup: b})
			a := g.ask(call{})
			if a.status != 200 || a.body() != body {
				t.Errorf("want the upstream's own bytes\n%s", a.show())
			}
			b.saw(0)
			g.counts("primary", 0)
		})
	}
}

func TestF22GzipOnAnEventStream(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	flushed := map[string]time.Time{}
	p, b := pair(t, func(x *exchange) {
		x.chunked("text/event-stream", "Content-Encoding: gzip")
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		for i, e := range []string{role(), tok("北"), tok("京"), tok("🌍"), end("stop"), usage(10, 3), done} {
			x.at(float64(i))
			_, _ = io.WriteString(z, e+"\n\n")
			_ = z.Flush()
			mu.Lock()
			flushed[strings.TrimPrefix(e, "data: ")] = time.Now()
			mu.Unlock()
			x.chunk(out.String())
			out.Reset()
		}
		_ = z.Close()
		x.chunk(out.String())
		x.cleanEnd()
	})
	g := start(t, setup{primary: p, backup: b})
	a := g.ask(call{stream: true})
	a.success("primary", "北京🌍")
	if got := p.requests()[0].header.Get("Accept-Encoding"); got != "identity" && got != "" {
		t.Errorf("the upstream is asked for %q", got)
	}
	if a.header.Get("Content-Encoding") != "" || strings.Contains(a.body(), "\uFFFD") {
		t.Errorf("want plain text\n%s", a.show())
	}
	mu.Lock()
	defer mu.Unlock()
	for _, e := range a.events() {
		if sent, ok := flushed[e.data]; ok && e.data != role()[len("data: "):] {
			below(t, "an event", a.began.Add(e.at).Sub(sent), 100*time.Millisecond)
		}
	}
	if r := g.last(1); r.Input != 10 || r.Output != 3 {
		t.Errorf("usage on record is %d/%d, want 10/3", r.Input, r.Output)
	}
}

func TestF23RequestFramingAndCompression(t *testing.T) {
	t.Parallel()
	const chat = `{"model":"asked","messages":[{"role":"user","content":"hi"}]}`
	const line = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	compress := func(text string) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		return out.Bytes()
	}
	// framed checks what the upstream saw: one framing, its true length.
	framed := func(t *testing.T, x *exchange) {
		t.Helper()
		head := strings.ToLower(x.head)
		if strings.Count(head, "content-length:") != 1 || strings.Contains(head, "transfer-encoding") || x.header.Get("Content-Length") != strconv.Itoa(len(x.body)) {
			t.Errorf("not exactly one framing with the true length:\n%s", x.head)
		}
		var q struct{ Model string }
		if err := json.Unmarshal([]byte(x.body), &q); err != nil || q.Model != "m" {
			t.Errorf("the body is %s (%v), want one for model m", x.body, err)
		}
		for _, name := range []string{"X-A", "Keep-Alive", "Te", "Proxy-Authorization", "Content-Encoding", "Connection"} {
			if v := x.header.Values(name); len(v) > 0 && name != "Connection" || len(v) > 0 && !strings.EqualFold(v[0], "close") {
				t.Errorf("the upstream sees %s: %q", name, v)
			}
		}
	}
	requests := map[string]string{
		"a with a length": line + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(chat), chat),
		"b chunked":       line + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", 10, chat[:10], len(chat)-10, chat[10:]),
		"c hop-by-hop headers": line + "Connection: x-a\r\nx-a: 1\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nProxy-Authorization: Basic eDp5\r\n" +
			fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(chat), chat),
		"d gzip": line + fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(compress(chat)), compress(chat)),
	}
	for name, text := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, good)
			g := start(t, setup{primary: p, backup: b})
			g.askRaw(text).success("primary", "ab")
			framed(t, p.requests()[0])
		})
	}
	t.Run("d zstd", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, good)
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{encoded: []byte("\x28\xb5\x2f\xfd\x04\x00"), header: map[string]string{"Content-Encoding": "zstd"}})
		a.refused(415, "unsupported_media")
		p.saw(0)
	})
	t.Run("e a bomb of 1 GiB", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, good)
		g := start(t, setup{primary: p, backup: b})
		const member = 16 << 20
		bomb := bytes.Repeat(compress(strings.Repeat(" ", member)), 1<<30/member)
		a := g.ask(call{encoded: bomb, header: map[string]string{"Content-Encoding": "gzip"}})
		a.refused(413, "too_large")
		p.saw(0)
	})
	t.Run("f the backup gets it whole", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, status(503, `{"error":{"message":"m"}}`))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{more: `"x":"` + strings.Repeat("y", 1<<20) + `"`}).fromBackup("broken/overload")
		ours, theirs := p.requests()[0].body, b.requests()[0].body
		if len(theirs) < 1<<20 || strings.Replace(ours, `"model":"m"`, `"model":"mb"`, 1) != theirs {
			t.Errorf("the backup got %d bytes, the primary %d: want the same but for the model", len(theirs), len(ours))
		}
	})
}
