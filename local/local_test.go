package local

import (
	"testing"
	"time"

	"backstop"
	"backstop/wire"
)

func TestWhichCallsATemplateMayAnswer(t *testing.T) {
	text := &backstop.Local{Template: &backstop.Template{Text: "busy"}}
	both := &backstop.Local{Template: &backstop.Template{Text: "busy", JSON: []byte(`{"fallback":true}`)}}
	chat := wire.Request{Op: wire.Chat}
	object := wire.Request{Op: wire.Chat, Promise: wire.Promise{Kind: wire.PromiseObject}}
	for _, c := range []struct {
		name string
		l    *backstop.Local
		r    wire.Request
		want bool
	}{
		{"text answers a chat", text, chat, true},
		{"text answers a completion", text, wire.Request{Op: wire.Completion}, true},
		{"text answers a call with tools", text, wire.Request{Op: wire.Chat, Tools: true}, true},
		{"promised JSON needs the template's JSON", text, object, false},
		{"promised JSON gets the template's JSON", both, object, true},
		{"JSON alone is no text", &backstop.Local{Template: &backstop.Template{JSON: []byte(`{}`)}}, chat, false},
		{"embeddings are never made up", both, wire.Request{Op: wire.Embedding}, false},
		{"a cache tier has no template", &backstop.Local{Cache: &backstop.CacheSettings{}}, chat, false},
		{"no local tier at all", nil, chat, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Answers(c.l, &c.r); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestFreshnessOfAnEntry(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	body := []byte("{}")
	for _, c := range []struct {
		name string
		e    Entry
		age  time.Duration
		want bool
	}{
		{"younger than its age", Entry{Body: body, Stored: now.Add(-time.Hour)}, 2 * time.Hour, true},
		{"exactly its age is too old", Entry{Body: body, Stored: now.Add(-time.Hour)}, time.Hour, false},
		{"a clock that was set back a little", Entry{Body: body, Stored: now.Add(time.Second)}, time.Hour, true},
		{"from the future", Entry{Body: body, Stored: now.Add(time.Hour)}, time.Hour, false},
		{"age zero is never", Entry{Body: body, Stored: now}, 0, false},
		{"an empty entry", Entry{Stored: now}, time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Fresh(c.e, now, c.age); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
	if got := Stale(Entry{Stored: now.Add(-90 * time.Second)}, now); got != 90 {
		t.Errorf("stale %d, want 90", got)
	}
	if got := Stale(Entry{Stored: now.Add(time.Second)}, now); got != 1 {
		t.Errorf("stale %d, want 1", got)
	}
	if (Entry{Body: make([]byte, 1000)}).Size() <= 1000 {
		t.Error("an entry costs more than its body")
	}
}

func TestOnlyWholeGoodAnswersAreKept(t *testing.T) {
	ok, refused := &backstop.Outcome{Class: backstop.OK}, &backstop.Outcome{Class: backstop.Refused}
	if !Keeps(&wire.Request{Op: wire.Chat}, ok) {
		t.Error("a good chat answer is kept")
	}
	if Keeps(&wire.Request{Op: wire.Chat}, refused) {
		t.Error("a refusal is not kept")
	}
	if Keeps(&wire.Request{Op: wire.Chat, Stored: true}, ok) {
		t.Error("a stored call is not kept")
	}
}
