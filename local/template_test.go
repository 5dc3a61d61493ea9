package local

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTextPlaceholders(t *testing.T) {
	v := Values{RequestID: "r1", Route: "chat", Model: "m", Reason: "hang"}
	for _, c := range []struct{ name, in, want string }{
		{"all four are filled in", "{{request_id}} {{route}} {{model}} {{reason}}", "r1 chat m hang"},
		{"unknown ones stay", "{{user}} {{ model }} {{}} {{model", "{{user}} {{ model }} {{}} {{model"},
		{"text without braces is the same", "busy", "busy"},
		{"repeated ones are all filled in", "{{model}}{{model}}", "mm"},
		{"no functions, no fields", "{{.Model}} {{printf \"x\"}}", "{{.Model}} {{printf \"x\"}}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Render(c.in, v); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := Render("{{model}}", Values{Model: "{{reason}}", Reason: "secret"}); got != "{{reason}}" {
		t.Errorf("a value was looked into: %q", got)
	}
}

func TestJSONPlaceholders(t *testing.T) {
	nasty := Values{RequestID: "a\"b\\c\n\x01", Route: "</script>\u2028", Model: "模型🌍", Reason: "bad\xffbytes{{model}}"}
	for _, c := range []struct{ name, in string }{
		{"in a string", `{"id":"{{request_id}}"}`},
		{"nested, in the middle of text", `{"a":[{"b":"x {{route}} y {{model}}"}, 1, null]}`},
		{"behind an escaped backslash", `{"a":"\\{{request_id}}"}`},
		{"behind an escaped quote", `{"a":"\"{{request_id}}\""}`},
		{"in a bare string", `"{{reason}}"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := RenderJSON([]byte(c.in), nasty)
			if !json.Valid(out) || !utf8.Valid(out) {
				t.Fatalf("not valid any more: %s", out)
			}
			if string(out) == c.in {
				t.Errorf("nothing was filled in: %s", out)
			}
		})
	}
	var got struct{ ID string }
	if err := json.Unmarshal(RenderJSON([]byte(`{"ID":"{{request_id}}"}`), nasty), &got); err != nil || got.ID != nasty.RequestID {
		t.Errorf("got %q, %v", got.ID, err)
	}
	if got := string(RenderJSON([]byte(`{"{{model}}" : "{{unknown}}"}`), nasty)); got != `{"{{model}}" : "{{unknown}}"}` {
		t.Errorf("a key or an unknown placeholder changed: %s", got)
	}
}

func FuzzRenderJSON(f *testing.F) {
	f.Add(`{"a":"{{model}}"}`, "x\"")
	f.Add(`["{{reason}}\\{{route}}",{"{{model}}":1}]`, "\\")
	f.Fuzz(func(t *testing.T, doc, value string) {
		v := Values{RequestID: value, Route: value, Model: value, Reason: value}
		out := RenderJSON([]byte(doc), v)
		if json.Valid([]byte(doc)) && !json.Valid(out) {
			t.Fatalf("%s became %s", doc, out)
		}
		if !strings.Contains(value, "{{") && json.Valid([]byte(doc)) && len(RenderJSON(out, Values{})) > len(out) {
			t.Fatalf("rendering twice grows: %s", out)
		}
	})
}
