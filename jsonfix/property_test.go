package jsonfix

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
)

// awkward are texts that a careless repair would change.
var awkward = []string{
	"", "a", "hello,", "b:", "{c}", "[d", "e]", "你好，请问：“发票”；", "```json\n{}\n```", "<think>x</think>", `C:\new\tmp`, `say "hi", "you": 1`,
	"// no comment", "it's", "http://x.io/#a", "a\tb\nc", "{\"a\":1}", "\u0000", "NaN", "...", "｛：，｝", "'x'", "1,234", "#", "`", "\u200b", "😀", "\\d+", "&quot;",
}

type draw struct {
	*rand.Rand
	b bytes.Buffer
}

func (d *draw) blank() {
	if d.IntN(6) == 0 {
		d.b.WriteString([]string{" ", "\n  ", "\t", "\r\n"}[d.IntN(4)])
	}
}

func (d *draw) text() {
	var s []byte
	for range 1 + d.IntN(2) {
		s = append(s, awkward[d.IntN(len(awkward))]...)
	}
	q, _ := json.Marshal(string(s))
	if d.IntN(4) == 0 {
		q = bytes.ReplaceAll(q, []byte("/"), []byte(`\/`))
	}
	d.b.Write(q)
}

func (d *draw) value(depth int) {
	d.blank()
	switch k := d.IntN(9); {
	case depth > 0 && k < 3:
		d.b.WriteByte('{')
		for i := range d.IntN(4) {
			if i > 0 {
				d.b.WriteByte(',')
			}
			d.blank()
			d.text()
			d.blank()
			d.b.WriteByte(':')
			d.value(depth - 1)
		}
		d.blank()
		d.b.WriteByte('}')
	case depth > 0 && k < 5:
		d.b.WriteByte('[')
		for i := range d.IntN(4) {
			if i > 0 {
				d.b.WriteByte(',')
			}
			d.value(depth - 1)
		}
		d.blank()
		d.b.WriteByte(']')
	case k < 7:
		d.text()
	default:
		d.b.WriteString([]string{"0", "-0.0", "12345678901234567890", "1e400", "0.1000000000000000055", "-1.50E+2", "true", "false", "null"}[d.IntN(9)])
	}
	d.blank()
}

func (d *draw) document() []byte {
	d.b.Reset()
	d.value(4)
	return d.b.Bytes()
}

// TestRandomValidDocumentsAreUnchanged runs a million times with
// BACKSTOP_PROOF=1 in the environment.
func TestRandomValidDocumentsAreUnchanged(t *testing.T) {
	n := 5000
	if os.Getenv("BACKSTOP_PROOF") != "" {
		n = 1_000_000
	}
	d := &draw{Rand: rand.New(rand.NewPCG(1, 2))}
	for range n {
		src := d.document()
		r, err := Repair(src, Options{})
		if err != nil || r.Status != StatusValid || &r.JSON[0] != &src[0] || len(r.JSON) != len(src) || len(r.Repairs) > 0 || r.Truncated {
			t.Fatalf("%q became %q, %v", src, r.JSON, err)
		}
	}
}

// prefix reports whether got is what want begins with: equal but for the last
// string, which may be shorter, and members that are missing at the end.
func prefix(got, want any, last bool) bool {
	switch g := got.(type) {
	case map[string]any:
		w, ok := want.(map[string]any)
		if !ok || len(g) > len(w) {
			return false
		}
		for k, v := range g {
			x, ok := w[k]
			if !ok || !prefix(v, x, last) {
				return false
			}
		}
		return true
	case []any:
		w, ok := want.([]any)
		if !ok || len(g) > len(w) {
			return false
		}
		for i := range g {
			if !prefix(g[i], w[i], last && i == len(g)-1) {
				return false
			}
		}
		return true
	case string:
		w, ok := want.(string)
		return ok && (g == w || last && strings.HasPrefix(w, g))
	}
	return same(got, want)
}

func duplicateKeys(d *json.Decoder) bool {
	tok, _ := d.Token()
	if tok != json.Delim('{') && tok != json.Delim('[') {
		return false
	}
	keys := map[string]bool{}
	for d.More() {
		if tok == json.Delim('{') {
			k, _ := d.Token()
			if keys[k.(string)] {
				return true
			}
			keys[k.(string)] = true
		}
		if duplicateKeys(d) {
			return true
		}
	}
	_, _ = d.Token()
	return false
}

