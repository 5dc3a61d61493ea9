package backstophttp

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/internal/testkit"
	"backstop/wire"
	"backstop/wire/openai"
)

func TestMain(m *testing.M) { testkit.Leaks(m) }

// Events of a small stream in the OpenAI dialect.
const (
	role = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}` + "\n\n"
	done = "data: [DONE]\n\n"
)

func token(text string) string {
	return fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":%q},"finish_reason":null}]}`+"\n\n", text)
}

func finish(reason string) string {
	return fmt.Sprintf(`data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":%q}]}`+"\n\n", reason)
}

func good(text string) []string { return []string{role, token(text), finish("stop"), done} }

func plainBody(text string) string {
	return fmt.Sprintf(`{"id":"c1", "object":"chat.completion","created":1,"model":"m","odd":[1, 2],"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, text)
}

// answers makes a handler of what an upstream does. Words: "hang" holds the
// connection until the other side closes it, "wait:DURATION" sleeps, "fin"
// breaks the connection; everything else is written and flushed.
func answers(script ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		act(w, r, script)
	}
}

func act(w http.ResponseWriter, r *http.Request, script []string) {
	for _, word := range script {
		switch {
		case word == "hang":
			<-r.Context().Done()
			return
		case word == "fin":
			panic(http.ErrAbortHandler)
		case strings.HasPrefix(word, "wait:"):
			d, _ := time.ParseDuration(word[len("wait:"):])
			t := time.NewTimer(d)
			select {
			case <-t.C:
			case <-r.Context().Done():
				t.Stop()
				return
			}
		default:
			_, _ = io.WriteString(w, word)
			w.(http.Flusher).Flush()
		}
	}
}

// body answers with one JSON body and a status.
func body(status int, text string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// house is a driver with two upstreams in memory, inside a synctest bubble.
type house struct {
	t      *testing.T
	d      *Driver
	plan   *backstop.Plan
	mu     sync.Mutex
	seen   map[string]int // requests by upstream
	bodies map[string]string
	events []*backstop.Event
	turns  []backstop.Transition
}

type setup struct {
	primary, backup http.HandlerFunc // nil = refuses connections
	change          func(*backstop.Plan)
	options         Options
}

// in runs a test in a bubble of virtual time.
func in(t *testing.T, s setup, test func(h *house)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &house{t: t, seen: map[string]int{}, bodies: map[string]string{}}
		pipes := map[string]*testkit.Pipe{}
		var servers []*http.Server
		for name, handler := range map[string]http.HandlerFunc{"primary": s.primary, "backup": s.backup} {
			if handler == nil {
				continue
			}
			p := testkit.NewPipe()
			srv := &http.Server{Handler: h.count(name, handler)}
			pipes[name+".test:80"] = p
			servers = append(servers, srv)
			go func() { _ = srv.Serve(p) }()
		}
		o := s.options
		o.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if p := pipes[addr]; p != nil {
				return p.DialContext(ctx, network, addr)
			}
			return nil, &net.OpError{Op: "dial", Net: network, Err: io.ErrClosedPipe}
		}
		o.Observe = func(e *backstop.Event) { h.mu.Lock(); h.events = append(h.events, e); h.mu.Unlock() }
		o.Transition = func(tr backstop.Transition) { h.mu.Lock(); h.turns = append(h.turns, tr); h.mu.Unlock() }
		h.plan = pair(s.change)
		d, err := NewDriver(h.plan, o)
		if err != nil {
			t.Fatal(err)
		}
		h.d = d
		test(h)
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
		for _, srv := range servers {
			_ = srv.Close()
		}
		synctest.Wait()
	})
}

// pair is the smallest plan: primary, backup, template.
func pair(change func(*backstop.Plan)) *backstop.Plan {
	p := &backstop.Plan{Seed: 1}
	for _, name := range []string{"primary", "backup"} {
		u := backstop.DefaultUpstream()
		u.Name, u.BaseURL, u.Proxy = name, "http://"+name+".test/v1", "off"
		u.Retry.Max = 0
		p.Upstreams = append(p.Upstreams, u)
	}
	r := backstop.DefaultRoute()
	r.Model = "*"
	r.Tiers = []backstop.Tier{{Upstream: "primary"}, {Upstream: "backup"}, {Local: &backstop.Local{Template: &backstop.Template{Text: "busy", JSON: []byte(`{"busy":true}`)}}}}
	p.Routes = []backstop.Route{r}
	if os.Getenv("BACKSTOP_HEDGED") != "" { // every test on the way that hedges take, although none begins
		p.Routes[0].Hedge.After = time.Hour
	}
	if change != nil {
		change(p)
	}
	p.Routes[0].Deadline = backstop.AutoDeadline(p, &p.Routes[0])
	return p
}

func (h *house) count(name string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(b)))
		h.mu.Lock()
		h.seen[name]++
		h.bodies[name] = string(b)
		h.mu.Unlock()
		next(w, r)
	})
}

func (h *house) saw(name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.seen[name]
}

// page is a caller that notes what it gets and when.
type page struct {
	mu     sync.Mutex
	began  time.Time
	header http.Header
	status int
	text   strings.Builder
	at     []time.Duration // of each write
	first  time.Duration   // of the status
	stall  time.Duration   // each write takes so long
	broken bool
}

func newPage() *page { return &page{began: time.Now(), header: http.Header{}} }

func (p *page) Header() http.Header { return p.header }
func (p *page) Flush()              {}

func (p *page) WriteHeader(status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status == 0 {
		p.status, p.first = status, time.Since(p.began)
	}
}

func (p *page) Write(b []byte) (int, error) {
	p.WriteHeader(200)
	if p.stall > 0 {
		time.Sleep(p.stall)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return 0, io.ErrClosedPipe
	}
	p.at = append(p.at, time.Since(p.began))
	return p.text.Write(b)
}

func (p *page) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

const (
	unary  = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`
	stream = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	asJSON = `{"model":"m","response_format":{"type":"json_object"},"messages":[{"role":"user","content":"json"}]}`
)

func (h *house) read(body string) *wire.Request {
	h.t.Helper()
	q, f := (openai.Room{}).Read(wire.Chat, []byte(body))
	if f != nil {
		h.t.Fatal(f)
	}
	return q
}

// call serves a call and returns what the caller got.
func (h *house) call(body string) (*page, *backstop.Event) {
	h.t.Helper()
	return h.serve(context.Background(), &Call{Request: h.read(body), ID: "req_1", Caller: "web"})
}

func (h *house) serve(ctx context.Context, c *Call) (*page, *backstop.Event) {
	p := newPage()
	return p, h.d.Serve(ctx, p, c)
}

// textOf puts the content of a streamed answer together.
func textOf(stream string) string {
	var b strings.Builder
	for _, line := range strings.Split(stream, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.HasPrefix(data, "{") {
			_, rest, ok := strings.Cut(data, `"content":"`)
			if ok {
				text, _, _ := strings.Cut(rest, `"`)
				b.WriteString(text)
			}
		}
	}
	return b.String()
}

func (h *house) want(p *page, status int, tier string) {
	h.t.Helper()
	if p.status != status || p.header.Get("X-Backstop-Tier") != tier {
		h.t.Fatalf("status %d, tier %q, want %d %q\nheaders %v\n%s", p.status, p.header.Get("X-Backstop-Tier"), status, tier, p.header, p)
	}
	for _, name := range []string{"X-Request-Id", "Request-Id"} {
		if p.header.Get(name) != "req_1" {
			h.t.Errorf("header %s is %q", name, p.header.Get(name))
		}
	}
	if !strings.Contains(p.header.Get("Cache-Control"), "no-store") {
		h.t.Errorf("Cache-Control is %q", p.header.Get("Cache-Control"))
	}
}
