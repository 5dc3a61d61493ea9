package anthropic

import (
	"strconv"

	"backstop"
	"backstop/wire"
)

// budgeted are the prefixes of the vendor's models that take thinking as a
// budget of tokens, thoughtless those that do not think; later ones take an
// effort. Models of other vendors take a budget. As of 2026-11.
var (
	budgeted = []string{
		"claude-3-7", "claude-sonnet-4-0", "claude-sonnet-4-2", "claude-opus-4-0", "claude-opus-4-2", "claude-opus-4-1",
		"claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5",
	}
	thoughtless = []string{"claude-2", "claude-3-haiku", "claude-3-opus", "claude-3-sonnet", "claude-3-5", "claude-instant"}
	vendorsOwn  = []string{"claude-"}
	// sampled are those that take sampling parameters; later ones refuse them.
	sampled = []string{
		"claude-2", "claude-3", "claude-instant", "claude-sonnet-4-", "claude-haiku-4-",
		"claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-2", "claude-opus-4-5", "claude-opus-4-6",
	}
	// modest are those with an effort that know none between high and max.
	modest = []string{"claude-opus-4-6", "claude-sonnet-4-6"}
)

// fixedSampling reports whether a model is one of the vendor's own that takes
// no sampling parameters.
func fixedSampling(model string) bool {
	return hasPrefix(model, vendorsOwn) && !hasPrefix(model, sampled)
}

// budgets are the tokens that stand for an effort.
var budgets = map[string]int{"minimal": leastBudget, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 24576, "max": 32768}

// leastBudget is the API's own bound.
const leastBudget = 1024

const disabled = `{"type":"disabled"}`

// thought is how a request asks for thinking.
type thought struct {
	raw       string // "" = not at all
	maxTokens int
}

// thinking decides how to ask for it. It is a hint: where it does not go
// together with what the caller insists on (a forced tool, the size of the
// answer, a history whose thinking was not signed here) it is left out.
func (w *hubWrite) thinking() thought {
	p := w.p
	t := thought{maxTokens: p.MaxTokens}
	if t.maxTokens == 0 {
		t.maxTokens = defaultMaxTokens
	}
	if p.Effort == "none" {
		if p.Dialect == backstop.Anthropic {
			t.raw = disabled
		}
		return t
	}
	if p.Effort == "" && p.Budget == 0 {
		return t
	}
	forced := p.ToolChoice.Kind == wire.ChoiceRequired || p.ToolChoice.Kind == wire.ChoiceNamed
	if forced || hasPrefix(w.model, thoughtless) || !w.signed() {
		w.losses.Lefts(p, "reasoning_effort")
		return t
	}
	if hasPrefix(w.model, vendorsOwn) && !hasPrefix(w.model, budgeted) {
		w.adaptive(&t)
		return t
	}
	w.budget(&t)
	return t
}

func (w *hubWrite) adaptive(t *thought) {
	t.raw = `{"type":"adaptive"}`
	switch effort := w.p.Effort; {
	case !w.takes("output_config"):
		w.losses.Lefts(w.p, "reasoning_effort")
	case effort == "minimal":
		w.effort = "low"
	case effort == "xhigh" && hasPrefix(w.model, modest):
		w.effort = "high"
	case effort != "":
		w.effort = effort
	case w.p.Budget < budgets["medium"]:
		w.effort = "low"
	case w.p.Budget < budgets["high"]:
		w.effort = "medium"
	default:
		w.effort = "high"
	}
}

func (w *hubWrite) budget(t *thought) {
	n := w.p.Budget
	if n == 0 {
		n = budgets[w.p.Effort]
	}
	n = max(n, leastBudget)
	if w.p.MaxTokens == 0 {
		t.maxTokens = defaultMaxTokens + n
	}
	if n >= t.maxTokens {
		n = t.maxTokens / 2
	}
	if n < leastBudget {
		w.losses.Lefts(w.p, "reasoning_effort")
		return
	}
	t.raw = `{"type":"enabled","budget_tokens":` + strconv.Itoa(n) + `}`
}

// signed reports whether the turn that the model is in the middle of, if its
// last act was a tool call, still has the signed thinking that the API demands.
// What else is said behind the results does not end that turn.
func (w *hubWrite) signed() bool {
	turns, returned := w.p.Turns, false
	for i := len(turns) - 1; i >= 0; i-- {
		returned = returned || turns[i].Role == wire.ByTool
		if turns[i].Role != wire.ByModel {
			continue
		}
		if !returned {
			return true
		}
		parts := turns[i].Parts
		return len(parts) > 0 && parts[0].Kind == wire.PartReasoning && parts[0].Proof != "" && w.p.Dialect == backstop.Anthropic
	}
	return true
}
