package gemini

import (
	"strconv"
	"strings"

	"backstop"
	"backstop/wire/internal/edit"
)

// budgets are the thinking tokens that stand for an effort, as the vendor
// translates the word itself.
var budgets = map[string]int{"minimal": 1024, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576, "max": 24576}

// The budgets from which on an effort is the next higher.
const (
	mediumBudget = 4096
	highBudget   = 16384
)

// thinking asks for it in the model's own way: a budget of tokens, or since the
// third generation a level. It is a hint: a model that does not think, or that
// cannot be stopped from it, goes without.
func (w *hubWrite) thinking() {
	p, name := w.p, bare(w.model)
	if p.Effort == "" && p.Budget == 0 {
		return
	}
	off := p.Effort == "none"
	known := strings.HasPrefix(name, "gemini-") && !hasPrefix(name, unbudgeted)
	switch {
	case !known && off:
	case !known, !w.takes("thinkingConfig"), off && hasPrefix(name, tireless):
		w.losses.Lefts(p, "reasoning_effort")
	case !hasPrefix(name, early):
		w.level(name)
	case off:
		w.set("thinkingConfig", `{"thinkingBudget":0}`)
	default:
		n := p.Budget
		if n == 0 {
			n = budgets[p.Effort]
		}
		if n == 0 {
			w.losses.Lefts(p, "reasoning_effort")
			return
		}
		w.show(`"thinkingBudget":` + strconv.Itoa(n))
	}
}

func (w *hubWrite) level(name string) {
	p := w.p
	word := p.Effort
	switch {
	case word == "none":
		w.losses.Lefts(p, "reasoning_effort") // it can only think little
		word = "minimal"
	case word == "" && p.Budget < mediumBudget:
		word = "low"
	case word == "" && p.Budget < highBudget:
		word = "medium"
	case word == "", word == "xhigh", word == "max":
		word = "high"
	}
	if hasPrefix(name, twofold) {
		switch word {
		case "minimal":
			word = "low"
		case "medium":
			word = "high"
		}
	}
	if _, ok := budgets[word]; !ok {
		w.losses.Lefts(p, "reasoning_effort")
		return
	}
	w.show(`"thinkingLevel":` + edit.Quoted(strings.ToUpper(word)))
}

// show asks for the thoughts as well, because a model that streams them is
// known to be alive.
func (w *hubWrite) show(member string) {
	if w.p.Dialect != backstop.Gemini {
		member += `,"includeThoughts":true`
	}
	w.set("thinkingConfig", "{"+member+"}")
}
