package jsonfix

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"reflect"
	"testing"
)

// item is one line of a corpus of damaged documents.
type item struct {
	ID        string
	Kind      string
	Input     string
	Want      json.RawMessage
	WantError bool `json:"want_error"`
	Truncated bool
	Schema    json.RawMessage
	Errors    []Violation
	Note      string
}

func corpus(t testing.TB, name string) (items []item) {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var it item
		if err := json.Unmarshal(lines.Bytes(), &it); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		items = append(items, it)
	}
	return items
}

// same compares values: numbers as exact rationals, strings exactly.
func same(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		if !ok {
			return false
		}
		p, ok1 := new(big.Rat).SetString(string(x))
		q, ok2 := new(big.Rat).SetString(string(y))
		return ok1 && ok2 && p.Cmp(q) == 0
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !same(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k, v := range x {
			w, ok := y[k]
			if !ok || !same(v, w) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func judge(t *testing.T, it item, r Result, err error) bool {
	t.Helper()
	if it.WantError {
		if err == nil {
			t.Errorf("%s: %q\n gave %s, want a refusal (%s)", it.ID, it.Input, r.JSON, it.Note)
		}
		return err != nil
	}
	if err != nil {
		t.Errorf("%s: %q\n refused (%v), want %s (%s)", it.ID, it.Input, r.Reason, it.Want, it.Note)
		return false
	}
	got, err1 := decode(r.JSON)
	want, err2 := decode(it.Want)
	if err1 != nil || err2 != nil || !same(got, want) {
		t.Errorf("%s: %q\n gave %s, want %s (%s)", it.ID, it.Input, r.JSON, it.Want, it.Note)
		return false
	}
	if r.Truncated != it.Truncated {
		t.Errorf("%s: %q\n gave %s, truncated %v (%s)", it.ID, it.Input, r.JSON, r.Truncated, it.Note)
		return false
	}
	return true
}

func TestCorpus(t *testing.T) {
	for _, name := range []string{"json-repair.jsonl", "more.jsonl", "combined.jsonl"} {
		t.Run(name, func(t *testing.T) { runCorpus(t, corpus(t, name)) })
	}
}

func runCorpus(t *testing.T, items []item) {
	good := 0
	for _, it := range items {
		r, err := Repair([]byte(it.Input), Options{})
		if judge(t, it, r, err) {
			good++
		}
		if it.Kind == "already-valid" && (string(r.JSON) != it.Input || r.Status != StatusValid) {
			t.Errorf("%s: valid input was changed", it.ID)
		}
		if err == nil && r.Truncated && r.Status != StatusRepaired {
			t.Errorf("%s: truncated but %s", it.ID, r.Status)
		}
		if err == nil && !bytes.Equal(again(t, r.JSON), r.JSON) {
			t.Errorf("%s: not idempotent", it.ID)
		}
	}
	t.Logf("%d of %d", good, len(items))
}

func again(t *testing.T, doc []byte) []byte {
	t.Helper()
	r, err := Repair(doc, Options{})
	if err != nil || r.Status != StatusValid {
		t.Errorf("%s: %s %v", doc, r.Status, err)
	}
	return r.JSON
}
