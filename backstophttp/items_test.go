package backstophttp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// lookedUp is the next call of a tool loop that names all that went before by
// the ids of an answer.
func lookedUp(t *testing.T, stream bool, answer string) string {
	t.Helper()
	var refs []string
	callID := ""
	gjson.Get(answer, "output").ForEach(func(_, item gjson.Result) bool {
		refs = append(refs, fmt.Sprintf(`{"type":"item_reference","id":%q}`, item.Get("id").Str))
		if id := item.Get("call_id").Str; id != "" {
			callID = id
		}
		return true
	})
	if len(refs) == 0 || callID == "" {
		t.Fatalf("no call in %s", answer)
	}
	return fmt.Sprintf(`{"model":"m","stream":%v,"input":[{"role":"user","content":"hi"},%s,{"type":"function_call_output","call_id":%q,"output":"sunny"}],`+
		`"tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{"at":{"type":"string"}}}}]}`, stream, strings.Join(refs, ","), callID)
}

// responses serves a Responses call of a caller.
func (h *house) responses(caller, text string) (*page, *backstop.Event) {
	h.t.Helper()
	r, fail := Rooms()[backstop.Responses].Read(wire.Responses, []byte(text))
	if fail != nil {
		h.t.Fatal(fail)
	}
	return h.serve(context.Background(), &Call{Request: r, ID: "req_1", Caller: caller})
}

const look = `{"model":"m","stream":%v,"input":"hi","tools":[{"type":"function","name":"look","parameters":{"type":"object","properties":{"at":{"type":"string"}}}}]}`

func TestAToolLoopGoesOnByReferenceAtAnyUpstream(t *testing.T) {
	for from := range Rooms() {
		for to := range Rooms() {
			t.Run(string(from)+" then "+string(to), func(t *testing.T) {
				forms(t, func(t *testing.T, stream bool) {
					one, two, me := fixtureOf(from), fixtureOf(to), fixtureOf(backstop.Responses)
					primary := turns(answers(one.calls(`{"at":`, `"home"}`)...), body(503, `{"error":{"message":"down"}}`))
					in(t, setup{primary: primary, backup: answers(two.tells("It is ", "sunny.")...), change: speak(one, two)}, func(h *house) {
						p, _ := h.responses("web", fmt.Sprintf(look, stream))
						h.want(p, 200, "primary")
						first := me.hears(t, stream, p.String())
						p, ev := h.responses("web", lookedUp(t, stream, string(first.body)))
						h.want(p, 200, "backup")
						if got := me.hears(t, stream, p.String()); got.text != "It is sunny." || ev.Calls() != 2 {
							t.Errorf("%+v, event %+v", got, ev)
						}
						sent := h.bodies["backup"]
						if !strings.Contains(sent, "home") || !strings.Contains(sent, "sunny") || strings.Contains(sent, "item_reference") {
							t.Errorf("sent %s", sent)
						}
					})
				})
			})
		}
	}
}

// thinksAndCalls is the answer of an upstream that serves Responses calls
// itself.
const thinksAndCalls = `{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"m","output":[` +
	`{"id":"rs_1","type":"reasoning","summary":[]},` +
	`{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"look","arguments":"{}"}],` +
	`"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`

const says = `{"id":"resp_2","object":"response","created_at":1,"status":"completed","model":"m","output":[{"id":"msg_2","type":"message","role":"assistant","content":[{"type":"output_text","text":"sunny"}]}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`

func TestTheIssuerOfItemsGetsTheCallAsItCame(t *testing.T) {
	in(t, setup{primary: turns(body(200, thinksAndCalls), body(200, says)), change: native("primary", "backup")}, func(h *house) {
		h.plan.Upstreams[0].Unary = backstop.UnaryPlain
		h.responses("web", fmt.Sprintf(look, false))
		again := lookedUp(t, false, thinksAndCalls)
		p, _ := h.responses("web", again)
		h.want(p, 200, "primary")
		if h.bodies["primary"] != again {
			t.Errorf("sent %s\nwant %s", h.bodies["primary"], again)
		}
	})
}

func TestWhoDidNotIssueAnItemGetsItWithoutItsName(t *testing.T) {
	primary := turns(body(200, thinksAndCalls), body(503, `{"error":{"message":"down"}}`))
	in(t, setup{primary: primary, backup: body(200, says), change: native("primary", "backup")}, func(h *house) {
		h.plan.Upstreams[0].Unary, h.plan.Upstreams[1].Unary = backstop.UnaryPlain, backstop.UnaryPlain
		h.responses("web", fmt.Sprintf(look, false))
		p, _ := h.responses("web", lookedUp(t, false, thinksAndCalls))
		h.want(p, 200, "backup")
		input := gjson.Get(h.bodies["backup"], "input")
		want := `[{"role":"user","content":"hi"},{"type":"function_call","status":"completed","call_id":"call_1","name":"look","arguments":"{}"},{"type":"function_call_output","call_id":"call_1","output":"sunny"}]`
		if input.Raw != want {
			t.Errorf("sent %s\nwant %s", input.Raw, want)
		}
	})
}

