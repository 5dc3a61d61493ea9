package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// post sends a body to a path of the data plane.
func (h *house) post(path, body string) (*http.Response, string) {
	h.t.Helper()
	resp, err := http.Post(h.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return resp, string(b)
}

// said puts the text of an answer together, whatever its form.
func said(body string) (text string, whole gjson.Result) {
	if !strings.HasPrefix(body, "data:") {
		whole = gjson.Parse(body)
		return whole.Get("choices.0.message.content").String() + whole.Get("output").String(), whole
	}
	for line := range strings.Lines(body) {
		data := strings.TrimSpace(strings.TrimPrefix(line, "data:"))
		if strings.HasPrefix(data, "{") {
			whole = gjson.Parse(data)
			text += whole.Get("choices.0.delta.content").String() + whole.Get("delta").String()
		}
	}
	return text, whole
}

const wanted = `{"type":"object","required":["city","people"],"additionalProperties":false,"properties":{"city":{"type":"string"},"people":{"type":"integer"}}}`

func TestPromisedJSONThroughTheWholeHouse(t *testing.T) {
	format := `"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":` + wanted + `}}`
	for fault, repairs := range map[string][]string{"ok": nil, "fenced": {"fence"}, "prose": {"prose"}, "badjson": {"unquoted-key"}, "truncated": nil, "truncated:stop": nil} {
		for _, stream := range []bool{false, true} {
			forms := map[string][2]string{
				"chat":  {"/v1/chat/completions", fmt.Sprintf(`{"model":%q,"stream":%v,"messages":[{"role":"user","content":"Rome"}],%s}`, fault, stream, format)},
				"agent": {"/api/agent", fmt.Sprintf(`{"model":%q,"stream":%v,"prompt":"Rome","schema":%s}`, fault, stream, wanted)},
			}
			for form, c := range forms {
				t.Run(fmt.Sprintf("%s, %s, stream %v", fault, form, stream), func(t *testing.T) {
					t.Parallel()
					h := newHouse(t, false)
					resp, body := h.post(c[0], c[1])
					text, last := said(body)
					cut := strings.HasPrefix(fault, "truncated")
					var v struct {
						City   *string
						People *int
					}
					if err := json.Unmarshal([]byte(text), &v); resp.StatusCode != 200 || err != nil || !(cut && stream) && (v.City == nil || v.People == nil) {
						t.Fatalf("%d %v %q\n%s", resp.StatusCode, err, text, body)
					}
					if len(repairs) > 0 {
						if !strings.Contains(resp.Header.Get("X-Backstop-Repaired")+body, repairs[0]) {
							t.Errorf("repairs %v are not told: %v\n%s", repairs, resp.Header, body)
						}
						eventually(t, "the repair in the log", func() bool { return h.log.has("[Schema Repair] primary: ") })
						eventually(t, "the repair in the metrics", func() bool {
							_, metrics := h.admin("GET", "/metrics", "")
							return strings.Contains(metrics, `backstop_json_repairs_total{kind="`+repairs[0]+`"} 1`)
						})
					}
					primary, backup := h.primary.Counts().Attempts, h.backup.Counts().Attempts
					if want := map[bool]int{true: 1}[cut && !stream]; int(primary) != 1 || int(backup) != want {
						t.Errorf("%d attempts at the primary, %d at the backup", primary, backup)
					}
					if cut && stream && !last.Get("truncated").Bool() && !strings.Contains(body, `"truncated":true`) {
						t.Errorf("a cut stream is not marked\n%s", body)
					}
				})
			}
		}
	}
}

func TestAUselessSchemaHoldsNothingUp(t *testing.T) {
	h := newHouse(t, false)
	resp, body := h.post("/v1/chat/completions", `{"model":"ok","messages":[{"role":"user","content":"Rome"}],"response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"$ref":"https://example.com/s.json"}}}}`)
	if resp.StatusCode != 200 || resp.Header.Get("X-Backstop-Unvalidated") != "schema" || resp.Header.Get("X-Backstop-Tier") != "primary" {
		t.Errorf("%d %v\n%s", resp.StatusCode, resp.Header, body)
	}
	eventually(t, "the warning", func() bool { return h.log.has("JSON Schema") })
	if h.log.has("example.com") {
		t.Error("the log tells too much")
	}
}
