// Package local is the last tier: what can be answered without any network,
// from a fixed template or from the last good answer to the same request.
//
// The package decides and renders; it keeps nothing, starts nothing and never
// asks for the time. The store behind [Cache] comes from above, and so does
// the wire form of an answer (package wire/openai and its siblings).
//
// Stability: internal to the product; it may change in any release.
package local

import (
	"backstop"
	"backstop/wire"
)

// Answers reports whether the tier's template may answer a call. Text calls,
// those that offer tools included, need its text; calls that were promised
// JSON need its JSON; embeddings are never made up. It says nothing about the
// cache, whose answers are real ones, nor about the promised schema.
func Answers(l *backstop.Local, r *wire.Request) bool {
	if l == nil || l.Template == nil {
		return false
	}
	switch r.Op {
	case wire.Chat, wire.Completion, wire.Responses:
	default:
		return false
	}
	if r.Promise.Kind != wire.PromiseNone {
		return len(l.Template.JSON) > 0
	}
	return l.Template.Text != ""
}
