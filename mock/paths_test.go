package mock_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"backstop/mock"
)

func TestEachDialectIsServedWithAndWithoutItsVersion(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	message := `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}`
	for path, body := range map[string]string{
		"/v1/messages": message, "/messages": message,
		"/v1/messages/count_tokens": message, "/messages/count_tokens": message,
		"/v1/responses": `{"model":"m","input":"hi"}`, "/responses": `{"model":"m","input":[{"content":"hi"}]}`,
		"/v1beta/models/m:generateContent": geminiAsks("", false, false), "/v1/models/m:generateContent": geminiAsks("", false, false),
		"/models/llama:8b:generateContent": geminiAsks("", false, false), "/v1beta/models/m:countTokens": geminiAsks("", false, false),
	} {
		if g := p.post(path, body, patient); g.status != 200 || !json.Valid([]byte(g.body)) {
			t.Errorf("%s: %d %s", path, g.status, g.body)
		}
	}
}

func TestTokensAreCountedWithoutAnAnswer(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	g := p.post("/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"user","content":"one two three"}]}`, patient)
	if g.body != `{"input_tokens":6}` {
		t.Error(g.body)
	}
	if g := p.post("/v1beta/models/m:countTokens", `{"contents":[{"parts":[{"text":"one two three"}]}]}`, patient); g.body != `{"totalTokens":6}` {
		t.Error(g.body)
	}
	if g := p.post("/v1/messages/count_tokens", `{"model":"529","messages":[{"role":"user","content":"x"}]}`, patient); g.status != 529 {
		t.Errorf("faults work here too: %d", g.status)
	}
}

func TestModelsAreListedInTheDialectThatAsks(t *testing.T) {
	_, p := overSockets(t, mock.Options{Faults: map[string]string{"zebra": "hang"}})
	for _, c := range []struct{ path, header, want string }{
		{"/v1/models", "", `"object":"list"`},
		{"/v1/models", "Anthropic-Version", `"last_id":"zebra"`},
		{"/models/zebra", "Anthropic-Version", `"display_name":"zebra"`},
		{"/v1beta/models", "", `"name":"models/zebra"`},
		{"/v1beta/models/zebra", "", `"supportedGenerationMethods":["generateContent"`},
	} {
		headers := []string{}
		if c.header != "" {
			headers = []string{c.header, "2023-06-01"}
		}
		if status, body := p.ask(t, "GET", c.path, "", headers...); status != 200 || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s", c.path, c.header, status, body)
		}
	}
}

