package jsonfix

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestRefusalsSayWhy(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     Reason
	}{
		{"prose", "I cannot do that.", NotJSON},
		{"nothing", "", NotJSON},
		{"two answers", `a {"x":1} b {"x":2}`, Multiple},
		{"a thousands comma", `{"a": 1,234, "b": 2}`, AmbiguousNumber},
		{"a set", `{"a", "b"}`, AmbiguousContainer},
		{"members in brackets", `["a": 1]`, AmbiguousContainer},
		{"a call", `{"a": now()}`, NoValue},
		{"cut at once", `{"a`, TruncatedEmpty},
		{"cut while thinking", `<think>so {"a":1}`, TruncatedEmpty},
		{"too deep", strings.Repeat("[", 2000), TooDeep},
		{"valid, but too deep", strings.Repeat("[", 2000) + strings.Repeat("]", 2000), TooDeep},
		{"damaged, and too deep", "x " + strings.Repeat(`{a:`, 2000), TooDeep},
	} {
		r, err := Repair([]byte(tt.in), Options{})
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Reason != tt.want || r.Reason != tt.want || r.JSON != nil || r.Status != StatusRefused {
			t.Errorf("%s: %+v, %v, want %s", tt.name, r, err, tt.want)
		}
	}
	if r, _ := Repair([]byte(`{"a":1}`), Options{MaxBytes: 3}); r.Reason != TooLarge {
		t.Errorf("too large: %+v", r)
	}
}

func TestNestingUpToTheLimitIsUnchanged(t *testing.T) {
	src := []byte(strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth))
	if r, err := Repair(src, Options{}); err != nil || r.Status != StatusValid {
		t.Errorf("%v", err)
	}
	cut := append([]byte{}, src[:len(src)-7]...)
	cut = append(cut[:MaxDepth], append([]byte("1"), cut[MaxDepth:]...)...)
	if r, err := Repair(cut, Options{}); err != nil || !r.Truncated || !Valid(r.JSON) {
		t.Errorf("%v", err)
	}
}

func TestStrictRefusesWhatIsLost(t *testing.T) {
	for _, tt := range []struct {
		in string
		ok bool
	}{
		{`{a: 'x', b: True,}`, true},
		{`{"a":"cut he`, true},
		{`{"a":1,"b":NaN}`, false},
		{`{"a":1,"b":,"c":2}`, false},
		{`{"a":1,"b":12`, false},
		{`[1,2,...]`, false},
		{"{\"a\":\"\xff\",}", false},
	} {
		r, err := Repair([]byte(tt.in), Options{Strict: true})
		if (err == nil) != tt.ok || !tt.ok && r.Reason != Lossy {
			t.Errorf("%q: %+v, %v", tt.in, r, err)
		}
		if _, err := Repair([]byte(tt.in), Options{}); err != nil {
			t.Errorf("%q: %v without strict", tt.in, err)
		}
	}
}

func TestTheCutIsPointedAt(t *testing.T) {
	for _, tt := range []struct{ in, at, doc string }{
		{`{"a":"hel`, "/a", `{"a":"hel"}`},
		{`{"a":[1,{"b/c":"x~`, "/a/1/b~1c", `{"a":[1,{"b/c":"x~"}]}`},
		{`{"a":1,"n":12`, "/n", `{"a":1}`},
		{`{"a":1,'n':`, "/n", `{"a":1}`},
		{`{"a":1,n`, "", `{"a":1}`},
		{`[10,20,3`, "/2", `[10,20]`},
		{`[10,20`, "/1", `[10]`},
		{`[[1],[2]`, "", `[[1],[2]]`},
		{`{"k":{"a":tru`, "/k/a", `{"k":{"a":true}}`},
		{`{'a':{'b':['x','y`, "/a/b/1", `{"a":{"b":["x","y"]}}`},
		{"{\"a\":1}\n{\"b\":\"x", "/1/b", `[{"a":1},{"b":"x"}]`},
		{`"abc`, "", `"abc"`},
		{"{\"a\":\"x\xe4\xb8", "/a", `{"a":"x"}`},
	} {
		r, err := Repair([]byte(tt.in), Options{})
		if err != nil || !r.Truncated || r.TruncatedAt != tt.at || string(r.JSON) != tt.doc {
			t.Errorf("%q: %s at %q (%v), want %s at %q", tt.in, r.JSON, r.TruncatedAt, err, tt.doc, tt.at)
		}
	}
}

func TestInvalidUTF8(t *testing.T) {
	valid := []byte("{\"a\":\"\xff\"}")
	if r, _ := Repair(valid, Options{}); r.Status != StatusValid || string(r.JSON) != string(valid) {
		t.Errorf("a valid document changed: %+v", r)
	}
	r, err := Repair([]byte("{'a':\"x\xffy\"}"), Options{})
	if err != nil || string(r.JSON) != `{"a":"x`+"\ufffd"+`y"}` || !slices.ContainsFunc(r.Repairs, func(n RepairNote) bool { return n.Code == InvalidUTF8 }) {
		t.Errorf("%q %+v", r.JSON, r.Repairs)
	}
}

func TestRepairsAreReportedByCodeAndOffset(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []RepairNote
	}{
		{`{"a":1,}`, []RepairNote{{TrailingComma, 7}}},
		{`{a:1}`, []RepairNote{{UnquotedKey, 1}}},
		{`[1 2]`, []RepairNote{{MissingComma, 3}}},
		{"```json\n[1]\n```", []RepairNote{{Fence, 0}}},
		{`{"a":true,"b":1`, []RepairNote{{CutNumber, 15}}},
		{`{"a":1}}`, []RepairNote{{ExtraCloser, 7}}},
		{`{"a":"b" /* x */}`, []RepairNote{{Comment, 9}}},
	} {
		r, err := Repair([]byte(tt.in), Options{})
		if err != nil || !slices.Equal(r.Repairs, tt.want) {
			t.Errorf("%q: %v, want %v (%v)", tt.in, r.Repairs, tt.want, err)
		}
	}
}

func TestReportsAreBounded(t *testing.T) {
	r, err := Repair([]byte(`[`+strings.Repeat(`'a',`, 5000)+`{x:1}`+strings.Repeat(`,{x:1}`, 5000)+`]`), Options{})
	if err != nil || len(r.Repairs) > 2*maxNotes {
		t.Errorf("%d notes, %v", len(r.Repairs), err)
	}
}