func TestAValidDocumentCutAnywhereGivesAMarkedPrefix(t *testing.T) {
	var docs []string
	for _, name := range []string{"json-repair.jsonl", "json-schema-repair.jsonl"} {
		for _, it := range corpus(t, name) {
			if json.Valid([]byte(it.Input)) {
				docs = append(docs, it.Input)
			}
			if len(it.Want) > 0 {
				docs = append(docs, string(it.Want))
			}
		}
	}
	d := &draw{Rand: rand.New(rand.NewPCG(3, 4))}
	for range 100 {
		docs = append(docs, string(d.document()))
	}
	for _, doc := range docs {
		if duplicateKeys(json.NewDecoder(strings.NewReader(doc))) {
			continue // which value a prefix has is no matter of repair
		}
		want, err := decode([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(doc) {
			src := []byte(doc[:i])
			if json.Valid(src) {
				continue
			}
			r, err := Repair(src, Options{})
			if err != nil {
				if r.Reason != TruncatedEmpty && !(r.Reason == NotJSON && !strings.ContainsAny(doc[:i], "{[\"")) {
					t.Errorf("%q: %s", src, r.Reason)
				}
				continue
			}
			got, _ := decode(r.JSON)
			if !r.Truncated || !prefix(got, want, true) {
				t.Errorf("%q cut to %q\n gave %s, truncated %v", doc, src, r.JSON, r.Truncated)
			}
		}
	}
}

// damage changes a document in a few places.
func damage(d *draw, src []byte) []byte {
	bits := []string{`"`, "'", ",", ":", "{", "}", "[", "]", "\\", "\n", "“", "”", "，", "//", "/*", "#", "```", "...", " ", "x", "1", "&quot;", "(", ")", "+", "<think>", "</think>", "\xff", "\ufeff", "```json\n"}
	for range 1 + d.IntN(4) {
		i := d.IntN(len(src) + 1)
		j := min(len(src), i+d.IntN(3))
		src = append(append(append([]byte{}, src[:i]...), bits[d.IntN(len(bits))]...), src[j:]...)
	}
	return src
}

func TestEveryResultIsJSONAndStaysAsItIs(t *testing.T) {
	n := 20000
	if os.Getenv("BACKSTOP_PROOF") != "" {
		n = 2_000_000
	}
	d := &draw{Rand: rand.New(rand.NewPCG(5, 6))}
	for range n {
		checkResult(t, damage(d, d.document()))
	}
}

func checkResult(t *testing.T, src []byte) {
	t.Helper()
	f := bytes.Clone(src)
	r, err := Repair(src, Options{})
	if !bytes.Equal(f, src) {
		t.Fatalf("%q: the input was changed", f)
	}
	if lean, slow := plodded(src, true), plodded(src, false); !reflect.DeepEqual(lean, slow) {
		t.Errorf("%q:\n lean %s %+v\n step by step %s %+v", src, lean.JSON, lean.Repairs, slow.JSON, slow.Repairs)
	}
	if err != nil {
		if r.JSON != nil || r.Status != StatusRefused || r.Reason == "" || r.Reason == brokenRepair {
			t.Errorf("%q: %+v", src, r)
		}
		return
	}
	if !json.Valid(r.JSON) {
		t.Errorf("%q: invalid output %q", src, r.JSON)
	}
	if r.Status == StatusRepaired && len(r.Repairs) == 0 {
		t.Errorf("%q: repaired without a note: %q", src, r.JSON)
	}
	again(t, r.JSON)
}

// plodded is the result without the strict scanner, with lean or without.
func plodded(src []byte, lean bool) Result {
	f := newFinder(src)
	f.m.slow = slow{sprint: true, lean: !lean}
	f.walk()
	r, _ := f.decide(Options{})
	return r
}

func FuzzRepair(f *testing.F) {
	for _, name := range []string{"json-repair.jsonl", "json-schema-repair.jsonl"} {
		for _, it := range corpus(f, name) {
			f.Add([]byte(it.Input))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) { checkResult(t, src) })
}
