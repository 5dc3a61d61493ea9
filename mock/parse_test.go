package mock_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"backstop/mock"
)

func TestEveryExampleParses(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range mock.Words() {
		f, err := mock.Parse(w.Example)
		if err != nil || f.String() != w.Example || !strings.HasPrefix(w.Example, w.Word) || w.About == "" || seen[w.Word] {
			t.Errorf("%+v: %v", w, err)
		}
		seen[w.Word] = true
	}
}

func TestTheFaultsOfTheContractParse(t *testing.T) {
	for f := range strings.FieldsSeq(`ok hang slow:20s stall@20 cut@40 keepalive drip:2s status:503 429:retry-after=2 429:quota 529 reset empty html
		error-in-200 malformed@10 nodone fenced prose truncated badjson refusal toolcall flap:60s p:0.25:503
		status:503:retry-after=2 flap:60s:hang p:0.1:flap:10s:stall@5 bigevent:512 bigevent:3KiB halfclose`) {
		if _, err := mock.Parse(f); err != nil {
			t.Error(err)
		}
	}
}

func TestAWrongFaultIsExplained(t *testing.T) {
	for fault, want := range map[string]string{
		"hnag":                   `did you mean "hang"?`,
		"stal@3":                 `did you mean "stall"?`,
		"key-alive":              `did you mean "keepalive"?`,
		"":                       "unknown fault",
		"zebra":                  "GET /mock/faults",
		"hang:1s":                "no argument",
		"hang@3":                 "does not count tokens",
		"slow:soon":              `"soon" is no duration above zero; for example slow:20s`,
		"slow:-1s":               "no duration",
		"slow:1s:2s":             "one duration",
		"stall@x":                "number of tokens",
		"stall@-1":               "number of tokens",
		"stall@999999999":        "number of tokens",
		"status":                 "a status is wanted",
		"status:200":             "no status from 400 to 599",
		"600":                    "unknown fault",
		"429:retry=2":            "unknown option",
		"429:retry-after-date=x": "no duration",
		"param":                  "name of one parameter",
		"html:200:1":             "not one of",
		"refusal:never":          "not one of words filter 400",
		"bigevent:1GiB":          "no size",
		"bigevent:65MiB":         "no size",
		"bigevent:0":             "no size",
		"flap":                   "a duration is wanted",
		"flap:1s:nothing":        "unknown fault",
		"p":                      "a probability and a fault",
		"p:2:503":                "no probability",
		"p:NaN:503":              "no probability",
		"p:0.5:":                 "unknown fault",
		"p:1:p:1:p:1:p:1:p:1:ok": "nested more than 4 deep",
		"ok\n":                   "printable",
		strings.Repeat("x", 300): "at most 256",
	} {
		if _, err := mock.Parse(fault); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q in it", fault, err, want)
		}
	}
}

// FuzzParse: any text parses or is explained, and what parses plays to its
// end once the peer has left.
func FuzzParse(f *testing.F) {
	for _, w := range mock.Words() {
		f.Add(w.Example)
	}
	f.Add("p:0.5:flap:1s:429:retry-after=2")
	f.Add("bigevent:1@3")
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := mock.Parse(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "mock: ") || len(err.Error()) > 2000 {
				t.Errorf("error %q", err)
			}
			return
		}
		if fault.String() != text {
			t.Errorf("%q is written %q", text, fault)
		}
	})
}

// FuzzRequest: no request body brings the server down, and every answer of a
// healthy model ends.
func FuzzRequest(f *testing.F) {
	f.Add("/v1/chat/completions", chatBody("ok", true, `,"n":2,"logprobs":true`))
	f.Add("/v1/chat/completions", chatBody("ok", false, `,"response_format":{"type":"json_schema","json_schema":{"schema":{"$ref":"#"}}}`))
	f.Add("/v1/chat/completions", chatBody("ok", false, `,"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"array","minItems":1e9,"items":{"$ref":"#"}}}}`))
	f.Add("/v1/completions", `{"model":"m","prompt":[1,2],"max_tokens":3}`)
	f.Add("/v1/embeddings", `{"model":"m","input":[[1],[2]],"dimensions":3}`)
	m := mock.New(mock.Options{Tokens: 8, Faults: map[string]string{"*": "ok"}, LogSize: 10})
	f.Fuzz(func(t *testing.T, path, body string) {
		if !strings.HasPrefix(path, "/v1/") || strings.ContainsAny(path, " %?#\x00\r\n\t") {
			return
		}
		r := httptest.NewRequest("POST", "/v1/chat/completions", strings.NewReader(body))
		r.URL.Path = path
		w := httptest.NewRecorder()
		m.ServeHTTP(w, r)
		if w.Code == 200 && w.Body.Len() == 0 {
			t.Error("200 without a byte")
		}
	})
}
