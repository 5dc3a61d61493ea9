package backstophttp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// issues answers a Responses call under an id.
func issues(id string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/responses") {
			body(404, `{"error":{"message":"not here","type":"invalid_request_error","param":null,"code":null}}`)(w, r)
			return
		}
		g := fixtureOf(backstop.Responses)
		list := texts("from ", id)
		list[0].ID = id
		answers(g.says(append(list, ended(wire.EndStop)...)...)...)(w, r)
	}
}

// native makes upstreams serve Responses calls themselves.
func native(names ...string) func(*backstop.Plan) {
	return func(p *backstop.Plan) {
		for i := range p.Upstreams {
			p.Upstreams[i].Vendor = "generic"
			for _, name := range names {
				if p.Upstreams[i].Name == name {
					p.Upstreams[i].Vendor = "openai"
				}
			}
		}
	}
}

func goesOn(id string) string {
	return fmt.Sprintf(`{"model":"m","previous_response_id":%q,"input":"and then?"}`, id)
}

func TestAResponsesCallGoesWordForWordToWhoServesIt(t *testing.T) {
	request := `{"model":"m", "input":"hi","stream":true,"odd":[1,  2]}`
	in(t, setup{primary: issues("resp_p"), change: native("primary")}, func(h *house) {
		p, ev := h.take(backstop.Responses, wire.Responses, request)
		h.want(p, 200, "primary")
		g := fixtureOf(backstop.Responses)
		list := texts("from ", "resp_p")
		list[0].ID = "resp_p"
		if want := strings.Join(g.says(append(list, ended(wire.EndStop)...)...), ""); p.String() != want {
			t.Errorf("got  %s\nwant %s", p, want)
		}
		if h.bodies["primary"] != request || ev.Op != "responses" {
			t.Errorf("sent %s, event %+v", h.bodies["primary"], ev)
		}
	})
}

// queued is the answer to work in the background.
const queued = `{"id":"resp_p","object":"response","status":"queued","background":true,"model":"m","output":[]}`

func TestWorkInTheBackgroundIsAnsweredAtOnceAndNotAwaitedAsAStream(t *testing.T) {
	in(t, setup{primary: body(200, queued), change: native("primary", "backup")}, func(h *house) {
		p, ev := h.take(backstop.Responses, wire.Responses, `{"model":"m","input":"hi","background":true}`)
		h.want(p, 200, "primary")
		if p.String() != queued || ev.Calls() != 1 {
			t.Errorf("got %s, event %+v", p, ev)
		}
		if sent := h.bodies["primary"]; strings.Contains(sent, `"stream"`) {
			t.Errorf("sent %s", sent)
		}
	})
}

func TestAPinnedCallGoesToItsIssuerAndNowhereElse(t *testing.T) {
	down := false
	backup := func(w http.ResponseWriter, r *http.Request) {
		if down {
			body(503, `{"error":{"message":"down"}}`)(w, r)
			return
		}
		issues("resp_b")(w, r)
	}
	in(t, setup{primary: turns(body(503, `{"error":{"message":"down"}}`), issues("resp_p")), backup: backup, change: native("primary", "backup")}, func(h *house) {
		p, _ := h.take(backstop.Responses, wire.Responses, `{"model":"m","input":"hi"}`)
		h.want(p, 200, "backup")
		before := h.saw("primary")
		p, ev := h.take(backstop.Responses, wire.Responses, goesOn("resp_b"))
		h.want(p, 200, "backup")
		if h.saw("primary") != before || ev.Calls() != 1 {
			t.Errorf("primary was asked, event %+v", ev)
		}
		down = true
		p, ev = h.take(backstop.Responses, wire.Responses, goesOn("resp_b"))
		if p.status != 503 || h.saw("primary") != before || !strings.Contains(p.String(), "previous_response_id") || ev.Tier == "local" {
			t.Errorf("%d %s, event %+v", p.status, p, ev)
		}
	})
}

