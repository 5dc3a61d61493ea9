package cases

import (
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backstop/internal/app"
	"backstop/internal/config"
)

// Section 10: callers, headers, leaks.

func TestF43ACallerWhoLeavesCancelsUpstream(t *testing.T) {
	t.Parallel()
	talking := opened(role(), tok("a"), tok("b"))
	rows := map[string]struct {
		script script
		call   call
		sees   string // before it leaves
	}{
		"a a token a second":             {then(talking, func(x *exchange) { x.every(1, 1, tok("c")) }), call{stream: true}, `"content":"b"`},
		"b silence after tokens":         {then(talking, hold), call{stream: true}, `"content":"b"`},
		"c before the headers":           {hold, call{stream: true}, ""},
		"c before the headers, one body": {hold, call{}, ""},
		"b gathered into one body":       {then(talking, hold), call{more: `"user":"gathered"`}, ""},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := pair(t, row.script)
			unary := ""
			if row.call.more != "" {
				unary = "stream"
			}
			g := start(t, setup{primary: p, backup: b, unary: unary})
			a := g.open(row.call)
			eventually(t, "the request is at the primary", func() bool { return p.count() == 1 })
			if row.sees != "" {
				a.has(row.sees)
			}
			a.leave()
			before(t, time.Second, "the connection upstream is closed", func() bool { return p.open() == 0 })
			if r := g.last(1); r.Outcome != "canceled" || len(r.Attempts) != 1 {
				t.Errorf("on record as %s with %d attempts", r.Outcome, len(r.Attempts))
			}
			p.saw(1)
			b.saw(0)
			g.counts("primary", 0)
		})
	}
}

// writeLimit is how long one write to a caller may take, as it is.
const writeLimit = 10 * time.Second

// flood sends tokens at full speed and counts the bytes that were taken.
func flood(sent *atomic.Int64) script {
	return func(x *exchange) {
		const total = 200 << 20
		_ = x.line.conn.SetWriteBuffer(256 << 10)
		x.open200()
		x.event(role())
		piece := tok(strings.Repeat("x", 64<<10))
		for sent.Load() < total && !x.shut {
			x.event(piece)
			sent.Add(int64(len(piece)))
		}
		x.event(end("stop"), done)
		x.cleanEnd()
		x.hold()
	}
}

// ignore opens a stream and reads nothing of it.
func (g *gateway) ignore() {
	g.t.Helper()
	conn, err := net.Dial("tcp", g.app.Addr())
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	const body = `{"model":"asked","messages":[{"role":"user","content":"flood"}],"stream":true}`
	if _, err := fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		g.t.Fatal(err)
	}
}

// settled waits until floods make no way any more, and returns how far they came.
func settled(t *testing.T, sent ...*atomic.Int64) (last int64) {
	t.Helper()
	since := time.Now()
	eventually(t, "the floods are held back", func() bool {
		var all int64
		for _, n := range sent {
			all += n.Load()
		}
		if all != last {
			last, since = all, time.Now()
		}
		return all > 0 && time.Since(since) > 300*time.Millisecond
	})
	return last
}

func TestF44ASlowReaderIsHeldBackAndThenCut(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes the write limit, 10 s")
	}
	var sent atomic.Int64
	p, b := pair(t, flood(&sent))
	g := start(t, setup{primary: p, backup: b, idle: 2 * writeLimit})
	began := time.Now()
	g.ignore()
	// Beside the program's own 8 MiB the kernel's buffers on the way are full.
	if n := settled(t, &sent); n > 8<<20+64<<20 {
		t.Errorf("the upstream got rid of %d MiB although nobody reads", n>>20)
	}
	before(t, writeLimit+3*time.Second, "the flood is cut", func() bool { return p.open() == 0 })
	if took := time.Since(began); took < writeLimit*9/10 {
		t.Errorf("the reader was cut after %s, before the write limit", took)
	}
	if r := g.last(1); r.Outcome != "canceled" {
		t.Errorf("on record as %s", r.Outcome)
	}
	g.counts("primary", 0)
	b.saw(0)
}

