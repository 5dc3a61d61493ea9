// Package wire is the hub between dialects: what a call asks for, what an
// event of a stream means, and what an upstream's answer is worth.
//
// A dialect room (wire/openai, …) turns bytes into these words and back. Rooms
// never import each other, and traffic within one dialect passes byte for byte.
//
// Stability: internal to the product; it is public only because the dialect
// rooms are, and may change in any release.
package wire

import (
	"backstop"
	"backstop/sse"
)

// Op is what a call wants done.
type Op string

// The operations of this version.
const (
	Chat       Op = "chat"
	Responses  Op = "responses"
	Completion Op = "completion"
	Embedding  Op = "embedding"
)

// Request is one caller request as its dialect room read it. It is immutable
// after Room.Read.
type Request struct {
	Dialect backstop.Dialect
	Op      Op
	Model   string
	Stream  bool
	Body    []byte // the caller's bytes, checked; what was checked is what is sent

	Promise   Promise // JSON that the caller was promised
	Tools     bool    // tools are offered to the model
	Choices   int     // n, at least 1
	Logprobs  bool
	Audio     bool
	Stored    bool
	Pinned    bool // it names something that only the upstream which made it knows
	UsageOn   bool // the caller asked for a usage event at the end of its stream
	MaxTokens int  // 0 = not given
	InputSize int  // input tokens by a byte heuristic, for the context rule
}

// Streamable reports whether the answer may be asked as a stream and put
// together without losing anything against the plain body.
func (r *Request) Streamable() bool {
	switch {
	case r.Op == Embedding, r.Op == CountTokens, r.Audio, r.Stored, r.Choices > 1 && r.Logprobs:
		return false
	}
	return true
}

// PromiseKind is the strength of a JSON promise.
type PromiseKind uint8

// PromiseNone touches nothing; PromiseObject wants a JSON object, PromiseSchema
// one that follows Promise.Schema.
const (
	PromiseNone PromiseKind = iota
	PromiseObject
	PromiseSchema
)

// Promise is the JSON that an answer must be.
type Promise struct {
	Kind   PromiseKind
	Schema []byte // JSON Schema, nil unless PromiseSchema
}

// Outbound is a request to an upstream, without host, credential or framing:
// those come from the plan alone.
type Outbound struct {
	Path   string // below the upstream's base URL, e.g. "/chat/completions"
	Body   []byte
	Stream bool // an event stream is asked for
	// Dropped are parameters of the call that the upstream's quirks leave out,
	// as its dialect names them.
	Dropped []string
}

// SignalKind says what an event of an upstream's stream means.
type SignalKind uint8

// The signals. Only Token re-arms a clock and commits.
const (
	Quiet     SignalKind = iota + 1 // role-only, empty or lifecycle event
	Token                           // content, reasoning, tool-call or refusal delta, finish reason, usage
	Terminal                        // the dialect's end-of-stream event
	Fault                           // an error event: Signal.Outcome says which
	Malformed                       // not the dialect: dropped and counted
)

// Signal is the meaning of one event.
type Signal struct {
	Kind    SignalKind
	Bytes   int               // content bytes
	Outcome *backstop.Outcome // Fault
	// Parsed is what the reader made of the event, for the writer of the same
	// dialect, so that it need not parse again. It is valid until the reader's
	// next event; nil = nothing.
	Parsed any
}

// StreamReader follows one upstream stream. Not safe for concurrent use.
type StreamReader interface {
	// Event says what ev means. ev.Data is only read during the call.
	Event(ev *sse.Event) Signal
	// End is asked when the stream is over, cut or complete, and judges the
	// whole: OK, garbled/empty, garbled/blank, garbled/cut, ….
	End(clean bool) backstop.Outcome
	// Usage returns the reported input and output tokens, -1 = not reported.
	Usage() (input, output int)
	// ToolBegun reports whether a tool call has begun.
	ToolBegun() bool
}

// TextReader is a StreamReader whose answer can be compared with another's,
// which is what taking over a broken stream needs.
type TextReader interface {
	// AppendText appends the content text of the latest event to the text of
	// all events before it, decoded. Reasoning is no content. A surrogate half
	// that waits for its other half in a later event stands as three bytes at
	// the end; the next call puts the pair together.
	AppendText(all []byte) []byte
	// TextOnly reports whether the answer so far is nothing but text and
	// reasoning: no tool call, refusal, sound or second choice has begun.
	TextOnly() bool
}

