package backstophttp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop"
)

// list serves a stream call of a Gemini caller who gets an array.
func (h *house) list(p *page) *backstop.Event {
	h.t.Helper()
	return h.d.Serve(context.Background(), p, &Call{Request: fixtureOf(backstop.Gemini).asks(h.t, question(true)), ID: "req_1", Caller: "web", Array: true})
}

// elements are those of an array; the text of all of them comes back as well.
func elements(t *testing.T, text string) (list []map[string]any, said string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, el := range list {
		if _, failed := el["error"]; failed {
			continue
		}
		b, _ := json.Marshal(el)
		said += fixtureOf(backstop.Gemini).hears(t, false, string(b)).text
	}
	return list, said
}

func TestAStreamGoesOutAsOneArrayAnElementAtATime(t *testing.T) {
	for up := range Rooms() {
		if up == backstop.Responses {
			continue
		}
		t.Run(string(up)+" upstream", func(t *testing.T) {
			g := fixtureOf(up)
			script := g.tells("one ", "two", " three")
			script = slices.Insert(script, len(script)-1, "wait:2s")
			in(t, setup{primary: answers(script...), change: speak(g, g)}, func(h *house) {
				p := newPage()
				h.list(p)
				h.want(p, 200, "primary")
				if _, said := elements(t, p.String()); said != "one two three" || p.header.Get("Content-Type") != "application/json" {
					t.Errorf("%v\n%s", p.header, p)
				}
				if p.at[0] >= time.Second || p.at[len(p.at)-1] < 2*time.Second {
					t.Errorf("writes at %v", p.at)
				}
			})
		})
	}
}

func TestAnErrorIsTheLastElementOfAnArray(t *testing.T) {
	g := fixtureOf(backstop.Gemini)
	for name, c := range map[string]struct {
		primary http.HandlerFunc
		status  int
		said    string
	}{
		"before the first token": {body(503, `{"error":{"code":503,"message":"down","status":"UNAVAILABLE"}}`), 503, ""},
		"after it":               {answers(g.begins([]string{"one ", "two"}, "fin")...), 200, "one two"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, setup{primary: c.primary, change: speak(g, g, func(p *backstop.Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:1] })}, func(h *house) {
				p := newPage()
				h.list(p)
				list, said := elements(t, p.String())
				if p.status != c.status || said != c.said || len(list) == 0 || list[len(list)-1]["error"] == nil || p.header.Get("Content-Type") != "application/json" {
					t.Errorf("%d %v\n%s", p.status, p.header, p)
				}
			})
		})
	}
}

func TestAnArrayIsKeptAliveByBlanks(t *testing.T) {
	g := fixtureOf(backstop.Gemini)
	in(t, setup{primary: answers(append([]string{"wait:40s"}, g.tells("late")...)...), change: speak(g, g, func(p *backstop.Plan) {
		p.Upstreams[0].Timeouts.FirstToken = time.Minute
		p.Routes[0].Tiers = p.Routes[0].Tiers[:1]
	})}, func(h *house) {
		p := newPage()
		h.list(p)
		if _, said := elements(t, p.String()); said != "late" || !strings.HasPrefix(p.String(), "\n\n\n\n[{") || p.first != 15*time.Second {
			t.Errorf("at %s: %q", p.first, p)
		}
	})
}

func TestAWholeAnswerIsAnArrayAsWell(t *testing.T) {
	in(t, setup{}, func(h *house) {
		p := newPage()
		h.list(p)
		h.want(p, 200, "local")
		if _, said := elements(t, p.String()); said != "busy" {
			t.Errorf("%s", p)
		}
	})
}

func TestTheTransportGivesAnArrayToWhoDoesNotAskForEvents(t *testing.T) {
	g := fixtureOf(backstop.Gemini)
	up := httptest.NewServer(answers(g.tells("hello")...))
	defer up.Close()
	for query, array := range map[string]bool{"": true, "?alt=json": true, "?alt=sse": false} {
		plan := pair(speak(g, g))
		plan.Upstreams[0].BaseURL, plan.Upstreams[0].AllowPrivate = up.URL, true
		tr, err := New(plan, Options{})
		if err != nil {
			t.Fatal(err)
		}
		req, _ := http.NewRequest("POST", "http://any.test/v1beta/models/m:streamGenerateContent"+query, strings.NewReader(`{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`))
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if got := json.Valid(b); got != array || !strings.Contains(string(b), "hello") || resp.StatusCode != 200 {
			t.Errorf("%q: %d %s", query, resp.StatusCode, b)
		}
		_ = tr.Close(context.Background())
	}
}

// once is a writer that fails at its second write.
type once struct {
	http.ResponseWriter
	n int
}

func (w *once) Write(p []byte) (int, error) {
	if w.n++; w.n > 1 {
		return 0, errors.New("gone")
	}
	return w.ResponseWriter.Write(p)
}

func TestAnArrayIsTheSameWhereverItsStreamIsCut(t *testing.T) {
	const events = "\n\ndata: {\"a\":1}\n\n: note\r\ndata: {\"b\":\r\ndata: 2}\r\n\r\ndata:3\n\n"
	for cut := range len(events) + 1 {
		w := httptest.NewRecorder()
		w.Header().Set("Content-Type", "text/event-stream")
		a := &array{w: w}
		_, _ = a.Write([]byte(events[:cut]))
		_, _ = a.Write([]byte(events[cut:]))
		a.finish()
		_, _ = a.Write([]byte("\n\n"))
		if got := w.Body.String(); strings.TrimSpace(got) != "[{\"a\":1},\n{\"b\":\n2},\n3]" {
			t.Fatalf("cut at %d: %q", cut, got)
		}
	}
	a := &array{w: &once{ResponseWriter: httptest.NewRecorder()}}
	if _, err := a.Write([]byte("x")); err != nil {
		t.Error(err)
	}
	if _, err := a.Write([]byte("y")); err == nil {
		t.Error("nobody hears that the caller is gone")
	}
	none := httptest.NewRecorder()
	a = &array{w: none}
	a.finish()
	if none.Body.Len() > 0 {
		t.Error("an end without a begin")
	}
}

func FuzzArray(f *testing.F) {
	f.Add([]byte("data: {\"a\":1}\n\ndata: 2\n\n\n"), 5)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		cut = min(max(cut, 0), len(b))
		var got [2]string
		for i, pieces := range [][][]byte{{b}, {b[:cut], b[cut:]}} {
			w := httptest.NewRecorder()
			w.Header().Set("Content-Type", "text/event-stream")
			a := &array{w: w}
			for _, p := range pieces {
				_, _ = a.Write(p)
			}
			a.finish()
			got[i] = w.Body.String()
		}
		if got[0] != got[1] {
			t.Errorf("%q\n%q", got[0], got[1])
		}
	})
}
