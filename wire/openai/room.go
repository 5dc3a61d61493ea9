// Package openai is the room of the OpenAI dialect: chat completions, legacy
// completions and embeddings, as OpenAI and the many compatible vendors speak
// them.
//
// A caller's body is checked once, strictly, and the checked bytes are what an
// upstream gets: edits are splices into them. Events of a stream pass as the
// bytes they came in; only what the caller did not ask for (usage) or could
// not read (vendors' own finish reasons) is changed.
//
// Stability: internal to the product, as package wire.
package openai

import (
	"backstop"
	"backstop/wire"
)

// Room is the OpenAI dialect. It has no state; its methods are pure and safe
// for concurrent use.
type Room struct{}

var _ wire.Room = Room{}

// Dialect names the room.
func (Room) Dialect() backstop.Dialect { return backstop.OpenAI }