func TestAnItemIsGivenBackToItsCallerAlone(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	in(t, setup{primary: answers(an.calls(`{"at":"home"}`)...), change: speak(an, an)}, func(h *house) {
		p, _ := h.responses("web", fmt.Sprintf(look, false))
		again := lookedUp(t, false, p.String())
		asked := h.saw("primary")
		p, _ = h.responses("other", again)
		if p.status != 400 || !strings.Contains(p.String(), "input[1]") || h.saw("primary") != asked {
			t.Errorf("%d %s", p.status, p)
		}
		if p, _ = h.responses("web", again); p.status != 200 {
			t.Errorf("%d %s", p.status, p)
		}
	})
}

func TestItemsThatAreNotKnownPinTheCallAsBefore(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	for name, c := range map[string]struct {
		ask   string
		after time.Duration
		edit  func(string) string
	}{
		"nothing was to be stored":  {strings.Replace(look, `"model"`, `"store":false,"model"`, 1), 0, nil},
		"an hour is over":           {look, itemAge + time.Second, nil},
		"another item is not known": {look, 0, func(s string) string { return strings.Replace(s, `"input":[`, `"input":[{"id":"msg_9"},`, 1) }},
		"an earlier answer is named": {look, 0, func(s string) string {
			return strings.Replace(s, `"model"`, `"previous_response_id":"resp_9","model"`, 1)
		}},
		"a file is named": {look, 0, func(s string) string {
			return strings.Replace(s, `"content":"hi"`, `"content":[{"type":"input_file","file_id":"f"}]`, 1)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: answers(an.calls(`{"at":"home"}`)...), change: speak(an, an)}, func(h *house) {
				p, _ := h.responses("web", fmt.Sprintf(c.ask, false))
				again := lookedUp(t, false, p.String())
				if c.edit != nil {
					again = c.edit(again)
				}
				time.Sleep(c.after)
				if p, _ = h.responses("web", again); p.status != 400 {
					t.Errorf("%d %s", p.status, p)
				}
			})
		})
	}
}

func TestALocalAnswerCanBeNamedAsWell(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	primary := turns(body(503, `{}`), answers(an.tells("back again")...))
	forms(t, func(t *testing.T, stream bool) {
		in(t, setup{primary: primary, change: speak(an, an)}, func(h *house) {
			p, _ := h.responses("web", fmt.Sprintf(`{"model":"m","stream":%v,"input":"hi"}`, stream))
			h.want(p, 200, "local")
			id := gjson.GetBytes(fixtureOf(backstop.Responses).hears(t, stream, p.String()).body, "output.0.id").Str
			p, _ = h.responses("web", fmt.Sprintf(`{"model":"m","input":[{"role":"user","content":"hi"},{"type":"item_reference","id":%q},{"role":"user","content":"and now?"}]}`, id))
			h.want(p, 200, "primary")
			if !strings.Contains(h.bodies["primary"], "busy") {
				t.Errorf("sent %s", h.bodies["primary"])
			}
		})
		primary = turns(body(503, `{}`), answers(an.tells("back again")...))
	})
}

func TestAReloadKeepsItems(t *testing.T) {
	an := fixtureOf(backstop.Anthropic)
	in(t, setup{primary: answers(an.calls(`{"at":"home"}`)...), change: speak(an, an)}, func(h *house) {
		p, _ := h.responses("web", fmt.Sprintf(look, false))
		o := h.d.options
		o.Previous = h.d
		next, err := NewDriver(pair(speak(an, an)), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = next.Close(context.Background()) }()
		r, _ := Rooms()[backstop.Responses].Read(wire.Responses, []byte(lookedUp(t, false, p.String())))
		if ev := next.Serve(context.Background(), newPage(), &Call{Request: r, ID: "req_2", Caller: "web"}); ev.Outcome != backstop.OK || ev.Upstream != "primary" {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestTheMemoryOfItemsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newItems()
		put := func(id, upstream string, size int) {
			s.put(item{itemKey: itemKey{"web", id}, raw: make([]byte, size), upstream: upstream, at: time.Now()})
		}
		has := func(id string) bool { return s.get("web", id, time.Now()) != nil }
		for i := range 200 {
			put(fmt.Sprint("big", i), "u", maxItem/2)
		}
		if s.size > maxItemBytes || s.size < maxItemBytes/2 || len(s.byID) != s.aged.Len() || has("big0") || !has("big199") {
			t.Errorf("%d bytes, %d items", s.size, len(s.byID))
		}
		put("huge", "u", maxItem)
		put(strings.Repeat("x", maxHeldID+1), "u", 1)
		if has("huge") || has(strings.Repeat("x", maxHeldID+1)) {
			t.Error("kept what is too large")
		}
		put("a", "u", 5)
		put("a", "u", 6)
		put("a", "v", 7)
		if it := s.get("web", "a", time.Now()); len(it.raw) != 6 {
			t.Errorf("%d bytes, put there by another upstream", len(it.raw))
		}
		time.Sleep(itemAge + 1)
		if has("a") || s.size != 0 || len(s.byID) != 0 || s.aged.Len() != 0 {
			t.Errorf("%d bytes, %d items after all are too old", s.size, len(s.byID))
		}
	})
}
