package backstophttp

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"backstop"
	"backstop/wire"
)

// probeAfter lets the primary answer one call, break, and returns the body of
// the probe that follows.
func probeAfter(t *testing.T, mode backstop.ProbeMode, request string) (body string) {
	t.Helper()
	var broken atomic.Bool
	primary := func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		answers(good("P")...)(w, r)
	}
	in(t, setup{primary: primary, backup: answers(good("B")...), change: func(p *backstop.Plan) {
		p.Upstreams[0].Breaker.Probe = mode
	}}, func(h *house) {
		h.call(request)
		broken.Store(true)
		for range 6 {
			h.call(unary)
		}
		h.mu.Lock()
		h.bodies["primary"] = ""
		h.mu.Unlock()
		time.Sleep(6 * time.Second)
		h.mu.Lock()
		defer h.mu.Unlock()
		if body = h.bodies["primary"]; body == "" {
			t.Fatal("no probe was made")
		}
	})
	return body
}

func TestAShadowProbeRepeatsTheLatestCallThatMayBeRepeated(t *testing.T) {
	const secretWord = "plum cake"
	said := `"messages":[{"role":"user","content":"` + secretWord + `"}]`
	for name, c := range map[string]struct {
		mode    backstop.ProbeMode
		request string
		copied  bool
	}{
		"a stream":             {backstop.ProbeShadow, `{"model":"m","stream":true,"max_tokens":4000,` + said + `}`, true},
		"one body":             {backstop.ProbeShadow, `{"model":"m",` + said + `}`, true},
		"not with tools":       {backstop.ProbeShadow, `{"model":"m","tools":[{"type":"function","function":{"name":"f"}}],` + said + `}`, false},
		"not what is stored":   {backstop.ProbeShadow, `{"model":"m","store":true,` + said + `}`, false},
		"not what is large":    {backstop.ProbeShadow, `{"model":"m","user":"` + strings.Repeat("x", shadowSize) + `",` + said + `}`, false},
		"not promised JSON":    {backstop.ProbeShadow, `{"model":"m","response_format":{"type":"json_object"},` + said + `}`, false},
		"not unless it is set": {backstop.ProbeSynthetic, `{"model":"m",` + said + `}`, false},
		"not with a picture": {backstop.ProbeShadow, `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"` + secretWord +
			`"},{"type":"image_url","image_url":{"url":"https://x.test/a.png"}}]}]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			body := probeAfter(t, c.mode, c.request)
			if strings.Contains(body, secretWord) != c.copied || c.copied && !strings.Contains(body, `"max_tokens":64`) || !c.copied && !strings.Contains(body, "Reply with") {
				t.Errorf("the probe is %.300s", body)
			}
		})
	}
}

// An upstream that rejects the copy gets our own tiny call next time.
func TestACopyThatIsRejectedIsForgotten(t *testing.T) {
	var broken atomic.Bool
	var probes []string
	primary := func(w http.ResponseWriter, r *http.Request) {
		if !broken.Load() {
			answers(good("P")...)(w, r)
			return
		}
		b, _ := read(r.Body, -1, 1<<20, nil)
		if strings.Contains(string(b), "max_tokens") {
			probes = append(probes, string(b))
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"error":{"message":"no","type":"invalid_request_error"}}`))
			return
		}
		w.WriteHeader(http.StatusInternalServerError)
	}
	in(t, setup{primary: primary, backup: answers(good("B")...), change: func(p *backstop.Plan) {
		p.Upstreams[0].Breaker.Probe = backstop.ProbeShadow
	}}, func(h *house) {
		h.call(unary)
		broken.Store(true)
		for range 6 {
			h.call(unary)
		}
		time.Sleep(14 * time.Second)
	})
	if len(probes) < 2 || !strings.Contains(probes[0], `"hi"`) || !strings.Contains(probes[1], "Reply with") {
		t.Errorf("%d probes: %q", len(probes), probes)
	}
}

func TestCopiesAreBoundedInNumberAndAge(t *testing.T) {
	s, now := newShadows(), time.Now()
	u := backstop.Upstream{Name: "u", Breaker: backstop.BreakerSettings{Probe: backstop.ProbeShadow}}
	call := wire.Outbound{Body: []byte(`{"max_tokens":5}`)}
	for i := range 3 * shadowCount {
		s.put(shadowKey{"u", strings.Repeat("m", i), false, false}, shadow{call, now.Add(time.Duration(i) * time.Millisecond)})
	}
	if len(s.copies) != shadowCount {
		t.Errorf("%d copies", len(s.copies))
	}
	p := &backstop.Probe{Upstream: &u, Model: strings.Repeat("m", 3*shadowCount-1)}
	if _, ok := s.take(p, &call, now); !ok {
		t.Error("the latest copy is gone")
	}
	if _, ok := s.take(p, &call, now.Add(2*shadowAge)); ok || len(s.copies) != shadowCount-1 {
		t.Error("an old copy is used")
	}
}
