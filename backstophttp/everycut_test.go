package backstophttp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"backstop"
	"backstop/wire"
)

// A stream of promised JSON, cut after any character, by any upstream, for any
// caller: what ends well is JSON, and what is not all of it is marked.
func TestPromisedJSONCutAnywhereIsJSONOrMarked(t *testing.T) {
	texts := []string{
		"Sure:\n```json\n{\"a\": [1, \"é\\n\"]}\n```\nOk?",
		"<think>{\"x\":0}?</think>{'a':1,}",
	}
	always := func(p *backstop.Plan) { p.Routes[0].JSON.Always = true }
	ends := map[string]func(g fixture) []string{
		"stop":   func(g fixture) []string { return g.says(ended(wire.EndStop)...) },
		"length": func(g fixture) []string { return g.says(ended(wire.EndLength)...) },
		"none":   func(fixture) []string { return nil },
		"a cut":  func(fixture) []string { return []string{"fin"} },
	}
	everyPair(t, func(t *testing.T, caller, up fixture) {
		for _, text := range texts {
			runes := strings.Split(text, "")
			for n := 1; n <= len(runes); n += 1 + len(runes)/17 {
				for name, end := range ends {
					said := strings.Join(runes[:n], "")
					in(t, setup{primary: answers(up.begins(runes[:n], end(up)...)...), backup: answers(up.tells(`{"a"`, `:2}`)...), change: speak(up, up, always)}, func(h *house) {
						p, ev := h.serve(context.Background(), &Call{Request: caller.asks(t, question(true)), ID: "req_1", Caller: "web"})
						if why := unkept(t, caller, p.String(), ev); why != "" {
							t.Errorf("%s: %q, then %s: %s", text, said, name, why)
						}
					})
				}
			}
		}
	})
}

// unkept says what is wrong with a stream as its caller has it, "" = nothing.
func unkept(t *testing.T, g fixture, got string, ev *backstop.Event) string {
	h := g.hears(t, true, got)
	switch marked := strings.Contains(got, `"truncated":true`); {
	case h.verdict.Class != backstop.OK:
		if strings.Contains(got, "error") || ev.Status != 200 {
			return ""
		}
		return "no end and no error: " + got
	case !json.Valid([]byte(h.text)):
		return fmt.Sprintf("%q is no JSON: %s", h.text, got)
	case slices.Contains(ev.Repaired, "cut") && !ev.Truncated:
		return "closed without a mark"
	case ev.Truncated != marked:
		return fmt.Sprintf("truncated %v, but %s", ev.Truncated, got)
	case marked && h.ending == wire.EndStop:
		return "cut, and ends as if it were whole: " + got
	}
	return ""
}
