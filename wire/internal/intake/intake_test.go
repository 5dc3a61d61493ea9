package intake

import (
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"backstop"
)

func TestABodyThatCanBeReadInTwoWaysIsRefused(t *testing.T) {
	known := map[string]bool{"model": true, "max_tokens": true}
	for _, c := range []struct{ name, body, param, says string }{
		{"empty", " \n", "", "empty"},
		{"no object", `[1]`, "", "not a JSON object"},
		{"no UTF-8", "{\"a\":\"\xff\"}", "", "not valid UTF-8"},
		{"no JSON", `{"a":}`, "", "not valid JSON"},
		{"a known name twice", `{"model":"a","model":"b"}`, "model", "given twice"},
		{"a known name in another case", `{"Max_Tokens":1}`, "max_tokens", "another case"},
		{"too many", `{` + strings.Repeat(`"a":1,`, MaxMembers) + `"b":1}`, "", "more than 1000"},
		{"an unknown name twice is none of ours", `{"x":1,"x":2,"model":null}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, fail := Scan([]byte(c.body), known)
			if c.says == "" {
				if fail != nil || h.Given("model") || !h["model"].Exists() {
					t.Errorf("%v, %v", fail, h)
				}
				return
			}
			if fail == nil || fail.Param != c.param || !strings.Contains(fail.Message, c.says) || fail.Status != 400 || fail.Code != backstop.CodeInvalidRequest {
				t.Errorf("%+v", fail)
			}
		})
	}
}

func TestTheFirstComplaintCounts(t *testing.T) {
	var c Complaint
	c.Refuse("a", "a is %d", 1)
	c.Refuse("b", "b is %d", 2)
	if c.Fail.Param != "a" || c.Fail.Message != "a is 1" {
		t.Errorf("%+v", c.Fail)
	}
}

func TestSizeCountsWhatAModelReads(t *testing.T) {
	kind := func(name string) Kind {
		switch name {
		case "image":
			return Part
		case "id":
			return Aside
		}
		return Text
	}
	for body, want := range map[string]int{
		`"abcdefgh"`:                        2,
		`"世界"`:                              2,
		`"éé"`:                              1,
		`{"text":"abcd","id":"zzzzzzzzzz"}`: 1,
		`[{"image":"base64"},{"text":""}]`:  partSize,
		strings.Repeat("[", 10) + `"aaaa"` + strings.Repeat("]", 10): 2,
		`12345`: 0,
	} {
		if got := Size(kind, gjson.Result{}, gjson.Parse(body)); got != want {
			t.Errorf("%s is %d, want %d", body, got, want)
		}
	}
	if got := Size(kind, gjson.Parse(`[1,2,3]`)); got != 1 {
		t.Errorf("tools are %d", got)
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"model":"m"}`))
	f.Add([]byte(`{"Model":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		h, fail := Scan(body, map[string]bool{"model": true})
		if v := h["model"]; fail == nil && v.Exists() && string(body[v.Index:v.Index+len(v.Raw)]) != v.Raw {
			t.Fatalf("%q does not stand at its place in %q", v.Raw, body)
		}
	})
}

func TestBeyondNamesWhatSaysSomethingAndIsNotKnown(t *testing.T) {
	v := gjson.Parse(`{"name":"n","more":1,"nothing":null,"hollow":[],"blank":"","last":[0],"none":{},"name":"again"}`)
	if got := Beyond(v, "name"); !slices.Equal(got, []string{"more", "last", "none"}) {
		t.Errorf("got %q", got)
	}
	if got := Beyond(gjson.Parse(`"text"`)); got != nil {
		t.Errorf("a text has %q", got)
	}
}
