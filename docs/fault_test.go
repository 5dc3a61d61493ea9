package docs_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"backstop/mock"
)

// faultRow is one row of docs/faults.md.
var faultRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]*)\\| ([^|]*)\\| (.*)\\|$")

const (
	faultsBegin = "<!-- faults:begin -->"
	faultsEnd   = "<!-- faults:end -->"
)

// times are the limits of a row. The card's would make the table take a
// minute: where silence is the fault they are short, and elsewhere long enough
// for a machine that is busy.
func times(fault string) (edit []string) {
	limits := "first_token: 30s, idle: 30s"
	switch fault {
	case "hang", "slow:20s", "role-only", "keepalive:100ms", "blanklines:20s":
		limits = "first_token: 1s"
	case "stall@20":
		limits = "first_token: 30s, idle: 1s"
	}
	return []string{`primary: {`, `primary: {timeouts: {` + limits + `}, retry: {jitter: 1ms-5ms}, `}
}

// TestTheFaultTableIsMadeByRunningIt runs every fault of the table, plain and
// streamed, each on a gateway that knows nothing yet.
func TestTheFaultTableIsMadeByRunningIt(t *testing.T) {
	t.Parallel()
	text := read(t, "docs/faults.md").text
	parts := strings.Split(text, faultsBegin)
	w := newMocks(t)
	missing := map[string]bool{}
	for _, word := range mock.Words() {
		missing[word.Word] = true
	}
	for i, part := range parts[1:] {
		table, rest, ok := strings.Cut(part, faultsEnd)
		if !ok {
			t.Fatal("a table has no end")
		}
		section := parts[i][strings.LastIndex(parts[i], "\n## "):]
		asked := strings.Contains(section, "ask for JSON")
		rows := faultRow.FindAllStringSubmatch(table, -1)
		cells := make([][2]string, len(rows))
		var running sync.WaitGroup
		for j, row := range rows {
			for k := range 2 {
				running.Go(func() { cells[j][k] = w.outcome(t, row[1], k == 1, asked) })
			}
		}
		running.Wait()
		for j, row := range rows {
			delete(missing, word(row[1]))
			made := fmt.Sprintf("| `%s` | %s | %s | %s|", row[1], cells[j][0], cells[j][1], row[4])
			if made != row[0] && !*update {
				t.Errorf("the page says\n%s\nand this is what happens:\n%s", row[0], made)
			}
			table = strings.Replace(table, row[0], made, 1)
		}
		parts[i+1] = table + faultsEnd + rest
	}
	for name := range missing {
		t.Errorf("docs/faults.md does not have the fault %s", name)
	}
	if *update {
		write(t, "faults.md", strings.Join(parts, faultsBegin))
	}
}

// word is the name of a fault without its arguments.
func word(fault string) string {
	name := fault[:strings.IndexAny(fault+":", ":@")]
	if regexp.MustCompile(`^[45]\d\d$`).MatchString(name) {
		return "status"
	}
	return name
}

// outcome makes one call and says what came of it, in the words of the table.
func (w *mocks) outcome(t *testing.T, fault string, stream, asked bool) string {
	h := w.open(t, times(fault)...)
	body := map[string]any{"model": fault, "stream": stream, "messages": []map[string]string{{"role": "user", "content": "hello"}}}
	name := word(fault)
	switch {
	case name == "toolcall":
		body["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": "lookup", "parameters": map[string]any{"type": "object"}}}}
	case name == "param":
		body["top_k"] = 3
	case asked && name != "refusal":
		body["response_format"] = map[string]string{"type": "json_object"}
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Error(err)
		return ""
	}
	a := send(t, &request{method: http.MethodPost, url: "http://" + h.Addr() + "/v1/chat/completions", body: string(text), header: http.Header{"Content-Type": {"application/json"}}})
	says := func(name string) string {
		if m := regexp.MustCompile(`(?m)^` + name + `: (.*)$`).FindStringSubmatch(a.head); m != nil {
			return m[1]
		}
		return ""
	}
	reason := says("X-Backstop-Reason")
	if a.status != http.StatusOK {
		return fmt.Sprintf("%d `%s`", a.status, reason)
	}
	out := says("X-Backstop-Tier")
	if reason != "" {
		out += ": `" + reason + "`"
	}
	if n := says("X-Backstop-Attempts"); n != "1" {
		out += ", " + n + " attempts"
	}
	for _, name := range []string{"Repaired", "Dropped"} {
		if v := says("X-Backstop-" + name); v != "" {
			out += ", " + strings.ToLower(name) + " `" + v + "`"
		}
	}
	if m := regexp.MustCompile(`"x_backstop":\{[^}]*"repaired":\["([^]]*)"\]`).FindStringSubmatch(a.body); m != nil && says("X-Backstop-Repaired") == "" {
		out += ", repaired `" + strings.ReplaceAll(m[1], `","`, ",") + "`"
	}
	if strings.Contains(a.body, `"truncated":true`) {
		out += ", marked as truncated"
	}
	if m := regexp.MustCompile(`"x_backstop":\{[^}]*"upstream":"([a-z]+)"[^}]*"rescued":true`).FindStringSubmatch(a.body); m != nil {
		out += ", taken over by " + m[1]
	}
	if m := regexp.MustCompile(`data: \{"error":.*"code":"([a-z_]+)"`).FindStringSubmatch(a.body); m != nil {
		out += ", then `" + m[1] + "`"
	} else if stream && !strings.HasSuffix(a.body, "data: [DONE]\n\n") {
		out += ", then nothing"
	}
	return out
}