// TestF44FiftySlowReadersBesideANormalOne runs alone, for what fifty floods do
// to the machine until they are held back would show in other cases.
func TestF44FiftySlowReadersBesideANormalOne(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("takes the write limit, 10 s, and moves 2 GiB")
	}
	const many, tokens = 50, 40
	var mu sync.Mutex
	var sent []*atomic.Int64
	var told sync.Map // data of an event -> when it was written
	p, b := pair(t, func(x *exchange) {
		if strings.Contains(x.body, "flood") {
			n := &atomic.Int64{}
			mu.Lock()
			sent = append(sent, n)
			mu.Unlock()
			flood(n)(x)
			return
		}
		x.open200()
		for i := range tokens {
			x.at(float64(i) * 0.5)
			e := tok(fmt.Sprint(i, " "))
			told.Store(strings.TrimPrefix(e, "data: "), time.Now())
			x.event(e)
		}
		x.event(end("stop"), done)
		x.cleanEnd()
	})
	g := start(t, setup{primary: p, backup: b, first: patience, idle: 2 * writeLimit})
	empty := heap()
	for range many {
		g.ignore()
	}
	eventually(t, "all floods have begun", func() bool { mu.Lock(); defer mu.Unlock(); return len(sent) == many })
	settled(t, sent...)
	if full := heap(); full > empty && (full-empty)/many > 8<<20 {
		t.Errorf("each slow reader costs %d KiB", (full-empty)/many>>10)
	} else {
		t.Logf("each slow reader costs %d KiB", (max(full, empty)-empty)/many>>10)
	}
	a := g.ask(call{stream: true})
	a.prompt(&told, tokens)
	before(t, writeLimit+3*time.Second, "all floods are cut", func() bool { return p.idle() })
	g.last(many + 1)
	g.counts("primary", 0)
	b.saw(0)
}

// prompt checks that tokens arrived soon after they were written: told holds
// when each was. One in ten may be late on a shared machine.
func (a *answer) prompt(told *sync.Map, want int) {
	a.t.Helper()
	var delays []time.Duration
	for _, e := range a.events() {
		if at, ok := told.Load(e.data); ok {
			delays = append(delays, a.began.Add(e.at).Sub(at.(time.Time)))
		}
	}
	if len(delays) != want {
		a.t.Errorf("%d tokens came, want %d\n%s", len(delays), want, a.show())
		return
	}
	slices.Sort(delays)
	if limit := 50*time.Millisecond + lateness.since(a.began); delays[want*9/10] > limit && !raced {
		a.t.Errorf("tokens are late, limit %s: %v", limit, delays)
	}
}

// heap is what is in use after a collection.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}

func TestF45StreamsAreNotBuffered(t *testing.T) {
	t.Parallel()
	var told sync.Map
	p, b := pair(t, func(x *exchange) {
		x.open200()
		for i := range 20 {
			x.at(float64(i) * 2)
			e := tok(fmt.Sprint(i, " "))
			told.Store(strings.TrimPrefix(e, "data: "), time.Now())
			x.event(e)
		}
		x.event(end("stop"), done)
		x.cleanEnd()
	})
	g := start(t, setup{primary: p, backup: b})
	a := g.ask(call{stream: true, header: map[string]string{"Accept-Encoding": "gzip, br"}})
	if r := a.read(); r.kind != "success" {
		t.Errorf("%s\n%s", r.why, a.show())
	}
	a.prompt(&told, 20)
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "X-Accel-Buffering": "no", "Content-Length": "", "Content-Encoding": ""} {
		if got := a.header.Get(name); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	control := a.header.Get("Cache-Control")
	for _, word := range []string{"no-cache", "no-transform"} {
		if !strings.Contains(control, word) {
			t.Errorf("Cache-Control is %q", control)
		}
	}
}

