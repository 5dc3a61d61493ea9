// Package responses is the room of the Responses form of the OpenAI dialect:
// POST /v1/responses, as OpenAI and the vendors with such an endpoint speak it.
// Callers speak it; an upstream is one of the OpenAI dialect and either serves
// it itself or is asked for a chat through the hub.
//
// A caller's body is checked once, strictly, and the checked bytes are what an
// upstream gets: edits are splices into them. Events of a stream pass as the
// bytes they came in.
//
// Stability: internal to the product, as package wire.
package responses

import (
	"backstop"
	"backstop/wire"
)

// Room is the Responses form. It has no state; its methods are pure and safe
// for concurrent use.
type Room struct{}

var _ wire.HubRoom = Room{}

// Dialect names the room.
func (Room) Dialect() backstop.Dialect { return backstop.Responses }
