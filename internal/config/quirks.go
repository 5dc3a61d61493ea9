package config

import (
	"fmt"
	"maps"
	"slices"

	"backstop"
	"backstop/wire"
)

// ownedByCall are parameters that no quirk may set.
var ownedByCall = []string{"model", "stream", "messages", "input", "prompt"}

// quirks lays the operator's words over the vendor profile's, and those over
// the card's. An empty drop_params list takes the profile's away. What the
// profile says about single models is added where the model is known.
func (b *planBuilder) quirks(s *upstreamSpec, u *backstop.Upstream) {
	q, from := &u.Quirks, &s.quirks
	if p, ok := wire.Profile(u.Vendor); ok {
		underlay(q, &p.Quirks)
	}
	if from.dropParams.set() {
		if len(from.dropParams.v) == 0 {
			q.DropParams = nil
		}
		q.DropParams = slices.Compact(slices.Sorted(slices.Values(slices.Concat(q.DropParams, from.dropParams.v))))
	}
	q.ToolIDMax = from.toolIDMax.or(q.ToolIDMax)
	q.NoTools, q.Prefill = from.noTools.or(q.NoTools), from.prefill.or(q.Prefill)
	q.ReasoningContent = from.reasoning.or(q.ReasoningContent)
	for _, name := range slices.Sorted(maps.Keys(from.renameParams)) {
		put(&q.RenameParams, name, from.renameParams[name].v)
	}
	for _, name := range slices.Sorted(maps.Keys(from.setParams)) {
		if slices.Contains(ownedByCall, name) {
			b.problem(from.setParams[name].at, fmt.Sprintf("set_params cannot set %s", name), "it belongs to the call; a tier's model sets the model")
		}
		if q.SetParams == nil {
			q.SetParams = map[string]any{}
		}
		q.SetParams[name] = from.setParams[name].v
	}
	if from.toolIDMax.set() && q.ToolIDMax < 8 {
		b.problem(from.toolIDMax.at, "tool_id_max must be at least 8", "the longest tool-call id that the upstream takes")
	}
}

// underlay copies a profile's quirks: its maps are shared by all upstreams.
func underlay(q, profile *backstop.Quirks) {
	q.DropParams = slices.Clone(profile.DropParams)
	q.RenameParams = maps.Clone(profile.RenameParams)
	q.SetParams = maps.Clone(profile.SetParams)
	q.NoTools, q.Prefill = profile.NoTools, profile.Prefill
	if profile.ToolIDMax > 0 {
		q.ToolIDMax = profile.ToolIDMax
	}
	if profile.ReasoningContent != "" {
		q.ReasoningContent = profile.ReasoningContent
	}
}
