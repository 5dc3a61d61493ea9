package cases

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// call is a request of a caller.
type call struct {
	fixture *fixture // nil = chat
	path    string   // "" = the fixture's
	stream  bool
	body    string // "" = a chat with one message; "…" in front of the brace: more members
	more    string // members added to the usual body
	header  map[string]string
	encoded []byte // body as it goes out, instead of body
	theirs  bool   // an error may be the upstream's own, in the shape that it has
}

func (c *call) text() string {
	if c.body != "" {
		return c.body
	}
	more := ""
	if c.more != "" {
		more = "," + c.more
	}
	if c.fixture != nil {
		return strings.TrimSuffix(c.fixture.body(c.stream), "}") + more + "}"
	}
	return fmt.Sprintf(`{"model":"asked","messages":[{"role":"user","content":"hi"}],"stream":%t%s}`, c.stream, more)
}

// answer is what came back, as far as it has come.
type answer struct {
	t      testing.TB
	g      *gateway
	call   call
	began  time.Time
	cancel context.CancelFunc

	status int
	header http.Header
	opened time.Duration // until the status line
	took   time.Duration // until the end
	err    error         // nil = a clean end

	mu    sync.Mutex
	raw   []byte
	reads []arrival
	ended chan struct{}
	taken *reading // once it was read
}

// arrival says when the body had grown to a size.
type arrival struct {
	size int
	at   time.Duration
}

// ask sends a call and waits for the end of its answer, which keeps the rules.
func (g *gateway) ask(c call) *answer {
	g.t.Helper()
	a := g.open(c)
	a.wait()
	return a
}

// open sends a call; its answer is read in the background.
func (g *gateway) open(c call) *answer {
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	a := &answer{t: g.t, g: g, call: c, cancel: cancel, ended: make(chan struct{}), began: time.Now()}
	g.mu.Lock()
	g.answers = append(g.answers, a)
	g.mu.Unlock()
	go a.run(ctx)
	return a
}

// together opens n calls at once and waits for all of them.
func (g *gateway) together(n int, c call) []*answer {
	g.t.Helper()
	list := make([]*answer, n)
	for i := range list {
		list[i] = g.open(c)
	}
	for _, a := range list {
		a.wait()
	}
	return list
}

func (a *answer) run(ctx context.Context) {
	defer a.cancel()
	defer close(a.ended)
	a.err = a.exchange(ctx)
	a.took = time.Since(a.began)
}

func (a *answer) exchange(ctx context.Context) error {
	path := or(a.call.path, a.fixture().path(a.call.stream))
	body := a.call.encoded
	if body == nil {
		body = []byte(a.call.text())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.g.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range a.call.header {
		req.Header.Set(name, value)
	}
	resp, err := a.g.conns.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	a.head(resp)
	return a.follow(resp.Body)
}

// fixture is the caller's.
func (a *answer) fixture() *fixture { return or(a.call.fixture, &chatFixture) }

func (a *answer) head(resp *http.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status, a.header, a.opened = resp.StatusCode, resp.Header, time.Since(a.began)
}

// askRaw sends a request as the bytes given, over a connection of its own.
func (g *gateway) askRaw(request string) *answer {
	g.t.Helper()
	a := &answer{t: g.t, g: g, cancel: func() {}, ended: make(chan struct{}), began: time.Now()}
	conn, err := net.Dial("tcp", g.app.Addr())
	if err != nil {
		g.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * patience))
	go func() { _, _ = io.WriteString(conn, request) }()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		g.t.Fatal(err)
	}
	a.head(resp)
	a.err = a.follow(resp.Body)
	a.took = time.Since(a.began)
	close(a.ended)
	return a.wait()
}

func (a *answer) follow(body io.Reader) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		a.mu.Lock()
		a.raw = append(a.raw, buf[:n]...)
		a.reads = append(a.reads, arrival{len(a.raw), time.Since(a.began)})
		a.mu.Unlock()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// wait waits for the end and checks the rules that hold for every answer.
func (a *answer) wait() *answer {
	a.t.Helper()
	select {
	case <-a.ended:
	case <-time.After(5 * patience):
		a.t.Fatal("the answer does not end")
	}
	a.rules()
	return a
}

// leave closes the caller's connection in the middle.
func (a *answer) leave() {
	a.cancel()
	<-a.ended
}

// has waits until the body holds a text.
func (a *answer) has(text string) bool {
	a.t.Helper()
	return eventually(a.t, fmt.Sprintf("the answer has %q", text), func() bool { return strings.Contains(a.sofar(), text) })
}

