// Package gemini is the room of the Gemini dialect: generateContent in its
// plain and its streamed form and the counting of its tokens, as the Gemini API
// and Vertex AI speak them.
//
// A caller's body is checked once, strictly, and the checked bytes are what an
// upstream gets: edits are splices into them. Model and streaming stand in the
// path of a call, so Read cannot know them: whoever knows the path sets
// Request.Model and Request.Stream. Events of a stream pass as the bytes they
// came in. The dialect has no terminal event: a stream is whole once each
// candidate has its finish reason.
//
// Stability: internal to the product, as package wire.
package gemini

import (
	"backstop"
	"backstop/wire"
)

// Room is the Gemini dialect. It has no state; its methods are pure and safe
// for concurrent use.
type Room struct{}

var _ wire.HubRoom = Room{}

// Dialect names the room.
func (Room) Dialect() backstop.Dialect { return backstop.Gemini }
