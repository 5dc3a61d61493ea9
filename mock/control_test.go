package mock_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"backstop/mock"
)

func (p peer) ask(t *testing.T, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := p.do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestFaultsAreSwitchedWhileTheServerRuns(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	for _, c := range []struct {
		order string
		want  map[string]int // model -> status
	}{
		{`{"model":"m","fault":"503"}`, map[string]int{"m": 503, "n": 200}},
		{`{"model":"*","fault":"429"}`, map[string]int{"m": 503, "n": 429, "ok": 429}},
		{`{"model":"m","fault":"ok"}`, map[string]int{"m": 200, "n": 429}},
		{`{"model":"m","fault":""}`, map[string]int{"m": 429}},
		{`{"model":"*","fault":""}`, map[string]int{"m": 200, "504": 504}},
		{`{"model":"504","fault":"ok"}`, map[string]int{"504": 200}},
	} {
		if status, body := p.ask(t, "POST", "/mock/faults", c.order); status != 200 {
			t.Fatalf("%s: %d %s", c.order, status, body)
		}
		for model, want := range c.want {
			if g := p.chat(model, false, "", patient); g.status != want {
				t.Errorf("after %s model %s gives %d, want %d", c.order, model, g.status, want)
			}
		}
	}
	status, body := p.ask(t, "GET", "/mock/faults", "")
	if status != 200 || !strings.Contains(body, `"faults":{"504":"ok"}`) || !strings.Contains(body, `"example":"slow:20s"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestBadOrdersAreExplained(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	for order, want := range map[string]string{
		`{"model":"m","fault":"hnag"}`:     `did you mean \"hang\"?`,
		`{"model":"m"}`:                    "want",
		`{"model":"m","fault":"ok","x":}`:  "want",
		`{"model":"m","fault":"ok","x":1}`: "want",
		`{"model":"","fault":"ok"}`:        "model name",
	} {
		if status, body := p.ask(t, "POST", "/mock/faults", order); status != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", order, status, body)
		}
	}
	for _, path := range []string{"/mock/faults", "/mock/log"} {
		if status, _ := p.ask(t, "GET", path, "", "Origin", "http://page.test"); status != 403 {
			t.Errorf("a web page may read %s: %d", path, status)
		}
	}
}

func TestTheLogTellsAttemptsApartWithoutKeysAndPrompts(t *testing.T) {
	m, p := overSockets(t, mock.Options{Name: "west"})
	body := chatBody("cut@2", true, `,"max_tokens":16`)
	p.ask(t, "POST", "/v1/chat/completions", chatBody("ok", false, ""), "Authorization", "Bearer secret-of-a-caller",
		"X-Stainless-Retry-Count", "2", "Idempotency-Key", "k", "Cookie", "a=b")
	p.post("/chat/completions", body, patient)
	waitFor(t, func() bool { return m.Counts().Open == 0 })
	log := m.Log()
	if len(log) != 2 {
		t.Fatalf("%d attempts", len(log))
	}
	a, b := log[0], log[1]
	if a.Seq != 1 || a.Model != "ok" || a.Fault != "ok" || a.Ended != "done" || a.Status != 200 || a.Out == 0 || a.StainlessRetryCount != "2" ||
		!a.IdempotencyKey || a.Key != "2c72d89c" && len(a.Key) != 8 || !slices.Contains(a.Headers, "Cookie") || a.Stream || a.Path != "/v1/chat/completions" {
		t.Errorf("%+v", a)
	}
	if b.Ended != "cut" || b.MaxTokens != 16 || !b.Stream || b.In != int64(len(body)) || b.IdempotencyKey || b.Key == a.Key || b.Path != "/chat/completions" {
		t.Errorf("%+v", b)
	}
	status, shown := p.ask(t, "GET", "/mock/log", "")
	if status != 200 || !strings.Contains(shown, `"by_end":{"cut":1,"done":1}`) || !strings.Contains(shown, `"by_model":{"cut@2":1,"ok":1}`) ||
		!strings.Contains(shown, `"by_fault":{"cut":1,"ok":1}`) {
		t.Errorf("%d %s", status, shown)
	}
	for _, secret := range []string{"secret-of-a-caller", "key-of-the-test", "lighthouse"} {
		if strings.Contains(shown, secret) {
			t.Errorf("the log shows %q", secret)
		}
	}
	if status, _ := p.ask(t, "DELETE", "/mock/log", ""); status != 200 || len(m.Log()) != 0 || m.Counts().Attempts != 0 {
		t.Errorf("%d, %d attempts left", status, len(m.Log()))
	}
}