func TestAnUnknownPinGoesToTheFirstWhoServesSuchCalls(t *testing.T) {
	for name, request := range map[string]string{
		"an answer":           goesOn("resp_unknown"),
		"a conversation":      `{"model":"m","conversation":{"id":"conv_1"},"input":"x"}`,
		"a file":              `{"model":"m","input":[{"role":"user","content":[{"type":"input_file","file_id":"file_1"}]}]}`,
		"background work":     `{"model":"m","background":true,"input":"x"}`,
		"a conversation's id": `{"model":"m","conversation":"conv_1","input":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			issuer := issues("resp_b")
			if strings.Contains(request, "background") { // asked for as it is wanted
				issuer = body(200, queued)
			}
			in(t, setup{primary: answers(good("P")...), backup: issuer, change: native("backup")}, func(h *house) {
				p, _ := h.take(backstop.Responses, wire.Responses, request)
				h.want(p, 200, "backup")
				if h.saw("primary") != 0 {
					t.Error("the primary was asked")
				}
			})
		})
	}
}

func TestAPinNobodyCanFollowIsTheCallersBusiness(t *testing.T) {
	in(t, setup{primary: answers(good("P")...), backup: answers(good("B")...), change: native()}, func(h *house) {
		p, _ := h.take(backstop.Responses, wire.Responses, goesOn("resp_1"))
		if p.status != 400 || !strings.Contains(p.String(), `"param":"previous_response_id"`) || h.saw("primary")+h.saw("backup") != 0 {
			t.Errorf("%d %s", p.status, p)
		}
	})
}

func TestAReloadKeepsWhoIssuedWhat(t *testing.T) {
	in(t, setup{primary: turns(body(503, `{"error":{"message":"down"}}`), issues("resp_p")), backup: issues("resp_b"), change: native("primary", "backup")}, func(h *house) {
		h.take(backstop.Responses, wire.Responses, `{"model":"m","input":"hi"}`)
		o := h.d.options
		o.Previous = h.d
		next, err := NewDriver(pair(native("primary", "backup")), o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = next.Close(context.Background()) }()
		r, _ := Rooms()[backstop.Responses].Read(wire.Responses, []byte(goesOn("resp_b")))
		if ev := next.Serve(context.Background(), newPage(), &Call{Request: r, ID: "req_2"}); ev.Upstream != "backup" || ev.Calls() != 1 {
			t.Errorf("event %+v", ev)
		}
	})
}

func TestTheMemoryOfIssuedIDsIsBounded(t *testing.T) {
	h := newHolders()
	for i := range maxHeld + 10 {
		h.put(fmt.Sprintf("resp_%d", i), "u")
	}
	h.put("resp_20", "v")
	h.put(strings.Repeat("x", maxHeldID+1), "u")
	if len(h.names) != maxHeld || len(h.ring) != maxHeld || h.get("resp_9") != "" || h.get("resp_10") != "u" || h.get("resp_20") != "v" {
		t.Errorf("%d names, %d in the ring", len(h.names), len(h.ring))
	}
}

func TestAStoredAnswerIsFetchedFromWhoIssuedIt(t *testing.T) {
	named := func(name string, first http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/responses") {
				first(w, r)
				return
			}
			body(200, `"`+name+" "+r.URL.Path+`"`)(w, r)
		}
	}
	for name, c := range map[string]struct {
		path    string
		closed  string // an upstream without passthrough
		answers string
	}{
		"the issuer's":              {"/v1/responses/resp_b", "", "backup /v1/responses/resp_b"},
		"what hangs below it":       {"/v1/responses/resp_b/input_items", "", "backup /v1/responses/resp_b/input_items"},
		"nobody's":                  {"/v1/responses/resp_x", "", "primary /v1/responses/resp_x"},
		"another kind of thing":     {"/v1/files/resp_b", "", "primary /v1/files/resp_b"},
		"of an issuer that is shut": {"/v1/responses/resp_b", "backup", "primary /v1/responses/resp_b"},
	} {
		change := func(p *backstop.Plan) {
			native("primary", "backup")(p)
			for i := range p.Upstreams {
				p.Upstreams[i].Passthrough = p.Upstreams[i].Name != c.closed
			}
		}
		in(t, setup{primary: named("primary", body(503, `{}`)), backup: named("backup", issues("resp_b")), change: change}, func(h *house) {
			p, _ := h.take(backstop.Responses, wire.Responses, `{"model":"m","input":"hi"}`)
			h.want(p, 200, "backup")
			got, ev, _ := h.handOver(&Passage{Path: c.path, Dialect: backstop.Responses})
			upstream, _, _ := strings.Cut(c.answers, " ")
			if got.String() != `"`+c.answers+`"` || ev.Upstream != upstream || got.header.Get("X-Backstop-Upstream") != upstream {
				t.Errorf("%s: %s by %s", name, got, ev.Upstream)
			}
		})
	}
}
