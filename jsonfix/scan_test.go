package jsonfix

import (
	"encoding/json"
	"testing"
)

func FuzzValidAgreesWithTheStandardLibrary(f *testing.F) {
	for _, s := range []string{`{"a":[1,-0.5e+3,true,null],"b":{"c":"d\n"}}`, `[`, `"`, `"\u12`, `01`, `1e`, ` 1 `, `{"a":}`, `[1,]`, `{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if got, want := Valid(src), json.Valid(src); got != want {
			t.Errorf("Valid(%q) = %v, want %v", src, got, want)
		}
	})
}

func doc1K() []byte {
	s := `{"id":"chatcmpl-123","items":[`
	for i := 0; len(s) < 980; i++ {
		if i > 0 {
			s += ","
		}
		s += `{"name":"Widget number 5","price":12.75,"tags":["a","bb","ccc"],"ok":true}`
	}
	return []byte(s + "]}")
}

func BenchmarkValid1K(b *testing.B) {
	d := doc1K()
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(int64(len(d)))
		b.ReportAllocs()
		for b.Loop() {
			if !Valid(d) {
				b.Fatal()
			}
		}
	})
	b.Run("std", func(b *testing.B) {
		b.SetBytes(int64(len(d)))
		for b.Loop() {
			if !json.Valid(d) {
				b.Fatal()
			}
		}
	})
}
