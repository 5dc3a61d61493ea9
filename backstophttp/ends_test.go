package backstophttp

import (
	"slices"
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

// `idle: 0` lets a model be silent for as long as it likes. An answer that is
// whole is ended all the same, however it is read.
func TestAWholeAnswerIsEndedWithoutALimitOfItsSilence(t *testing.T) {
	type ending struct {
		script []string
		silent time.Duration // up to its finish reason
	}
	endings := func(a, b string) map[string]ending {
		return map[string]ending{
			"soon":       {[]string{"wait:500ms", voiceP.say(a), voiceP.say(b), voiceP.end("stop"), "hang"}, 500 * time.Millisecond},
			"late":       {[]string{voiceP.say(a), "wait:40s", voiceP.say(b), "wait:45s", voiceP.end("stop"), "wait:4s", voiceP.usage(2), "hang"}, 85 * time.Second},
			"with pings": {append([]string{voiceP.say(a), "wait:40s", voiceP.say(b), voiceP.end("stop")}, slices.Repeat([]string{"wait:3s", ": ping\n\n"}, 100)...), 40 * time.Second},
		}
	}
	for _, ask := range []string{stream, unary, asJSON, strings.Replace(asJSON, "{", `{"stream":true,`, 1)} {
		list := endings("a", "b")
		if strings.Contains(ask, "json_object") {
			list = endings(`{"a":`, "1}")
		}
		for name, e := range list {
			for way, hedge := range map[string]time.Duration{"alone": 0, "hedged": time.Second} {
				t.Run(way+", "+name+", "+ask, func(t *testing.T) {
					in(t, setup{primary: answers(append([]string{voiceP.role()}, e.script...)...), backup: answers(voiceB.tells("b")...), change: func(p *backstop.Plan) {
						for i := range p.Upstreams {
							p.Upstreams[i].Timeouts.Idle = 0
						}
						p.Routes[0].Hedge.After, p.Routes[0].Stream.Keepalive = hedge, 0
					}}, func(h *house) {
						began := time.Now()
						p, ev := h.call(ask)
						h.want(p, 200, "primary")
						if took := time.Since(began); took < e.silent || took > e.silent+2*backstop.DefaultIdle || ev.Outcome != backstop.OK || h.saw("backup") != 0 {
							t.Errorf("took %s, %s\n%s", took, ev.Outcome, p)
						}
						if name == "late" && ask == unary && !strings.Contains(p.String(), `"completion_tokens":2`) {
							t.Errorf("without what came behind its finish reason: %s", p)
						}
					})
				})
			}
		}
	}
}