func TestF46Keys(t *testing.T) {
	t.Parallel()
	credentials := map[string]string{"Authorization": "Bearer callers-own-key", "x-api-key": "callers-own-key", "Cookie": "s=callers-own-cookie"}
	// clean checks that a request has no credential but the upstream's own.
	clean := func(t *testing.T, x *exchange, key string) {
		t.Helper()
		if strings.Contains(x.head, "callers-own") || x.header.Get("Cookie") != "" {
			t.Errorf("the upstream sees what is the caller's:\n%s", x.head)
		}
		if got := x.header.Get("Authorization"); key == "" && got != "" || key != "" && got != "Bearer "+key {
			t.Errorf("%s gets the credential %q", x.f.name, got)
		}
		for _, other := range []string{primaryKey, backupKey} {
			if other != key && strings.Contains(x.head+x.body, other) {
				t.Errorf("%s sees another upstream's key:\n%s", x.f.name, x.head)
			}
		}
	}
	t.Run("a no key for the primary", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, good)
		g := start(t, setup{primary: p, backup: b, primaryYAML: "key: \"\"\n"})
		g.ask(call{stream: true, header: credentials}).success("primary", "ab")
		clean(t, p.requests()[0], "")
	})
	t.Run("a a key that is not set", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, good)
		s := setup{primary: p, backup: b, primaryYAML: "key: \"${NOT_SET}\"\n"}
		_, err := app.New(app.Options{StateDir: t.TempDir(), Load: func() (*config.Config, []config.Warning, error) {
			return config.Parse("case.yaml", s.yaml(), config.Options{})
		}})
		if err == nil || !strings.Contains(err.Error(), "NOT_SET") {
			t.Errorf("the start does not fail with the name of the variable: %v", err)
		}
	})
	t.Run("b each sees its own key", func(t *testing.T) {
		t.Parallel()
		p, b := pair(t, status(503, `{"error":{"message":"m"}}`))
		g := start(t, setup{primary: p, backup: b})
		g.ask(call{stream: true, header: credentials}).fromBackup("broken/overload")
		clean(t, p.requests()[0], primaryKey)
		clean(t, b.requests()[0], backupKey)
	})
	t.Run("c a redirection", func(t *testing.T) {
		t.Parallel()
		elsewhere := newFake(t, "elsewhere", good)
		p, b := pair(t, status(307, "", "Location: http://"+elsewhere.addr()+"/v1/chat/completions"))
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{stream: true})
		elsewhere.saw(0)
		if r := a.read(); r.kind == "success" && a.header.Get("X-Backstop-Tier") != "backup" || a.status == 307 || a.header.Get("Location") != "" {
			t.Errorf("the redirection has an effect\n%s", a.show())
		}
	})
	t.Run("d an address in the body", func(t *testing.T) {
		t.Parallel()
		elsewhere := newFake(t, "elsewhere", good)
		p, b := pair(t, good)
		g := start(t, setup{primary: p, backup: b})
		a := g.ask(call{stream: true, more: `"api_base":"http://` + elsewhere.addr() + `/v1","api_key":"k","base_url":"http://` + elsewhere.addr() + `"`})
		elsewhere.saw(0)
		if r := a.read(); r.kind != "success" && a.status != 400 {
			t.Errorf("want it ignored or refused\n%s", a.show())
		}
	})
}

func TestF47ErrorEnvelopes(t *testing.T) {
	t.Parallel()
	page := "<!DOCTYPE html><html><body>" + strings.Repeat("<p>bad gateway</p>", 8<<10/18) + "</body></html>"
	rows := map[string]struct{ contentType, body, message string }{
		"a error_code":        {"application/json", `{"error_code":"BAD_REQUEST","message":"bad x"}`, "bad x"},
		"b detail":            {"application/json", `{"detail":"bad x"}`, "bad x"},
		"c a list of details": {"application/json", `{"detail":[{"msg":"bad x"}]}`, "bad x"},
		"d a text":            {"application/json", `{"error":"bad x"}`, "bad x"},
		"e object error":      {"application/json", `{"object":"error","message":"bad x","code":400}`, "bad x"},
		"f an event":          {"text/event-stream", "event: error\ndata: {\"error\":{\"message\":\"bad x\",\"type\":\"invalid_request_error\"}}\n\n", "bad x"},
		"g a page":            {"text/html", page, ""},
	}
	for name, row := range rows {
		for form, stream := range bothForms {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				p := newFake(t, "primary", func(x *exchange) { x.answer(400, row.contentType, row.body) })
				g := start(t, setup{primary: p})
				a := g.ask(call{stream: stream})
				r := a.read()
				if r.kind != "http-error" || !strings.Contains(r.fault.Message, row.message) || strings.Contains(a.body(), "<p>") {
					t.Errorf("want an error with %q and nothing of a page\n%s", row.message, a.show())
				}
				if a.status != 400 && row.message != "" {
					t.Errorf("status %d, want 400\n%s", a.status, a.show())
				}
			})
		}
	}
}
