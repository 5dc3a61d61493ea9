package backstophttp

import (
	"strings"
	"testing"
	"time"

	"backstop"
)

// Some upstreams give a finish reason with every event. The clocks take none of
// them for the end: neither that of a stream which goes on, nor that of one
// which stalls or is cut.
func TestAStreamWithAFinishReasonInEveryEventEndsWhenItIsOver(t *testing.T) {
	say := func(text string) string { return voiceP.delta(`{"content":`+quoted(text)+`}`, `"stop"`) }
	var long []string
	for range 8 {
		long = append(long, say("a"), "wait:4s")
	}
	for _, c := range []struct {
		name, text, code string
		script           []string
		took             time.Duration
	}{
		{"it goes on for longer than it may be silent", "aaaaaaaab", "", append(long, say("b"), done), 32 * time.Second},
		{"it stalls", "aab", "stream_stalled", []string{say("a"), say("a"), say("b"), "hang"}, 10 * time.Second},
		{"it is cut", "aab", "stream_incomplete", []string{say("a"), say("a"), say("b"), "fin"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, setup{primary: answers(append([]string{voiceP.role()}, c.script...)...), backup: answers(voiceB.tells("aa", "b", "c")...)}, func(h *house) {
				began := time.Now()
				p, ev := h.call(stream)
				out := p.String()
				text := strings.Count(out, `"content":"a"`) + strings.Count(out, `"content":"b"`)
				if text != len(c.text) || strings.Contains(out, "[DONE]") != (c.code == "") || !strings.Contains(out, c.code) || h.saw("backup") != 0 {
					t.Errorf("%d pieces, asked the backup %d times\n%s", text, h.saw("backup"), out)
				}
				if took := time.Since(began); took < c.took || took > c.took+100*time.Millisecond || (ev.Outcome == backstop.OK) != (c.code == "") {
					t.Errorf("took %s, %s", took, ev.Outcome)
				}
			})
		})
	}
}

// Promised JSON is closed at its finish reason, so nothing can follow.
func TestPromisedJSONThatGoesOnBehindItsFinishReasonIsNotSoldAsWhole(t *testing.T) {
	const promised = `{"model":"m","stream":true,"response_format":{"type":"json_object"},"messages":[{"role":"user","content":"json"}]}`
	say := func(text, finish string) string { return voiceP.delta(`{"content":`+quoted(text)+`}`, finish) }
	for name, c := range map[string]struct {
		script []string
		whole  bool
	}{
		"cut, and going on":   {[]string{say(`{"a":1,"d":4,`, "null"), say(`"b":"2"`, `"stop"`), say(`,"c":3}`, `"stop"`)}, false},
		"whole, and going on": {[]string{say(`{"a":1,"d":4,`, "null"), say(`"b":2}`, `"stop"`), say(`{"b":2}`, `"stop"`)}, false},
		"an empty event":      {[]string{say(`{"a":1,"d":4,`, "null"), say(`"b":2}`, `"stop"`), say("", `"stop"`)}, true},
		"blanks":              {[]string{say(`{"a":1,"d":4,`, "null"), say(`"b":2}`, `"stop"`), say("\n", `"stop"`)}, true},
		"one with all":        {[]string{say(`{"a":1,`, `"stop"`), say(`"b":2}`, `"stop"`)}, true},
	} {
		in(t, setup{primary: answers(append(append([]string{voiceP.role()}, c.script...), done)...)}, func(h *house) {
			p, ev := h.call(promised)
			if whole := ev.Failure == nil && strings.Contains(p.String(), "[DONE]"); whole != c.whole {
				t.Errorf("%s: %+v\n%s", name, ev.Failure, p)
			}
		})
	}
}