func TestAKeyIsKnownWhereverADialectPutsIt(t *testing.T) {
	m, p := overSockets(t, mock.Options{Key: "open-sesame"})
	body := chatBody("m", false, "")
	for _, c := range []struct{ name, value string }{
		{"Authorization", "Bearer open-sesame"}, {"X-Api-Key", "open-sesame"}, {"Api-Key", "open-sesame"}, {"X-Goog-Api-Key", "open-sesame"},
	} {
		if status, answer := p.ask(t, "POST", "/v1/chat/completions", body, c.name, c.value); status != 200 {
			t.Errorf("%s: %d %s", c.name, status, answer)
		}
	}
	if status, answer := p.ask(t, "POST", "/v1beta/models/m:generateContent?key=open-sesame", geminiAsks("", false, false)); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	for _, a := range m.Log() {
		if a.Key != m.Log()[0].Key || a.Key == "" || strings.Contains(a.Path, "sesame") {
			t.Errorf("%+v", a)
		}
	}
	for path, want := range map[string]string{
		"/v1/messages": `"type":"authentication_error"`, "/v1beta/models/m:generateContent": `"UNAUTHENTICATED"`, "/v1/responses": `"invalid_api_key"`,
	} {
		if status, answer := p.ask(t, "POST", path, body, "X-Api-Key", "wrong", "Anthropic-Version", "x"); status != 401 || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if status, answer := p.ask(t, "GET", "/v1beta/models", "", "X-Goog-Api-Key", "wrong"); status != 401 || !strings.Contains(answer, "UNAUTHENTICATED") {
		t.Errorf("%d %s", status, answer)
	}
}

func TestBadRequestsAreRefusedInEveryDialect(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	for _, c := range []struct {
		path, body, word string
		status           int
	}{
		{"/v1/messages", `{`, "invalid_request_error", 400},
		{"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "max_tokens", 400},
		{"/v1/messages", `{"model":"m","max_tokens":1,"messages":[]}`, "messages", 400},
		{"/v1/messages", `{"max_tokens":1,"messages":[{}]}`, "model", 400},
		{"/v1/messages/batches", `{}`, `"type":"not_found_error"`, 404},
		{"/v1/responses", `{"model":"m"}`, "input", 400},
		{"/v1/responses", `{"model":"m","input":null}`, "input", 400},
		{"/v1/responses", `{"model":"m","input":"x","max_output_tokens":0}`, "max_output_tokens", 400},
		{"/v1beta/models/m:generateContent", `{}`, "contents", 400},
		{"/v1beta/models/m:generateContent", `{"contents":[{}],"generationConfig":{"candidateCount":9}}`, "candidateCount", 400},
		{"/v1beta/models/m:embedContent", `{}`, `"NOT_FOUND"`, 404},
		{"/v1beta/models/:generateContent", `{"contents":[{}]}`, "model", 400},
		{"/v1beta/corpora", `{}`, `"status":"NOT_FOUND"`, 404},
	} {
		if g := p.post(c.path, c.body, patient); g.status != c.status || !strings.Contains(g.body, c.word) || !json.Valid([]byte(g.body)) {
			t.Errorf("%s %s: %d %s", c.path, c.body, g.status, g.body)
		}
	}
	if status, body := p.ask(t, "POST", "/v1/messages", messageAsks("m", false, false)); status != 400 || !strings.Contains(body, "anthropic-version") {
		t.Errorf("a message without a version: %d %s", status, body)
	}
}

func TestPromisesAndToolsAreHonouredInEveryDialect(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	const zone = `{"type":"object","required":["zone"],"properties":{"zone":{"type":"string"}}}`
	big := strings.ToUpper(zone[:len(`{"type":"object"`)])
	big = strings.Replace(big, "TYPE", "type", 1) + zone[len(`{"type":"object"`):]
	for name, c := range map[string]struct{ path, body, want string }{
		"messages, a promise":  {"/v1/messages", `{"model":"m","max_tokens":99,"output_config":{"format":{"type":"json_schema","schema":` + zone + `}},"messages":[{"role":"user","content":"x"}]}`, `{\"zone\":`},
		"messages, any tool":   {"/v1/messages", `{"model":"m","max_tokens":99,"tools":[{"name":"clock","input_schema":` + zone + `}],"tool_choice":{"type":"any"},"messages":[{"role":"user","content":"x"}]}`, `"input":{"zone":`},
		"messages, one tool":   {"/v1/messages", `{"model":"m","max_tokens":99,"tools":[{"name":"mail"},{"name":"clock","input_schema":` + zone + `}],"tool_choice":{"type":"tool","name":"clock"},"messages":[{"role":"user","content":"x"}]}`, `"name":"clock"`},
		"responses, a promise": {"/v1/responses", `{"model":"m","text":{"format":{"type":"json_schema","name":"z","schema":` + zone + `}},"input":"x"}`, `{\"zone\":`},
		"responses, any tool":  {"/v1/responses", `{"model":"m","tools":[{"type":"function","name":"clock","parameters":` + zone + `}],"tool_choice":"required","input":"x"}`, `"arguments":"{\"zone\":`},
		"responses, one tool":  {"/v1/responses", `{"model":"m","tools":[{"type":"function","name":"mail"},{"type":"function","name":"clock"}],"tool_choice":{"type":"function","name":"clock"},"input":"x"}`, `"name":"clock"`},
		"gemini, a promise":    {"/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"responseMimeType":"application/json","responseSchema":` + big + `}}`, `{\"zone\":`},
		"gemini, a tool":       {"/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"mail"},{"name":"clock","parametersJsonSchema":` + zone + `}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["clock"]}}}`, `"args":{"zone":`},
		"gemini, candidates":   {"/v1beta/models/m:generateContent", `{"contents":[{"parts":[{"text":"x"}]}],"generationConfig":{"candidateCount":2,"maxOutputTokens":3}}`, `"index":1`},
	} {
		if g := p.post(c.path, c.body, patient); g.status != 200 || !strings.Contains(g.body, c.want) {
			t.Errorf("%s: %d %s", name, g.status, g.body)
		}
	}
}

// FuzzRequests sends any body to every dialect: what comes back is an answer
// or an error of the dialect, and JSON either way.
func FuzzRequests(f *testing.F) {
	for _, l := range fixtures {
		f.Add(l.body("ok", false, true))
	}
	f.Add(`{"model":"ok","max_tokens":1,"messages":[{"content":[{"text":1}]}],"input":[{"content":{}}],"contents":[{"parts":[[]]}],"tools":[{}],"tool_choice":{}}`)
	f.Add(`{"model":"ok","tools":[{"name":"","input_schema":[]}],"tool_choice":{"type":"any"},"max_tokens":1,"messages":[{}]}`)
	m := mock.New(mock.Options{Tokens: 3})
	f.Fuzz(func(t *testing.T, body string) {
		if strings.Contains(body, "odel") && !strings.Contains(body, `"ok"`) {
			t.Skip("it may name a fault that waits")
		}
		for _, l := range fixtures {
			r := httptest.NewRequest(http.MethodPost, l.path("ok", false), strings.NewReader(body))
			r.Header.Set("Anthropic-Version", "x")
			w := httptest.NewRecorder()
			m.ServeHTTP(w, r)
			if got := w.Body.String(); w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
				t.Error(fmt.Errorf("%s: %d %q to %q", l.name, w.Code, got, body))
			}
		}
	})
}
