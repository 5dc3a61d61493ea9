// Package anthropic is the room of the Anthropic dialect: Messages and the
// counting of their tokens, as Anthropic and the vendors with an Anthropic
// form speak them.
//
// A caller's body is checked once, strictly, and the checked bytes are what an
// upstream gets: edits are splices into them. Events of a stream pass as the
// bytes they came in.
//
// Stability: internal to the product, as package wire.
package anthropic

import (
	"backstop"
	"backstop/wire"
)

// Room is the Anthropic dialect. It has no state; its methods are pure and
// safe for concurrent use.
type Room struct{}

var _ wire.HubRoom = Room{}

// Dialect names the room.
func (Room) Dialect() backstop.Dialect { return backstop.Anthropic }
