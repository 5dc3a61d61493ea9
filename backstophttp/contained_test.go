package backstophttp

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/jsonfix"
	"backstop/wire"
	"backstop/wire/openai"
)

// broken is a room with a bug in one of its methods.
type broken struct {
	openai.Room
	at string
}

func (b broken) bug(at string) {
	if b.at == at {
		panic("bug")
	}
}

func (b broken) Outbound(r *wire.Request, u *backstop.Upstream, s *backstop.Step) (wire.Outbound, *backstop.Outcome) {
	b.bug("outbound")
	return b.Room.Outbound(r, u, s)
}

func (b broken) Failure(f *backstop.Failure, id string) []byte {
	b.bug("failure")
	return b.Room.Failure(f, id)
}

func (b broken) Compose(r *wire.Request, a *wire.Answer) []byte {
	b.bug("compose")
	return b.Room.Compose(r, a)
}

func (b broken) Writer(r *wire.Request) wire.StreamWriter {
	return brokenWriter{b.Room.Writer(r), b}
}

type brokenWriter struct {
	wire.StreamWriter
	room broken
}

func (w brokenWriter) Close(n *wire.Note) []byte {
	w.room.bug("close")
	return w.StreamWriter.Close(n)
}

func (b broken) Reader(r *wire.Request, a *wire.Reply) wire.StreamReader {
	return brokenReader{b.Room.Reader(r, a), b}
}

type brokenReader struct {
	wire.StreamReader
	room broken
}

func (r brokenReader) End(clean bool) backstop.Outcome {
	r.room.bug("end")
	return r.StreamReader.End(clean)
}

func TestABugOfOursIsAnErrorOfItsRoundTripAndNoCrash(t *testing.T) {
	for at, request := range map[string]string{"failure": unary, "compose": unary, "close": stream} {
		s := setup{backup: answers(good("B")...), options: Options{Rooms: map[backstop.Dialect]wire.Room{backstop.OpenAI: broken{at: at}}}}
		if at != "close" {
			s.backup = nil
		}
		if at == "failure" {
			s.change = func(p *backstop.Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:2] }
		}
		in(t, s, func(h *house) {
			for range 3 {
				req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, anywhere, strings.NewReader(request))
				resp, err := (&Transport{h.d}).RoundTrip(req)
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					_ = resp.Body.Close()
				}
				if err != errBug {
					t.Errorf("%s: %v", at, err)
				}
			}
		})
	}
}

// The engine asks whether an upstream that stands aside could take the call,
// maybe on a goroutine above which there is nobody.
func TestABugInTheQuestionWhoCouldTakeACallStaysWithIt(t *testing.T) {
	for name, hedge := range map[string]time.Duration{"without hedges": 0, "on a route with hedges": time.Nanosecond} {
		s := setup{backup: answers(good("B")...), options: Options{Rooms: map[backstop.Dialect]wire.Room{backstop.OpenAI: broken{at: "outbound"}}}}
		s.change = func(p *backstop.Plan) { p.Routes[0].Hedge.After = hedge }
		in(t, s, func(h *house) {
			for _, upstream := range []string{"backup", "primary"} {
				_ = h.d.Engine().Force(time.Now(), upstream, "open", time.Hour)
				p, ev := h.call(stream)
				if h.want(p, 200, "local"); ev.Failure != nil || h.saw("backup") != 0 {
					t.Errorf("%s, %s open: %+v\n%s", name, upstream, ev, p)
				}
			}
		})
	}
}

func TestABugInTheWatchdogStaysWithItsCall(t *testing.T) {
	for name, hedge := range map[string]time.Duration{"without hedges": 0, "on a route with hedges": time.Hour} {
		s := setup{primary: answers("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"P\"}}]}\n\n", "hang")}
		s.options.Rooms = map[backstop.Dialect]wire.Room{backstop.OpenAI: broken{at: "end"}}
		s.change = func(p *backstop.Plan) { p.Routes[0].Hedge.After = hedge }
		in(t, s, func(h *house) {
			p, ev := h.call(stream)
			if p.status != 200 || !strings.Contains(p.String(), `"error"`) || ev.Failure == nil {
				t.Errorf("%s: %d %s", name, p.status, p)
			}
			if len(h.turns) != 0 {
				t.Errorf("%s: transitions %+v", name, h.turns)
			}
		})
	}
}

func TestTheHeaderOfARequestIsTheCallersAgainOnceItsBodyIsClosed(t *testing.T) {
	in(t, setup{primary: answers(good("P")...)}, func(h *house) {
		req, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, anywhere, strings.NewReader(unary))
		req.Header.Set("Idempotency-Key", "one")
		resp, err := (&Transport{h.d}).RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		h.d.mu.Lock()
		for r := range h.d.running { // it has not ended: nobody has read its answer
			req.Header.Set("Idempotency-Key", "two")
			if r.c.Header.Get("Idempotency-Key") != "one" {
				t.Error("the call reads a header that its caller may change")
			}
		}
		if len(h.d.running) != 1 {
			t.Errorf("%d calls run", len(h.d.running))
		}
		h.d.mu.Unlock()
		_ = resp.Body.Close()
	})
}

func TestASchemaThatBreaksItsCompilerIsOneThatCannotBeUsed(t *testing.T) {
	const promised = `{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}}`
	for name, hedge := range map[string]time.Duration{"without hedges": 0, "on a route with hedges": time.Hour} {
		s := setup{primary: body(200, `{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"{}"},"finish_reason":"stop"}]}`)}
		s.options.Schema = func([]byte) (jsonfix.Schema, error) { panic("bug") }
		s.change = func(p *backstop.Plan) { p.Routes[0].Hedge.After = hedge }
		in(t, s, func(h *house) {
			if p, _ := h.call(promised); p.status != 200 || p.header.Get("X-Backstop-Unvalidated") != "schema" {
				t.Errorf("%s: %d %v %s", name, p.status, p.header, p)
			}
		})
	}
}
