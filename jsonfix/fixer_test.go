package jsonfix

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
)

// stream writes src in pieces and looks after each.
func stream(t *testing.T, src []byte, size func() int) Result {
	t.Helper()
	f := NewFixer(Options{})
	var last []byte
	for i := 0; i < len(src); {
		n := min(max(1, size()), len(src)-i)
		if _, err := f.Write(src[i : i+n]); err != nil {
			t.Fatal(err)
		}
		i += n
		body, closers := f.Snapshot()
		if doc := append(bytes.Clone(body), closers...); len(doc) > 0 && !json.Valid(doc) {
			t.Errorf("%q: the snapshot %q + %q is not JSON", src[:i], body, closers)
		}
		if !f.Changed() && !bytes.HasPrefix(body, last) {
			t.Errorf("%q: the snapshot %q does not begin with %q, and says nothing", src[:i], body, last)
		}
		last = bytes.Clone(body)
	}
	r := f.Close()
	doc := bytes.TrimLeft(r.JSON, " \t\r\n")
	if !f.Changed() && !bytes.HasPrefix(doc, last) {
		t.Errorf("%q: the result %q does not begin with %q, and says nothing", src, r.JSON, last)
	}
	if rest := f.Rest(); rest != nil && string(last)+string(rest) != string(doc) || rest == nil && r.JSON != nil && !f.Changed() {
		t.Errorf("%q: the result %q is not %q and then %q", src, r.JSON, last, rest)
	}
	return r
}

func checkStream(t *testing.T, src []byte, size func() int) {
	t.Helper()
	want, _ := Repair(src, Options{})
	if got := stream(t, src, size); !reflect.DeepEqual(got, want) && !(len(src) == 0) {
		t.Errorf("%q: in pieces %+v, at once %+v", src, got, want)
	}
}

func TestAnyPiecesGiveTheSame(t *testing.T) {
	d := &draw{Rand: rand.New(rand.NewPCG(9, 9))}
	for _, name := range []string{"json-repair.jsonl", "json-schema-repair.jsonl"} {
		for _, it := range corpus(t, name) {
			checkStream(t, []byte(it.Input), func() int { return 1 })
			checkStream(t, []byte(it.Input), func() int { return 1 + d.IntN(7) })
		}
	}
	for range 300 {
		checkStream(t, bytes.Clone(d.document()), func() int { return 1 + d.IntN(9) })
		checkStream(t, damage(d, d.document()), func() int { return 1 + d.IntN(9) })
	}
}

func TestAStreamThatNeedsNoRepairOnlyGrows(t *testing.T) {
	src := bareDocument(4 << 10)
	f := NewFixer(Options{})
	var last []byte
	for i := 0; i < len(src); i += 3 {
		_, _ = f.Write(src[i:min(len(src), i+3)])
		body, _ := f.Snapshot()
		if len(src[:i])-len(body) > 64 || !bytes.HasPrefix(body, last) || f.Changed() {
			t.Fatalf("at %d: %q", i, body)
		}
		last = bytes.Clone(body)
	}
	if r := f.Close(); r.Status != StatusValid || !f.Complete() || f.Changed() {
		t.Errorf("%+v", r.Status)
	}
}

func TestBlanksInFrontOfAValidDocumentChangeNothing(t *testing.T) {
	f := NewFixer(Options{})
	for _, piece := range []string{"\n ", `{"a":`, `1}`, "\n"} {
		_, _ = f.Write([]byte(piece))
		f.Snapshot()
	}
	if r := f.Close(); r.Status != StatusValid || f.Changed() || string(f.Rest()) != "\n" {
		t.Errorf("%s, changed %v, rest %q", r.Status, f.Changed(), f.Rest())
	}
}

func TestSnapshotsHoldBackWhatIsUndecided(t *testing.T) {
	for _, tt := range []struct{ name, in, body, closers string }{
		{"nothing yet", `Sure, here it is: `, ``, ``},
		{"an open think block", `<think>{"a":1}`, ``, ``},
		{"a fence", "```json\n{\"a\":[1,", `{"a":[1`, `]}`},
		{"a number", `{"a":1,"b":12`, `{"a":1`, `}`},
		{"a literal", `[true,fals`, `[true`, `]`},
		{"a key", `{"a":1,"bc":`, `{"a":1`, `}`},
		{"a string is shown as it comes", `{"a":"hel`, `{"a":"hel`, `"}`},
		{"but not half an escape", `{"a":"hel\u00`, `{"a":"hel`, `"}`},
		{"nor half a pair", `{"a":"x\ud83d`, `{"a":"x`, `"}`},
		{"nor a quote", `{"a":"hel"`, `{"a":"hel`, `"}`},
		{"an empty root", `{`, `{`, `}`},
		{"single quotes", `{'a': 'it`, `{"a": "it`, `"}`},
		{"the whole", `{"a":1}`, `{"a":1}`, ``},
	} {
		f := NewFixer(Options{})
		_, _ = f.Write([]byte(tt.in))
		body, closers := f.Snapshot()
		if string(body) != tt.body || string(closers) != tt.closers {
			t.Errorf("%s: %q shows %q + %q, want %q + %q", tt.name, tt.in, body, closers, tt.body, tt.closers)
		}
	}
}

func FuzzFixer(f *testing.F) {
	for _, it := range corpus(f, "json-repair.jsonl") {
		f.Add([]byte(it.Input), uint64(1))
	}
	f.Fuzz(func(t *testing.T, src []byte, seed uint64) {
		if len(src) > 4096 {
			return
		}
		d := rand.New(rand.NewPCG(seed, 1))
		checkStream(t, src, func() int { return 1 + d.IntN(8) })
	})
}

// BenchmarkStream is 24 KiB in pieces of 8 bytes with a snapshot after each.
func BenchmarkStream(b *testing.B) {
	valid := bareDocument(24 << 10)
	for name, src := range map[string][]byte{
		"valid":         valid,
		"single quotes": bytes.ReplaceAll(bytes.ReplaceAll(valid, []byte(`\"`), nil), []byte(`"`), []byte(`'`)),
		"one string":    []byte(`{"a":"` + string(bytes.Repeat([]byte("some text, "), 2200)) + `"}`),
		"inner quotes":  []byte(`{"a":"` + string(bytes.Repeat([]byte(`he said "x" and, `), 1400)) + `"}`),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f := NewFixer(Options{})
				for i := 0; i < len(src); i += 8 {
					_, _ = f.Write(src[i:min(len(src), i+8)])
					f.Snapshot()
				}
				if f.Close().Status == StatusRefused {
					b.Fatal("refused")
				}
			}
		})
	}
}