// Grafter is a StreamWriter that can go on with the events of another upstream
// than the one that its stream began with. Id, model and created stay those of
// the first one.
type Grafter interface {
	// Text returns an event with a piece of content text; nil for no text.
	Text(text []byte) []byte
	// Graft passes on what an event of the other upstream brings, without its
	// reasoning, and without its content text unless text is set.
	Graft(ev *sse.Event, sig *Signal, text bool) []byte
	// Hold keeps the last event back until Close, which puts its note there.
	Hold()
}

// Continuer is a Room that can ask an upstream for the rest of an answer.
type Continuer interface {
	// Continue returns the request for what comes after text. The outcome is
	// nil or why this upstream cannot be asked.
	Continue(r *Request, u *backstop.Upstream, model string, text []byte) (*Request, *backstop.Outcome)
}

// StreamWriter makes the caller's stream. Every method returns whole events
// in one slice, valid until the next call; nil = nothing to send. Not safe
// for concurrent use.
type StreamWriter interface {
	// Event passes on one event of an upstream of the same dialect.
	Event(ev *sse.Event, sig *Signal) []byte
	// Close returns what is still owed after the last event, e.g. the
	// terminal event that the upstream forgot; note is the x_backstop object
	// for it, nil = none.
	Close(note *Note) []byte
	// Failure returns the in-band error after which the stream just ends.
	Failure(f *backstop.Failure, id string) []byte
}

// Aggregator puts the events of a stream together into the plain body that
// the same call would have got without streaming. Not safe for concurrent use.
type Aggregator interface {
	Add(data []byte)
	Body() []byte
}

// Note is what an answer says about itself in its x_backstop object. Empty
// fields are left out.
type Note struct {
	Tier      string   `json:"tier,omitempty"`
	Upstream  string   `json:"upstream,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Attempts  int      `json:"attempts,omitempty"`
	Rescued   bool     `json:"rescued,omitempty"`
	Continued bool     `json:"continued,omitempty"`
	Repaired  []string `json:"repaired,omitempty"`
	Truncated bool     `json:"truncated,omitempty"`
	Stale     int      `json:"stale,omitempty"` // seconds
	Dropped   []string `json:"dropped,omitempty"`
}

// Answer is a finished text that needs no upstream, for the local tier.
type Answer struct {
	ID      string
	Created int64 // Unix seconds
	Model   string
	Text    string
	Note    Note
}

// Room is one dialect: bytes to words and back. Its methods are pure and safe
// for concurrent use.
type Room interface {
	Dialect() backstop.Dialect
	// Read checks a caller's body strictly and reads what a call needs to know.
	Read(op Op, body []byte) (*Request, *backstop.Failure)
	// Outbound makes the request to an upstream of this dialect: the caller's
	// bytes with model, stream and stream_options set and quirks applied. The
	// outcome is nil or why this upstream cannot take the call.
	Outbound(r *Request, u *backstop.Upstream, s *backstop.Step) (Outbound, *backstop.Outcome)
	// Probe makes the tiny request of a background probe.
	Probe(p *backstop.Probe) Outbound
	// JudgeBody judges a 200 answer to a request that wanted one body.
	JudgeBody(r *Request, a *Reply) backstop.Outcome
	// Content returns the text of the first choice, for JSON promises and the
	// agent; Replace returns body with that text exchanged.
	Content(body []byte) (text string, finish string, ok bool)
	Replace(body []byte, text string) []byte

	Reader(r *Request, a *Reply) StreamReader
	Writer(r *Request) StreamWriter
	Aggregator(r *Request) Aggregator
	// Explode turns a plain body into the events of the same answer.
	Explode(r *Request, body []byte) [][]byte
	// Compose makes a plain body from a local answer.
	Compose(r *Request, a *Answer) []byte
	// Annotate adds the x_backstop object to a plain body.
	Annotate(body []byte, n *Note) []byte
	// Failure makes the body of an error answer.
	Failure(f *backstop.Failure, id string) []byte
}
