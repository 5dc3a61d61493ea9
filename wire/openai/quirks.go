package openai

import (
	"bytes"
	"maps"
	"slices"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/fit"
)

// core parameters are the plan's and the room's business: no quirk drops,
// renames or sets them.
var core = map[string]bool{"model": true, "stream": true, "messages": true, "prompt": true, "input": true}

// defaultToolIDMax is the longest tool-call id that passes unmapped.
const defaultToolIDMax = 64

// demanded is the value of reasoning_content that asks for a placeholder.
const demanded = "required"

// quirks is what one upstream wants otherwise.
type quirks struct {
	backstop.Quirks
}

// quirksOf puts the operator's words over the vendor profile's. Lists add up.
// The card's own values cannot be told from a choice, so a profile's shorter
// id or demand for reasoning yields only to another value than the card's.
func quirksOf(u *backstop.Upstream, model string) quirks {
	vendor, _ := wire.Profile(u.Vendor)
	q, mine := quirks{vendor.QuirksFor(model)}, &u.Quirks
	if len(mine.DropParams) > 0 {
		q.DropParams = slices.Concat(q.DropParams, mine.DropParams)
	}
	q.RenameParams = over(q.RenameParams, mine.RenameParams)
	q.SetParams = over(q.SetParams, mine.SetParams)
	q.NoTools, q.Prefill = q.NoTools || mine.NoTools, q.Prefill || mine.Prefill
	if mine.ReasoningContent == demanded {
		q.ReasoningContent = demanded
	}
	if mine.ToolIDMax > 0 && mine.ToolIDMax != defaultToolIDMax {
		q.ToolIDMax = mine.ToolIDMax
	}
	if q.ToolIDMax <= 0 {
		q.ToolIDMax = defaultToolIDMax
	}
	return q
}

func over[V any](a, b map[string]V) map[string]V {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]V, len(a)+len(b))
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// touches reports whether a body may have to change for this upstream.
func (q quirks) touches(body []byte) bool {
	if len(q.DropParams)+len(q.RenameParams)+len(q.SetParams) > 0 || q.ReasoningContent == demanded {
		return true
	}
	return bytes.Contains(body, toolCallWord)
}

// cannot says why the upstream cannot take the call: tools and promised JSON
// are never dropped silently, and without its core there is no request.
func (q quirks) cannot(r *wire.Request, s *backstop.Step) *backstop.Outcome {
	if r.Tools && q.NoTools {
		return cannotTake("tools", "the upstream takes no tools")
	}
	for i, list := range [...][]string{s.Without, q.DropParams} {
		for _, name := range list {
			switch {
			case i == 0 && core[name],
				r.Tools && (name == "tools" || name == "functions"),
				r.Promise.Kind != wire.PromiseNone && name == "response_format":
				return cannotTake(name, "the upstream does not take "+name+", which the call cannot do without")
			}
		}
	}
	return nil
}

// apply renames, drops and sets parameters.
func (q quirks) apply(o *object) []string { return fit.Apply(&q.Quirks, o, isCore, nil) }

func isCore(name string) bool { return core[name] }
