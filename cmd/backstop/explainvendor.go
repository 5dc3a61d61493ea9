package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"backstop"
	"backstop/wire"
)

// vendorWords are the facts that the vendor's profile holds for an upstream
// and a model, in the shape of explainTier's lines.
func vendorWords(u *backstop.Upstream, model string) [][2]string {
	v, _ := wire.Profile(u.Vendor)
	facts := "key sent as " + u.Auth
	if v.Responses {
		facts += "; serves /responses itself"
	} else if u.Dialect == backstop.OpenAI {
		facts += "; /responses is translated to chat"
	}
	if wire.Silent(v.Name, model) {
		facts += "; this model thinks silently, so its first token may take long"
	}
	lines := [][2]string{{"vendor", v.Name + ": " + facts}}
	if words := quirkWords(&u.Quirks, v.QuirksFor(model)); words != "" {
		lines = append(lines, [2]string{"quirks", words})
	}
	for _, m := range v.Codes() {
		lines = append(lines, [2]string{"code", fmt.Sprintf("%-18s %s", m.Outcome, strings.Join(m.Codes, " "))})
	}
	return lines
}

// quirkWords says how a request is bent. What the plan says comes before what
// the profile says of the model.
func quirkWords(own *backstop.Quirks, profile backstop.Quirks) string {
	var words []string
	say := func(form string, args ...any) { words = append(words, fmt.Sprintf(form, args...)) }
	drop := slices.Clone(profile.DropParams)
	drop = append(drop, own.DropParams...)
	slices.Sort(drop)
	if drop = slices.Compact(drop); len(drop) > 0 {
		say("leaves out %s", strings.Join(drop, ", "))
	}
	rename := maps.Clone(profile.RenameParams)
	if rename == nil {
		rename = map[string]string{}
	}
	maps.Copy(rename, own.RenameParams)
	for _, from := range slices.Sorted(maps.Keys(rename)) {
		say("calls %s %s", from, rename[from])
	}
	for _, name := range slices.Sorted(maps.Keys(own.SetParams)) {
		say("sets %s", name)
	}
	if n := max(own.ToolIDMax, 0); n > 0 {
		say("tool ids of at most %d", n)
	} else if profile.ToolIDMax > 0 {
		say("tool ids of at most %d", profile.ToolIDMax)
	}
	if own.NoTools || profile.NoTools {
		say("takes no tools")
	}
	if own.Prefill || profile.Prefill {
		say("goes on with a begun answer")
	}
	if own.ReasoningContent == "required" || own.ReasoningContent == "" && profile.ReasoningContent == "required" {
		say("wants its reasoning back in later turns")
	}
	return strings.Join(words, "; ")
}