func TestTheLogIsBounded(t *testing.T) {
	m, p := overSockets(t, mock.Options{LogSize: 3})
	for range 5 {
		p.chat("ok", false, "", patient)
	}
	waitFor(t, func() bool { return m.Counts().Open == 0 })
	log := m.Log()
	if len(log) != 3 || log[0].Seq != 3 || log[2].Seq != 5 || m.Counts().Attempts != 5 {
		t.Errorf("%d kept, %+v", len(log), m.Counts())
	}
}

func TestOnlyTheRightKeyIsServed(t *testing.T) {
	m, p := overSockets(t, mock.Options{Key: "right"})
	for header, value := range map[string]string{"Authorization": "Bearer right", "X-Api-Key": "right", "Api-Key": "right", "X-Goog-Api-Key": "right"} {
		if status, _ := p.ask(t, "POST", "/v1/chat/completions", chatBody("ok", false, ""), header, value); status != 200 {
			t.Errorf("%s: %d", header, status)
		}
		if status, body := p.ask(t, "POST", "/v1/chat/completions", chatBody("ok", false, ""), header, "wrong"); status != 401 || !strings.Contains(body, "invalid_api_key") {
			t.Errorf("%s: %d %s", header, status, body)
		}
	}
	if status, _ := p.ask(t, "GET", "/v1/models", ""); status != 401 {
		t.Errorf("models without a key: %d", status)
	}
	if c := m.Counts(); c.ByModel["ok"] != 8 {
		t.Errorf("%+v", c)
	}
}

func TestModelsAreListed(t *testing.T) {
	_, p := overSockets(t, mock.Options{Faults: map[string]string{"tied": "hang"}})
	status, body := p.ask(t, "GET", "/v1/models", "")
	for _, id := range []string{"tied", "ok", "stall@20", "p:0.25:503"} {
		if status != 200 || !strings.Contains(body, `"id":"`+id+`"`) {
			t.Errorf("%d, no %s in %s", status, id, body)
		}
	}
	if status, body := p.ask(t, "GET", "/models/a/b", ""); status != 200 || !strings.Contains(body, `"id":"a/b"`) {
		t.Errorf("%d %s", status, body)
	}
}

func TestTheDrawsOfChanceFollowTheSeed(t *testing.T) {
	draws := func(seed uint64) string {
		_, p := overSockets(t, mock.Options{Seed: seed})
		var b strings.Builder
		for range 60 {
			b.WriteString(map[int]string{200: "+", 503: "-"}[p.chat("p:0.25:503", false, "", patient).status])
		}
		return b.String()
	}
	one := draws(1)
	if one != draws(1) || one == draws(2) {
		t.Error("one seed must give one sequence")
	}
	if bad := strings.Count(one, "-"); bad < 5 || bad > 28 {
		t.Errorf("%d of 60 are bad, want about 15", bad)
	}
}

func TestResetTakesEverythingBack(t *testing.T) {
	m, p := overSockets(t, mock.Options{Faults: map[string]string{"m": "503"}})
	_ = m.SetFault("m", "ok")
	_ = m.SetFault("n", "504")
	p.chat("m", false, "", patient)
	m.Reset()
	if g := p.chat("m", false, "", patient); g.status != 503 || len(m.Log()) != 1 {
		t.Errorf("%d, %d attempts", g.status, len(m.Log()))
	}
	if g := p.chat("n", false, "", patient); g.status != 200 {
		t.Errorf("n: %d", g.status)
	}
}

func TestABrokenFaultInOptionsPanics(t *testing.T) {
	defer func() {
		if err, ok := recover().(error); !ok || !strings.Contains(err.Error(), "hang") {
			t.Errorf("got %v", err)
		}
	}()
	mock.New(mock.Options{Faults: map[string]string{"m": "hang:now"}})
}
