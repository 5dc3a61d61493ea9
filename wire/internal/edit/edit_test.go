package edit

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestAnObjectChangesByNameAndKeepsItsOtherBytes(t *testing.T) {
	for _, c := range []struct {
		name, in string
		change   func(o *Object)
		want     string
	}{
		{"nothing to change", `{ "a" : 1 }`, func(*Object) {}, `{ "a" : 1 }`},
		{"a value is set", `{ "a" : 1, "b":2}`, func(o *Object) { o.Set("a", "3") }, `{ "a" : 3, "b":2}`},
		{"a value is added", `{"a":1 }`, func(o *Object) { o.Set("b", "2") }, `{"a":1 ,"b":2}`},
		{"a value is added to none", `{}`, func(o *Object) { o.Set("b", "2") }, `{"b":2}`},
		{"the first of two is set", `{"a":1,"a":2}`, func(o *Object) { o.Set("a", "3") }, `{"a":3,"a":2}`},
		{"every one of a name goes", `{"a":1,"b":2,"a":3}`, func(o *Object) { o.Drop("a") }, `{"b":2}`},
		{"all go", `{"a":1,"b":2}`, func(o *Object) { o.Drop("a"); o.Drop("b") }, `{}`},
		{"what was added goes again", `{"a":1}`, func(o *Object) { o.Set("b", "2"); o.Drop("b") }, `{"a":1}`},
		{"one is renamed", `{"a":1}`, func(o *Object) { o.Rename("a", "b") }, `{"b":1}`},
		{"a name that is there stays", `{"a":1,"b":2}`, func(o *Object) { o.Rename("a", "b") }, `{"b":2}`},
		{"a value takes back what was changed inside it", `{"a":{"b":1}}`, func(o *Object) {
			o.Replace(o.Find("a").Val.Get("b"), "2")
			o.Set("a", "[]")
		}, `{"a":[]}`},
		{"a place and an insertion behind it", `{"a":[1]}`, func(o *Object) { end := o.Find("a").Val.Index + 2; o.Splice(end, end, ",2") }, `{"a":[1,2]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Open([]byte(c.in))
			c.change(o)
			if got := string(o.Bytes()); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestAnInnerObjectChangesInItsDocumentInAnySpelling(t *testing.T) {
	e := New([]byte(`{"x":{"A_b":1,"c":2}}`))
	spell := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	o := e.Object(gjson.Parse(`{"x":{"A_b":1,"c":2}}`).Get("x"), spell)
	o.Set("AB", "3")
	if !o.Drop("C") || o.Drop("none") {
		t.Error("Drop does not say what was there")
	}
	o.Settle()
	if got := string(e.Apply()); got != `{"x":{"A_b":3}}` {
		t.Error(got)
	}
}

func TestElementsAreCutWithOneComma(t *testing.T) {
	for _, c := range []struct {
		gone []bool
		want string
	}{
		{[]bool{true, false, false}, `[2, 3]`}, {[]bool{false, true, false}, `[1, 3]`}, {[]bool{false, false, true}, `[1, 2]`},
		{[]bool{false, true, true}, `[1]`}, {[]bool{true, true, false}, `[3]`}, {[]bool{false, false, false}, `[1, 2, 3]`},
	} {
		b := `[1, 2, 3]`
		e := New([]byte(b))
		e.CutElements(gjson.Parse(b).Array(), c.gone)
		if got := string(e.Apply()); got != c.want {
			t.Errorf("%v: %s, want %s", c.gone, got, c.want)
		}
	}
}

func TestFieldsKeepTheLastValueThatIsNotNull(t *testing.T) {
	var f Fields
	f.Merge(gjson.Parse(`{"b":1,"a":null}`))
	f.Merge(gjson.Parse(`{"b":null,"a":2,"c":[]}`))
	if got := string(f.AppendTo(nil)); got != `{"b":1,"a":2,"c":[]}` {
		t.Error(got)
	}
	for i := range MaxFields + 5 {
		f.Put(strings.Repeat("x", i), "1")
	}
	if len(f.List) != MaxFields {
		t.Errorf("%d fields", len(f.List))
	}
}

func TestOneLineTakesOutBreaksOnly(t *testing.T) {
	for in, want := range map[string]string{`{"a": 1}`: `{"a": 1}`, "{\"a\":\r\n 1}": `{"a":1}`, "no\njson": "no\njson"} {
		if got := string(OneLine([]byte(in))); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzSetMember(f *testing.F) {
	f.Add(`{"a":1}`, "a", "text")
	f.Add(`{ "a" : {"b":[]}, "a":2 }`, "b\"", "\u2028")
	f.Fuzz(func(t *testing.T, doc, name, text string) {
		var before map[string]any
		if json.Unmarshal([]byte(doc), &before) != nil || before == nil {
			return
		}
		b := SetMember([]byte(doc), name, Quoted(text))
		if !json.Valid(b) {
			t.Fatalf("%q became %q", doc, b)
		}
		if o := Open(b); o.Find(name) == nil && !strings.ContainsRune(name, '\ufffd') && json.Valid([]byte(Quoted(name))) && strings.ToValidUTF8(name, "") == name {
			t.Fatalf("%q has no %q", b, name)
		}
	})
}
