package wire

import (
	"backstop"
	"backstop/sse"
)

// CountTokens asks how many tokens a request has, without answering it.
const CountTokens Op = "count_tokens"

// HubRoom is a Room whose dialect can also be told in the words of the hub,
// so that a call in it can be answered by an upstream of another dialect, and
// the other way round. There is one translation a dialect into the hub and
// one out of it, never one a pair. All methods are pure and safe for
// concurrent use.
//
// The driver needs them in this order: ToHub of the caller's room, FromHub of
// the upstream's, then Decoder or DecodeBody of the upstream's and Encoder or
// EncodeBody of the caller's. [Bridge] and [Translate] do the latter.
type HubRoom interface {
	Room
	// ToHub reads a request that Room.Read took. The failure is the caller's
	// own mistake, in a place that Read does not look at.
	ToHub(r *Request) (*Prompt, *backstop.Failure)
	// FromHub makes the request to an upstream of this dialect, with the
	// upstream's quirks and what the step leaves out. If losses.Cannot is not
	// empty the request must not be sent.
	FromHub(p *Prompt, u *backstop.Upstream, s *backstop.Step) (Outbound, Losses)

	// DecodeBody reads a plain body that JudgeBody called good. It is false
	// for what is no answer of this dialect.
	DecodeBody(body []byte) (*Message, bool)
	// EncodeBody writes a plain body. It is false for what this dialect has
	// no form for, e.g. tool arguments that are no JSON where JSON they must be.
	EncodeBody(m *Message) ([]byte, bool)

	Decoder() Decoder
	Encoder(h Head) Encoder
}

// Decoder reads the events of one upstream stream. Not safe for concurrent use.
type Decoder interface {
	// Event returns what an event says, nil if nothing. The slice is valid
	// until the next call; it holds no memory of ev.
	Event(ev *sse.Event) []Delta
}

// Encoder makes the events of one caller's stream. Not safe for concurrent use.
type Encoder interface {
	// Encode returns the events for some deltas, lifecycle events included.
	// They are valid until the next call.
	Encode(list []Delta) []Framed
}

// Framed is one event for a caller, without its frame.
type Framed struct {
	Name string     // of the event, "" where the dialect has none
	Data []byte     // one line
	Kind SignalKind // Quiet, Token or Terminal
}

// Head is what an answer has to have even if its upstream did not say it.
type Head struct {
	ID      string
	Created int64 // Unix seconds
	Model   string
	Asked   []byte // body of the caller's request, for a dialect whose answers repeat some of it; nil = not known
}

// Losses tell what of a prompt an upstream's dialect has no words for, in the
// names of the caller's own parameters.
type Losses struct {
	// Cannot: the answer would not be what was asked for. The tier is skipped,
	// or, if no other is there, the caller gets a 400 that names the first.
	Cannot []string
	// Left: hints that were left out or bent; the answer has the form that was
	// asked for. They are reported, never silent (x-backstop-dropped).
	Left []string
}
