package config

import (
	"errors"
	"strings"
	"testing"

	"backstop/jsonfix"
)

// wantsA is a schema of objects that have the member a.
type wantsA struct{}

func (wantsA) Shape() *jsonfix.Shape { return nil }

func (wantsA) Validate(doc []byte) []jsonfix.Violation {
	if strings.Contains(string(doc), `"a":`) {
		return nil
	}
	return []jsonfix.Violation{{Path: "/a", Reason: "required"}}
}

func TestTheTemplateIsCheckedAgainstTheRoutesSchema(t *testing.T) {
	compiles := func([]byte) (jsonfix.Schema, error) { return wantsA{}, nil }
	for name, c := range map[string]struct {
		json, template string
		schema         func([]byte) (jsonfix.Schema, error)
		problem, warns string
	}{
		"it follows":               {`{schema: s.json}`, `{text: busy, json: {a: 1}}`, compiles, "", ""},
		"it does not":              {`{schema: s.json}`, `{text: busy, json: {b: 1}}`, compiles, `"/a": required`, ""},
		"a placeholder may mend":   {`{schema: s.json}`, `{text: busy, json: {b: "{{model}}"}}`, compiles, "", "unless a placeholder"},
		"an unusable schema":       {`{schema: s.json}`, `{text: busy, json: {b: 1}}`, func([]byte) (jsonfix.Schema, error) { return nil, errors.New("no $ref") }, "", "cannot be used"},
		"nobody compiles":          {`{schema: s.json}`, `{text: busy, json: {b: 1}}`, nil, "", ""},
		"always, and no JSON":      {`{promise: always}`, `{text: busy}`, compiles, "", "its template has no json"},
		"on request, and no JSON":  {`{promise: auto}`, `{text: busy}`, compiles, "", ""},
		"always, and a JSON there": {`{promise: always}`, `{text: busy, json: {}}`, compiles, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := "agent: {model: m}\nupstreams: {u: {base_url: 'https://u.example/v1'}}\nroutes:\n  - model: '*'\n    json: " + c.json +
				"\n    tiers:\n      - {upstream: u}\n      - local: {template: " + c.template + "}\n"
			o := Options{Schema: c.schema, ReadFile: func(string) ([]byte, error) { return []byte(`{"type":"object"}`), nil }}
			_, warnings, err := Parse("backstop.yaml", []byte(file), o)
			if (err != nil) != (c.problem != "") || err != nil && !strings.Contains(err.Error(), c.problem) {
				t.Errorf("problems %v, want %q", err, c.problem)
			}
			told := false
			for _, w := range warnings {
				told = told || c.warns != "" && strings.Contains(w.Message, c.warns)
				if c.warns == "" || !strings.Contains(w.Message, c.warns) {
					t.Errorf("warning %q", w.Message)
				}
			}
			if c.warns != "" && !told {
				t.Errorf("no warning with %q", c.warns)
			}
		})
	}
}
