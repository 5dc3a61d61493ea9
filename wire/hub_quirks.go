package wire

import (
	"slices"

	"backstop"
)

// cardToolIDMax is the card's own value: it cannot be told from a choice.
const cardToolIDMax = 64

// QuirksOf puts an operator's words over the vendor profile's for a model.
// Lists add up; a profile's shorter tool-call id or demand for reasoning
// yields only to another value than the card's.
func QuirksOf(u *backstop.Upstream, model string) backstop.Quirks {
	vendor, _ := Profile(u.Vendor)
	q, mine := vendor.QuirksFor(model), &u.Quirks
	if len(mine.DropParams) > 0 {
		q.DropParams = slices.Concat(q.DropParams, mine.DropParams)
	}
	q.RenameParams = mergeMaps(q.RenameParams, mine.RenameParams)
	q.SetParams = mergeMaps(q.SetParams, mine.SetParams)
	q.NoTools = q.NoTools || mine.NoTools
	q.Prefill = q.Prefill || mine.Prefill
	if mine.ReasoningContent == "required" {
		q.ReasoningContent = mine.ReasoningContent
	}
	if mine.ToolIDMax > 0 && mine.ToolIDMax != cardToolIDMax {
		q.ToolIDMax = mine.ToolIDMax
	}
	if q.ToolIDMax <= 0 {
		q.ToolIDMax = cardToolIDMax
	}
	return q
}
