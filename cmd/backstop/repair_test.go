package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repair runs the program in-process.
func repair(t *testing.T, in string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(append([]string{"repair"}, args...), &streams{ctx: t.Context(), in: strings.NewReader(in), out: &o, err: &e, env: func(string) (string, bool) { return "", false }})
	return code, o.String(), e.String()
}

func TestRepairSaysByItsExitWhatBecameOfTheAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		args     []string
		code     int
		out, err string
	}{
		{"valid JSON comes back byte for byte", " {\"a\": 1}\n", nil, 0, " {\"a\": 1}\n", ""},
		{"a fence goes", "```json\n{\"a\":1}\n```\n", nil, 0, `{"a":1}`, ""},
		{"a cut is marked", `{"a":"b`, nil, 4, `{"a":"b"}`, `cut at "/a"`},
		{"prose is not repairable", "no", nil, 5, "", "not repairable: not-json"},
		{"strict refuses what is lossy", `{"a":NaN}`, []string{"--strict"}, 5, "", "lossy"},
		{"a report says what was done", `{"a":1,}`, []string{"--report"}, 0, `{"a":1}`, `{"status":"repaired","repairs":[{"code":"trailing-comma","offset":7}],"truncated":false}` + "\n"},
		{"a report of a cut", `{"a":["b`, []string{"--report"}, 4, `{"a":["b"]}`, `{"status":"repaired","repairs":[{"code":"cut","offset":8}],"truncated":true,"truncated_at":"/a/0"}` + "\n"},
		{"a report of a refusal", `{1}`, []string{"--report"}, 5, "", `{"status":"refused","repairs":[],"truncated":false,"reason":"ambiguous-container"}` + "\n"},
		{"a schema that is not there", `{}`, []string{"--schema", "missing.json"}, 2, "", "cannot be read"},
		{"an unknown flag", `{}`, []string{"--wrong"}, 2, "", "unknown flag"},
	} {
		code, out, errs := repair(t, tt.in, tt.args...)
		if code != tt.code || out != tt.out || !strings.Contains(errs, tt.err) {
			t.Errorf("%s: exit %d, %q, %q", tt.name, code, out, errs)
		}
	}
}

func TestRepairFollowsASchema(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(file, []byte(`{"properties":{"n":{"type":"integer"}},"required":["n"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := repair(t, `{n: '7'}`, "--schema", file); code != 0 || out != `{"n": 7}` {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if code, _, errs := repair(t, `{"n":"x"}`, "--schema", file, "--report"); code != 5 || !strings.Contains(errs, `"violations":[{"path":"/n","reason":"type"}]`) {
		t.Errorf("exit %d, %q", code, errs)
	}
}

// A schema that somebody names and that cannot be used is a mistake in the call:
// nothing is given out that would pass for checked.
func TestRepairRefusesASchemaThatCannotBeUsed(t *testing.T) {
	for source, where := range map[string]string{
		`{"type":"strange"}`: "at '/type'",
		`{"properties":{"a":{"items":{"type":"strange"}}}}`: "at '/properties/a/items/type'",
		`{"properties":{"a":{"pattern":"("}}}`:              "at '/properties/a/pattern'",
		"{\n  \"type\": \"object\",\n  oops\n}":             "3:3",
		`{"type":`:                                          "1:8",
		`{"$ref":"https://example.com/schema.json"}`:        "example.com/schema.json",
		`{"$ref":"#/$defs/missing"}`:                        "missing",
		`7`:                                                 "neither an object",
		"null":                                              "empty",
		"":                                                  "empty",
		" \n\t":                                             "empty",
	} {
		file := filepath.Join(t.TempDir(), "s.json")
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{nil, {"--report"}, {"--strict"}, {"--jsonl"}} {
			code, out, errs := repair(t, `{"id":1,"input":"{}"}`, append(args, "--schema", file)...)
			if code != exitUsage || out != "" || !strings.Contains(errs, "--schema "+file+" cannot be used") || !strings.Contains(errs, where) || strings.Count(errs, "\n") != 1 {
				t.Errorf("%q %v: exit %d, %q, %q, want %q", source, args, code, out, errs, where)
			}
		}
	}
}

func TestRepairTakesABatch(t *testing.T) {
	in := `{"id":"a","input":"{'x':1}"}
{"id":2,"input":"nothing"}

{"id":"c","input":"{\"n\":\"3\"}","schema":{"properties":{"n":{"type":"integer"}}}}
{"id":"d","input":"[1,2"}
{"id":"e","input":"{}","schema":{"type":"strange"}}
`
	code, out, errs := repair(t, in, "--jsonl")
	want := `{"id":"a","status":"repaired","repairs":[{"code":"single-quote","offset":1}],"truncated":false,"output":"{\"x\":1}"}
{"id":2,"status":"refused","repairs":[],"truncated":false,"reason":"not-json","output":null}
{"id":"c","status":"repaired","repairs":[{"code":"coerced","offset":5}],"truncated":false,"output":"{\"n\":3}"}
{"id":"d","status":"repaired","repairs":[{"code":"cut-number","offset":4}],"truncated":true,"truncated_at":"/1","output":"[1]"}
`
	if code != 0 || !strings.HasPrefix(out, want) || !strings.Contains(out[len(want):], `"unvalidated":"the schema does not compile`) {
		t.Errorf("exit %d, %s, %s", code, out, errs)
	}
	if code, out, _ := repair(t, "what\n", "--jsonl"); code != 2 || !strings.HasPrefix(out, `{"id":null,"status":"refused"`) {
		t.Errorf("a bad line: exit %d, %s", code, out)
	}
}
