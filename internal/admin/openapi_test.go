package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/internal/schema"
	"backstop/mock"
)

// document is openapi.json as far as the tests need it.
type document struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
		RequestBody struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
	Components json.RawMessage
}

func readDocument(t *testing.T, text []byte) document {
	t.Helper()
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check holds an answer against what the document says of it.
func (d *document) check(t *testing.T, what string, rule json.RawMessage, body string) {
	t.Helper()
	source, err := json.Marshal(map[string]any{"allOf": []json.RawMessage{rule}, "components": d.Components})
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := new(schema.Cache).Compile(source)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for _, v := range compiled.Validate([]byte(body)) {
		t.Errorf("%s: %s: %s in %.300s", what, v.Path, v.Reason, body)
	}
}

func (d *document) rule(path, method, status, media string) json.RawMessage {
	return d.Paths[path][strings.ToLower(method)].Responses[status].Content[media].Schema
}

func TestTheAnswersAreWhatTheDocumentSays(t *testing.T) {
	m := mock.New(mock.Options{})
	srv := httptest.NewServer(m)
	defer func() { m.Close(); srv.Close() }()
	d := open(t, func(o *Options) {
		o.Plan = func() *backstop.Plan {
			p := plan()
			p.Upstreams[1].BaseURL, p.Upstreams[1].AllowPrivate = srv.URL+"/v1", true
			return p
		}
	})
	d.calls[1].Time = start
	d.changes = append(d.changes, backstop.Transition{Time: start.Add(time.Second), Upstream: "one", Scope: "model", Model: "m", From: "closed", To: "open", Cause: "hang"})
	doc := readDocument(t, []byte(d.do("GET", "/api/openapi.json", "", auth).body))
	for _, c := range []struct{ method, at, path, body, status string }{
		{"GET", "/api/state", "", "", "200"},
		{"GET", "/api/history", "", "", "200"},
		{"GET", "/api/calls", "", "", "200"},
		{"GET", "/api/calls?tier=first", "/api/calls", "", "400"},
		{"GET", "/api/calls/c1", "/api/calls/{id}", "", "200"},
		{"GET", "/api/calls/none", "/api/calls/{id}", "", "404"},
		{"GET", "/api/config", "", "", "200"},
		{"GET", "/api/faults", "", "", "200"},
		{"POST", "/api/faults/two", "/api/faults/{upstream}", `{"fault":"hang"}`, "200"},
		{"POST", "/api/faults/two", "/api/faults/{upstream}", `{"fault":"nonsense","model":"m"}`, "400"},
		{"POST", "/api/faults/one", "/api/faults/{upstream}", `{"fault":"hang"}`, "409"},
		{"POST", "/api/faults/none", "/api/faults/{upstream}", `{"fault":"hang"}`, "404"},
		{"POST", "/api/breakers/one", "/api/breakers/{upstream}", `{"state":"open","for":"15m"}`, "200"},
		{"POST", "/api/breakers/one", "/api/breakers/{upstream}", `{"state":"ajar"}`, "400"},
		{"POST", "/api/reload", "", "", "200"},
		{"POST", "/api/drain", "", "", "202"},
		{"GET", "/api/openapi.json", "", "", "200"},
	} {
		if c.path == "" {
			c.path = c.at
		}
		r := d.do(c.method, c.at, c.body, auth, "Content-Type: application/json")
		what := c.method + " " + c.at + " " + c.status
		if strconv.Itoa(r.status) != c.status {
			t.Errorf("%s: %d %s", what, r.status, r.body)
			continue
		}
		rule := doc.rule(c.path, c.method, c.status, "application/json")
		if rule == nil {
			t.Errorf("the document has no %s", what)
			continue
		}
		doc.check(t, what, rule, r.body)
		if c.body != "" && c.status == "200" {
			doc.check(t, what+" (request)", doc.Paths[c.path]["post"].RequestBody.Content["application/json"].Schema, c.body)
		}
	}
	if r := d.do("GET", "/api/state", ""); r.status == 401 {
		doc.check(t, "without the token", doc.rule("/api/state", "GET", "401", "application/json"), r.body)
	}
}

func TestTheDocumentRefusesWhatIsNotSo(t *testing.T) {
	doc := readDocument(t, openAPIText)
	for name, body := range map[string]string{"Call": `{}`, "State": `{"now":1}`, "Skip": `{"tier":0,"upstream":"x","why":"open","at_ms":0,"more":1}`} {
		source, _ := json.Marshal(map[string]any{"$ref": "#/components/schemas/" + name, "components": doc.Components})
		compiled, err := new(schema.Cache).Compile(source)
		if err != nil || len(compiled.Validate([]byte(body))) == 0 {
			t.Errorf("%s takes %s (%v)", name, body, err)
		}
	}
}

func TestACallShowsWhatHappenedToBreakersMeanwhile(t *testing.T) {
	d := open(t, nil)
	d.calls[1].Time = start
	turn := func(at time.Duration, upstream string, trial bool) {
		d.changes = append(d.changes, backstop.Transition{Time: start.Add(at), Upstream: upstream, Scope: "model", From: "closed", To: "open", Cause: "hang", Trial: trial})
	}
	turn(-time.Second, "one", false)
	turn(2250*time.Millisecond, "one", false)
	turn(2*time.Second, "one", true)
	turn(time.Second, "three", false)
	turn(time.Minute, "one", false)
	var c callView
	if err := json.Unmarshal([]byte(d.do("GET", "/api/calls/c1", "", auth).body), &c); err != nil {
		t.Fatal(err)
	}
	if len(c.Changes) != 1 || c.Changes[0].At != 2250 || c.Changes[0].To != "open" {
		t.Errorf("%+v", c.Changes)
	}
	if r := d.do("GET", "/api/calls", "", auth); strings.Contains(r.body, `"changes"`) {
		t.Error("the list of calls has the changes as well")
	}
}

func TestTheDocumentHasEveryPathThatIsServed(t *testing.T) {
	doc := readDocument(t, openAPIText)
	var served []string
	for path, methods := range doc.Paths {
		for method := range methods {
			served = append(served, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(served)
	want := "GET /api/calls, GET /api/calls/{id}, GET /api/config, GET /api/events, GET /api/faults, GET /api/history, GET /api/openapi.json, GET /api/state, GET /metrics, " +
		"POST /api/breakers/{upstream}, POST /api/drain, POST /api/faults/{upstream}, POST /api/reload"
	if got := strings.Join(served, ", "); got != want {
		t.Errorf("the document has\n%s, want\n%s", got, want)
	}
}

func TestTheEventsAreWhatTheDocumentSays(t *testing.T) {
	d := open(t, nil)
	doc := readDocument(t, openAPIText)
	req, _ := http.NewRequestWithContext(context.Background(), "GET", d.url+"/api/events", nil)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := d.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { close(d.stop); _, _ = io.Copy(io.Discard, resp.Body); resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	rules := map[string]string{
		"state": `{"$ref":"#/components/schemas/State"}`, "history": `{"$ref":"#/components/schemas/History"}`, "transition": `{"$ref":"#/components/schemas/Transition"}`,
		"traffic": `{"type":"object","additionalProperties":false,"required":["seconds"],"properties":{"seconds":{"type":"array","items":{"$ref":"#/components/schemas/Second"}}}}`,
	}
	seen := map[string]bool{}
	name := ""
	for len(seen) < len(rules) && lines.Scan() {
		if v, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			name = v
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		doc.check(t, name, json.RawMessage(rules[name]), data)
		if seen[name] = true; name == "history" {
			d.mu.Lock()
			d.changes = append(d.changes, backstop.Transition{Time: start, Upstream: "one", Scope: "endpoint", From: "closed", To: "open", Cause: "run"})
			close(d.changed)
			d.changed = make(chan struct{})
			d.mu.Unlock()
		}
	}
	if len(seen) != len(rules) {
		t.Errorf("only %v came", seen)
	}
}
