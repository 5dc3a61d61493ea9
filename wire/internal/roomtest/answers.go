package roomtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"testing"
	"time"

	"backstop"
	"backstop/wire"
)

// Answer is one line of the file of upstream answers that all rooms share: what
// came, and what it is.
type Answer struct {
	ID, Vendor, Surface, Body, Dialect string

	Status  int
	Headers map[string]string
	Want    struct {
		Outcome, Kind, Counts, Caller string

		ParkMS    *int64 `json:"park_ms"`
		RetrySame bool   `json:"retry_same"`
		NextTier  bool   `json:"next_tier"`
	}
}

// Answers reads the file from within a room's folder.
func Answers(t testing.TB) (list []Answer) {
	t.Helper()
	b, err := os.ReadFile("../openai/testdata/upstream-answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		var a Answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// Reply is the answer of an upstream of a dialect to a caller of another.
func (a *Answer) Reply(upstream, caller backstop.Dialect, s wire.Surface) *wire.Reply {
	h := http.Header{}
	for k, v := range a.Headers {
		h.Set(k, v)
	}
	return &wire.Reply{
		Vendor: a.Vendor, Dialect: upstream, Caller: caller, Surface: s,
		Status: a.Status, Header: h, Body: []byte(a.Body), Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
	}
}

// Check compares a verdict with the recorded one. An answer that is fine has no
// kind.
func (a *Answer) Check(t testing.TB, o backstop.Outcome) {
	t.Helper()
	w := a.Want
	if w.Outcome == "ok" && o.Kind == "" {
		w.Kind = ""
	}
	if o.Class.String() != w.Outcome || string(o.Kind) != w.Kind || o.RetrySame != w.RetrySame || o.NextTier != w.NextTier ||
		(o.Counts != backstop.CountsNone) != (w.Counts != "none") || o.Passthrough != (w.Caller == "passthrough") {
		t.Errorf("%+v, want %+v", o, w)
	}
}