func TestAStreamIsNotTakenOverByAnUpstreamThatSaysSomethingElse(t *testing.T) {
	t.Parallel()
	w := newMocks(t)
	other := mock.New(mock.Options{Seed: 2})
	srv := httptest.NewServer(other)
	t.Cleanup(func() { other.Close(); srv.Close() })
	w.urls["127.0.0.1:8402"] = srv.URL
	if got := w.outcome(t, "cut@40", true, false); got != "primary, then `stream_incomplete`" {
		t.Errorf("the page says that the caller gets the error frame; this is what happens: %s", got)
	}
}

// TestNoPromptAnswerOrKeyComesOut sends a marked prompt and marked keys
// through faults of every class, with the log at debug, and looks for them in
// everything that an operator or another caller can see.
func TestNoPromptAnswerOrKeyComesOut(t *testing.T) {
	t.Parallel()
	const (
		upstreamKey = "sk-canary-upstream-7f3a91c2"
		callerKey   = "caller-canary-5d81e6b0"
		prompt      = "zebracrossing"
	)
	w := newMocks(t)
	h := w.open(t,
		`primary: {`, `primary: {key: `+upstreamKey+`, timeouts: {first_token: 300ms, idle: 300ms}, retry: {jitter: 1ms-5ms}, `,
		`agent: {`, "callers: [{name: web, key: "+callerKey+"}]\nagent: {",
		`local: {template: {text: "The`, `local: {template: {text: "{{model}} {{reason}} The`,
	)
	var answers strings.Builder
	faults := []string{"ok", "hang", "503", "html", "empty", "error-in-200", "malformed:all", "fenced", "badjson", "refusal:400", "context", "400", "404", "cut@3", "429:quota", "401"}
	for _, fault := range faults {
		for _, stream := range []bool{false, true} {
			body := fmt.Sprintf(`{"model":%q,"stream":%v,"messages":[{"role":"user","content":%q}]}`, fault, stream, prompt)
			for _, key := range []string{callerKey, "wrong-" + callerKey} {
				a := send(t, &request{method: http.MethodPost, url: "http://" + h.Addr() + "/v1/chat/completions", body: body,
					header: http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + key}}})
				answers.WriteString(a.head + a.body)
			}
		}
	}
	auth := http.Header{"Authorization": {"Bearer " + adminToken}}
	seen := map[string]string{"answers": answers.String()}
	for _, path := range []string{"/metrics", "/api/state", "/api/calls?limit=1000"} {
		seen[path] = send(t, &request{method: http.MethodGet, url: h.admin() + path, header: auth}).body
	}
	eventually(t, "the log of the last call", func() bool { return strings.Count(h.log.text(), `"msg":"call"`) >= 2*len(faults) })
	seen["log"] = h.log.text()
	for where, text := range seen {
		for _, key := range []string{upstreamKey, callerKey, upstreamKey[:len(upstreamKey)-8], base64.StdEncoding.EncodeToString([]byte(upstreamKey))[:16], adminToken} {
			if strings.Contains(text, key) {
				t.Errorf("%s: a key stands there", where)
			}
		}
		if where != "answers" && strings.Contains(text, prompt) {
			t.Errorf("%s: the prompt, or an answer that quotes it, stands there", where)
		}
	}
	if !strings.Contains(seen["answers"], prompt) {
		t.Error("no answer quotes the prompt: the search would find nothing either")
	}
	data, err := os.ReadFile(filepath.Clean(h.file))
	if err != nil || !strings.Contains(string(data), upstreamKey) {
		t.Errorf("the key was not in force: %v", err)
	}
}
