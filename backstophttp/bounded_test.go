package backstophttp

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/breaker"
	"backstop/internal/testkit"
	"backstop/jsonfix"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/anthropic"
	"backstop/wire/openai"
	"backstop/wire/responses"
)

// Text that cannot be shown before its end, because it is an array where an
// object was promised, is held until then: but no more than an answer may have.
func TestAStreamThatIsHeldBackBehindItsReasoningIsBounded(t *testing.T) {
	script := []string{voiceP.role(), voiceP.think("let me see"), voiceP.say(`["`)}
	piece := voiceP.say(strings.Repeat("x", 128<<10))
	for range maxAnswer>>17 + 1 {
		script = append(script, piece)
	}
	for name, more := range map[string]struct {
		script []string
		code   string
	}{
		"beyond the bound":    {script, "event_too_large"},
		"within, and then no": {script[:8:8], "stream_stalled"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(append(more.script, "hang")...)}, func(h *house) {
				p, _ := h.call(streamJSON)
				h.want(p, 200, "primary")
				if g := understand(t, p.String()); g.code != more.code || g.thoughts != "let me see" || g.text != "" {
					t.Errorf("code %q, text of %d bytes, want %q", g.code, len(g.text), more.code)
				}
			})
		})
	}
}

func TestAStreamThatIsTranslatedIsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		cross  *crossing
		caller backstop.Dialect
		kind   backstop.Kind
	}{
		"translated":         {&crossing{}, backstop.OpenAI, backstop.KindTooLarge},
		"maybe written anew": {nil, backstop.Responses, backstop.KindTooLarge},
		"passed on as it is": {nil, backstop.OpenAI, ""},
	} {
		r := &run{req: &wire.Request{Op: wire.Chat, Dialect: c.caller}}
		f := &follower{r: r, a: &attempt{cross: c.cross, stream: openai.Room{}.Reader(r.req, &wire.Reply{})}, crossed: maxCrossed}
		f.event(&sse.Event{Data: []byte(`{"id":"c1","choices":[]}`)})
		if o := f.verdict; (o == nil) != (c.kind == "") || o != nil && (o.Kind != c.kind || o.Counts != backstop.CountsNone) {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

// A probe that waits until others are over must not use up its time with that:
// silent upstreams would keep the breaker of a healthy one open.
func TestAProbeThatHasToWaitForItsTurnStillCounts(t *testing.T) {
	in(t, setup{primary: answers(good("hi")...)}, func(h *house) {
		h.d.stop() // its own loop
		synctest.Wait()
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		now := time.Now()
		h.d.engine.Restore(now, backstop.Snapshot{Scopes: []backstop.ScopeSnapshot{{
			Upstream: "primary", Scope: "model", Model: "m", Breaker: breaker.Snapshot{Time: now, State: breaker.Open, Next: now},
		}}})
		slots := make(chan struct{}, 1)
		slots <- struct{}{} // somebody else's probe
		h.d.works.run(func() { h.d.start(ctx, slots) })
		time.Sleep(time.Minute)
		<-slots
		synctest.Wait()
		for _, s := range h.d.engine.State(time.Now()).Upstreams[0].Scopes {
			if s.Scope == "model" && s.State != "half-open" {
				t.Errorf("after a good probe the model is %s, because of %s", s.State, s.Cause)
			}
		}
		if h.saw("primary") != 1 {
			t.Errorf("%d probes", h.saw("primary"))
		}
	})
}

// The list of attempts is read by one while a hedge is added by another; only a
// run under the race detector sees more than that nothing is lost.
func TestAnAttemptThatAsksAgainFindsItsFirstBesideAHedge(t *testing.T) {
	first := &attempt{id: 1, wrong: []breach{{wire.NoCall, jsonfix.Violation{Path: "/a", Reason: "type"}}}}
	r := &run{room: openai.Room{}, tried: []*attempt{first}}
	r.req, _ = openai.Room{}.Read(wire.Chat, []byte(asJSON))
	var all sync.WaitGroup
	all.Go(func() {
		for id := range backstop.AttemptID(100) {
			r.mu.Lock()
			r.tried = append(r.tried, &attempt{id: id + 2})
			r.mu.Unlock()
		}
	})
	all.Go(func() {
		for range 100 {
			q, o := r.reasked(&attempt{id: 2, step: backstop.Step{Reask: 1}})
			if o != nil || !strings.Contains(string(q.Body), "/a") {
				t.Errorf("%+v", o)
				return
			}
		}
	})
	all.Wait()
}

func TestTheNameOfAToolDoesNotKeepTheEventItCameIn(t *testing.T) {
	const size, count = 512 << 10, 32
	pad := strings.Repeat("x", size)
	for name, c := range map[string]struct {
		room        wire.Room
		begin, call string
	}{
		"Anthropic": {anthropic.Room{}, `{"type":"message_start","message":{"id":"m"}}`, `{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":"t","name":"look"},"pad":%q}`},
		"Responses": {responses.Room{}, `{"type":"response.created","response":{}}`, `{"type":"response.output_item.added","output_index":%d,"item":{"type":"function_call","name":"look"},"pad":%q}`},
		"OpenAI":    {openai.Room{}, `{"id":"c","choices":[]}`, `{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"t","function":{"name":"look"}}]}}],"pad":%q}`},
	} {
		stream := c.room.Reader(&wire.Request{Stream: true}, &wire.Reply{Status: 200})
		stream.Event(&sse.Event{Data: []byte(c.begin)})
		var s arguments
		before := testkit.Heap()
		for i := range count {
			stream.Event(&sse.Event{Data: fmt.Appendf(nil, c.call, i, pad)})
			s.listen(stream.(wire.PieceReader))
		}
		if grown := testkit.Heap() - before; len(s.list) < count-1 && c.room.Dialect() != backstop.OpenAI || grown > size*count/4 {
			t.Errorf("%s: %d calls keep %d KiB", name, len(s.list), grown>>10)
		}
		runtime.KeepAlive(s.list)
	}
}

// torn is a caller whose connection fails in a way that nobody foresaw.
type torn struct {
	*page
	left int
}

func (w *torn) Write(b []byte) (int, error) {
	if w.left--; w.left < 0 {
		panic("no writer does that")
	}
	return w.page.Write(b)
}

func (w *torn) Flush() {
	if w.left < 0 {
		panic("nor this")
	}
}

func TestACallThatEndsInAPanicGivesBackWhatItHolds(t *testing.T) {
	for _, left := range []int{0, 1, 2, 3, 4} {
		in(t, setup{primary: answers(role, token("a"), "wait:1s", token("b"), "wait:1s", token("c"), "hang")}, func(h *house) {
			func() {
				defer func() { _ = recover() }()
				h.d.Serve(context.Background(), &torn{newPage(), left}, &Call{Request: h.read(stream), ID: "req_1"})
			}()
			synctest.Wait()
			if u := h.d.engine.State(time.Now()).Upstreams[0]; u.Inflight != 0 {
				t.Errorf("after %d writes: %d in flight", left, u.Inflight)
			}
		})
	}
}