func (a *answer) sofar() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return string(a.raw)
}

// body is the whole body.
func (a *answer) body() string { return a.sofar() }

// event is one event of the answer.
type event struct {
	name    string
	data    string
	comment string
	at      time.Duration
}

// events cuts the body into events; it knows only what the gateway may write.
func (a *answer) events() (list []event) {
	a.mu.Lock()
	defer a.mu.Unlock()
	size := 0
	name := ""
	var data, comments []string
	flush := func() {
		if len(data) > 0 || len(comments) > 0 {
			list = append(list, event{name, strings.Join(data, "\n"), strings.Join(comments, "\n"), a.arrived(size)})
		}
		name, data, comments = "", nil, nil
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(a.raw), "\ufeff"))
	crs := len(text) != len(a.raw) || strings.Contains(string(a.raw), "\r")
	for line := range strings.SplitAfterSeq(text, "\n") {
		size += len(line)
		if crs {
			size = len(a.raw) // places are lost: all count as arrived at the end
		}
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "":
			flush()
		case strings.HasPrefix(line, ":"):
			comments = append(comments, strings.TrimPrefix(line[1:], " "))
		case strings.HasPrefix(line, "data:"):
			data = append(data, strings.TrimPrefix(line[5:], " "))
		case strings.HasPrefix(line, "event:"):
			name = strings.TrimPrefix(line[6:], " ")
		}
	}
	flush()
	return list
}

func (a *answer) arrived(size int) time.Duration {
	i, _ := slices.BinarySearchFunc(a.reads, size, func(r arrival, size int) int { return r.size - size })
	if i < len(a.reads) {
		return a.reads[i].at
	}
	return a.took
}

// chunkForm is what the tests read of a chunk or of a whole answer.
type chunkForm struct {
	ID, Object, Model string
	Created           int64
	Choices           []choiceForm
	Usage             *usageForm
	Error             *errorForm
	Backstop          map[string]any `json:"x_backstop"`
}

type choiceForm struct {
	Index        int
	Delta        messageForm
	Message      messageForm
	FinishReason *string `json:"finish_reason"`
}

type messageForm struct {
	Role      string
	Content   *string
	Refusal   *string
	Reasoning string     `json:"reasoning_content"`
	ToolCalls []toolForm `json:"tool_calls"`
}

type toolForm struct {
	Index    int
	ID       string
	Function struct{ Name, Arguments string }
}

type usageForm struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

type errorForm struct {
	Message string
	Type    *string
	Param   *string
	Code    *string
}

// reading is an answer taken apart.
type reading struct {
	kind    string // success | http-error | in-band | broken
	why     string // what makes it broken
	said    strings.Builder
	text    string // what was said, when all is read
	think   string
	finish  string
	ids     []string
	models  []string
	chunks  []chunkForm
	usages  []usageForm
	calls   []toolForm
	fault   *errorForm
	comment int
	tail    map[string]any // x_backstop
}

// read takes the answer apart: G1 is that it is one of three things.
func (a *answer) read() *reading {
	if a.taken == nil {
		a.taken = a.take()
	}
	return a.taken
}

func (a *answer) take() *reading {
	if a.err != nil {
		return &reading{kind: "broken", why: "the connection: " + a.err.Error()}
	}
	r := &reading{}
	defer func() { r.text = r.said.String() }()
	switch stream := strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream"); {
	case a.status == http.StatusOK && stream:
		a.fixture().heard(a, r)
	case a.status == http.StatusOK:
		a.readWhole(r)
	case stream:
		r.broken("status %d with an event stream", a.status)
	default:
		a.readError(r)
	}
	return r
}

func (r *reading) broken(format string, args ...any) {
	if r.kind != "broken" {
		r.kind, r.why = "broken", fmt.Sprintf(format, args...)
	}
}

func (a *answer) readError(r *reading) {
	r.kind = "http-error"
	if ct := a.header.Get("Content-Type"); ct != "application/json" {
		r.broken("content type %q", ct)
	}
	f, err := a.fixture().fault([]byte(a.body()), a.status)
	if r.fault = &f; (err != nil && !a.call.theirs) || f.Message == "" {
		r.broken("no error of this dialect: %v", err)
	}
}

func (a *answer) readWhole(r *reading) {
	r.kind = "success"
	if ct := a.header.Get("Content-Type"); ct != "application/json" {
		r.broken("content type %q", ct)
	}
	a.fixture().read([]byte(a.body()), r)
}

