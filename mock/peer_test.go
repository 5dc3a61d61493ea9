package mock_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"backstop/mock"
)

// got is what a peer saw of one attempt.
type got struct {
	status int
	header http.Header
	body   string
	err    error // of the request, or of reading its answer
	took   time.Duration
	first  time.Duration // start to the first data line with content
}

// peer talks to one mock.
type peer struct {
	base string
	do   func(*http.Request) (*http.Response, error)

	forget func() // drops pooled connections
}

// overSockets starts the mock on a real socket.
func overSockets(t *testing.T, opts mock.Options) (*mock.Server, peer) {
	t.Helper()
	m := mock.New(opts)
	srv := httptest.NewServer(m)
	t.Cleanup(func() { m.Close(); srv.Close() })
	return m, peer{base: srv.URL, do: srv.Client().Do, forget: srv.Client().CloseIdleConnections}
}

// overPipes starts the mock on in-memory connections, for synctest bubbles.
func overPipes(t *testing.T, opts mock.Options) (*mock.Server, peer) {
	t.Helper()
	m := mock.New(opts)
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: m}
	served := make(chan struct{})
	go func() { defer close(served); _ = srv.Serve(l) }()
	tr := &http.Transport{DialContext: l.dial}
	t.Cleanup(func() { tr.CloseIdleConnections(); m.Close(); _ = srv.Close(); <-served })
	return m, peer{base: "http://mock", do: tr.RoundTrip, forget: tr.CloseIdleConnections}
}

type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	l.conns <- there
	return here, nil
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error   { close(l.closed); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// post sends a body and reads the answer, for at most patience.
func (p peer) post(path, body string, patience time.Duration) got {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", p.base+path, strings.NewReader(body))
	if err != nil {
		return got{err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer key-of-the-test")
	if strings.Contains(path, "/messages") {
		req.Header.Set("Anthropic-Version", "2023-06-01")
	}
	start := time.Now()
	resp, err := p.do(req)
	if err != nil {
		return got{err: err, took: time.Since(start)}
	}
	defer resp.Body.Close()
	g := got{status: resp.StatusCode, header: resp.Header}
	var b strings.Builder
	r := bufio.NewReader(resp.Body)
	for err == nil {
		var line string
		line, err = r.ReadString('\n')
		if g.first == 0 && (strings.Contains(line, `"content":"`) && !strings.Contains(line, `"content":""`)) {
			g.first = time.Since(start)
		}
		b.WriteString(line)
	}
	if err != io.EOF {
		g.err = err
	}
	g.body, g.took = b.String(), time.Since(start)
	return g
}

// chat asks for a chat completion.
func (p peer) chat(model string, stream bool, extra string, patience time.Duration) got {
	return p.post("/v1/chat/completions", chatBody(model, stream, extra), patience)
}

func chatBody(model string, stream bool, extra string) string {
	return fmt.Sprintf(`{"model":%q,"stream":%v,"messages":[{"role":"user","content":"what is a lighthouse for"}]%s}`, model, stream, extra)
}

// said is what an answer, plain or streamed, has said.
type said struct {
	text, refusal, finish, args, errorCode string
	thought                                string
	tokens, events, broken, pings, gaps    int
	done                                   bool
	usage                                  map[string]any
}

type wireChoice struct {
	Message, Delta struct {
		Content, Refusal *string
		ToolCalls        []struct {
			Function struct{ Name, Arguments string }
		} `json:"tool_calls"`
	}
	Text         string
	FinishReason string `json:"finish_reason"`
}

func read(body string) said {
	var s said
	lines := []string{body}
	if strings.HasPrefix(body, "data:") || strings.HasPrefix(body, ":") {
		lines = strings.Split(body, "\n")
	}
	for _, line := range lines {
		line = strings.TrimPrefix(line, "data: ")
		if line == "" || line[0] == ':' {
			continue
		}
		if line == "[DONE]" {
			s.done = true
			continue
		}
		s.event(line)
	}
	return s
}

func (s *said) event(data string) {
	s.events++
	var e struct {
		Choices []wireChoice
		Usage   map[string]any
		Error   any
	}
	if json.Unmarshal([]byte(data), &e) != nil {
		s.broken++
		return
	}
	if e.Usage != nil {
		s.usage = e.Usage
	}
	if m, ok := e.Error.(map[string]any); ok {
		s.errorCode, _ = m["code"].(string)
	}
	for _, c := range e.Choices {
		s.choice(c)
	}
}

func (s *said) choice(c wireChoice) {
	was := len(s.text) + len(s.args) + len(s.refusal)
	for _, part := range []*string{c.Message.Content, c.Delta.Content, &c.Text} {
		if part != nil {
			s.text += *part
		}
	}
	for _, part := range []*string{c.Message.Refusal, c.Delta.Refusal} {
		if part != nil {
			s.refusal += *part
		}
	}
	for _, call := range append(c.Message.ToolCalls, c.Delta.ToolCalls...) {
		s.args += call.Function.Arguments
	}
	if len(s.text)+len(s.args)+len(s.refusal) > was {
		s.tokens++
	}
	if c.FinishReason != "" {
		s.finish = c.FinishReason
	}
}
