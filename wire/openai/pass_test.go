package openai

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzWhatWasCheckedIsPassedOverToTheSameEnd(f *testing.F) {
	for _, doc := range []string{
		`{"a":"b","c":[1,-2.5e3,true,false,null,"]}"],"d":{}}`, `{"a\"":"\\","b":"\\\"","c":"\\\\"}`, `{ "a" : [ ] , "b" : { "c" : "{[" } }`, `{"a":"` + strings.Repeat(`\\`, 99) + `"}`,
	} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, ok := root(b)
		if !ok {
			_, _ = passValue(b, 0), passNested(b, 0) // whatever comes, they end
			return
		}
		if end := passValue(b, whole.from); end != whole.to {
			t.Fatalf("end %d, want %d", end, whole.to)
		}
		checked, passed := memberWalk{b: b, i: whole.from + 1}, inObject(b, whole)
		for checked.next() {
			if !passed.next() || passed.key != checked.key || passed.val != checked.val {
				t.Fatalf("member %q, want %q", b[passed.key.from:passed.val.to], b[checked.key.from:checked.val.to])
			}
		}
		if passed.next() || passed.end() != checked.end() {
			t.Fatal("one more member")
		}
	})
}

func TestAStringOfEscapesIsReadInLinearTime(t *testing.T) {
	for _, unit := range []string{`\n`, `\"`, `\\`, `\u0041`} {
		b := []byte(`"` + strings.Repeat(unit, 1<<20) + `"`)
		if skipString(b, 0) != len(b) || passString(b, 0) != len(b) {
			t.Errorf("%s: not to the end", unit)
		}
		if open := bytes.TrimSuffix(b, []byte(`"`)); skipString(open, 0) >= 0 || unit != `\"` && passString(open, 0) >= 0 {
			t.Errorf("%s: an end without a quote", unit)
		}
	}
}