func (r *reading) add(f chunkForm) {
	r.chunks = append(r.chunks, f)
	if f.ID != "" && !slices.Contains(r.ids, f.ID) {
		r.ids = append(r.ids, f.ID)
	}
	if f.Model != "" && !slices.Contains(r.models, f.Model) {
		r.models = append(r.models, f.Model)
	}
	if f.Usage != nil {
		r.usages = append(r.usages, *f.Usage)
	}
	if f.Backstop != nil {
		r.tail = f.Backstop
	}
	for _, c := range f.Choices {
		for _, m := range []messageForm{c.Delta, c.Message} {
			if m.Content != nil {
				r.said.WriteString(*m.Content)
			}
			r.think += m.Reasoning
			for _, t := range m.ToolCalls {
				r.piece(t)
			}
		}
		if c.FinishReason != nil {
			r.finish = *c.FinishReason
		}
	}
}

// piece adds a piece of a tool call to the call that it belongs to.
func (r *reading) piece(t toolForm) {
	for i := range r.calls {
		if r.calls[i].Index == t.Index && t.ID == "" {
			r.calls[i].Function.Arguments += t.Function.Arguments
			return
		}
	}
	r.calls = append(r.calls, t)
}

// readStream: success is a finish reason and [DONE] last; in-band is an error
// frame last, with neither.
func (a *answer) readStream(r *reading) {
	finished := false
	for _, e := range a.events() {
		if e.data == "" {
			r.comment++
			continue
		}
		switch {
		case finished || r.fault != nil:
			r.broken("an event after the last one: %.100s", e.data)
		case e.data == "[DONE]":
			finished = true
		default:
			var f chunkForm
			if err := json.Unmarshal([]byte(e.data), &f); err != nil {
				r.broken("an event that is no JSON: %v: %.100s", err, e.data)
				continue
			}
			if f.Error != nil {
				r.failed([]byte(e.data), faultOfChat)
				continue
			}
			r.add(f)
		}
	}
	r.conclude(a, finished)
}

// goText are words of Go's own errors and of our packages.
var goText = regexp.MustCompile(`dial tcp|read tcp|write tcp|connection re(set|fused)|broken pipe|\bEOF\b|context (canceled|deadline)|net/http|http: |goroutine |backstop/|\.go:\d|i/o timeout|no such host|hidden-`)

// rules checks G1, G2, G5 and G6 on an answer that has ended.
func (a *answer) rules() {
	a.t.Helper()
	r := a.read()
	if r.kind == "broken" {
		a.t.Errorf("G1: the answer is none of success, HTTP error and in-band error: %s\n%s", r.why, a.show())
		return
	}
	if len(r.ids) > 1 || len(r.models) > 1 {
		a.t.Errorf("G2: one answer has the ids %q and the models %q\n%s", r.ids, r.models, a.show())
	}
	a.leaks()
	if a.header.Get("X-Request-Id") == "" || a.header.Get("Request-Id") == "" {
		a.t.Errorf("an answer without its id\n%s", a.show())
	}
	if r.kind == "success" && a.tier() == "" {
		a.t.Errorf("G6: a success does not say which tier answered\n%s", a.show())
	}
}

// leaks is G5.
func (a *answer) leaks() {
	a.t.Helper()
	var seen bytes.Buffer
	_ = a.header.Write(&seen)
	seen.WriteString(a.body())
	text := seen.String()
	secrets := []string{primaryKey, backupKey, adminToken}
	for _, f := range a.g.fakes {
		if a.call.theirs {
			break // what an upstream says of the caller's mistake are its own words
		}
		secrets = append(secrets, f.addr(), fmt.Sprintf("localhost:%d", f.port()))
	}
	for _, s := range secrets {
		if strings.Contains(text, s) {
			a.t.Errorf("G5: the caller sees %q\n%s", s, a.show())
		}
	}
	if n := len(text); n > 32<<10 { // what is ours stands at the ends
		text = text[:16<<10] + "\n" + text[n-16<<10:]
	}
	if found := goText.FindString(text); found != "" && !a.call.theirs {
		a.t.Errorf("G5: the caller sees %q\n%s", found, a.show())
	}
}

func (a *answer) show() string {
	body := a.sofar()
	if len(body) > 1500 {
		body = body[:1500] + "…"
	}
	return fmt.Sprintf("status %d after %s, end after %s (%v)\nheaders %v\n%s", a.status, a.opened.Round(time.Millisecond), a.took.Round(time.Millisecond), a.err, a.header, body)
}
