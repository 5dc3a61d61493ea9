package backstop

import "time"

// Class is the verdict on an attempt, one word of eight.
type Class uint8

// The classes, in the order of their metrics labels.
const (
	OK       Class = iota + 1 // answered well
	Hang                      // connection open, no progress
	Limited                   // a limit, quota or credential of ours
	Broken                    // dial, reset, 5xx, overload
	Garbled                   // delivered, but not the promised JSON or protocol
	Refused                   // a content filter or refusal
	Rejected                  // the caller's or the operator's request is at fault
	Canceled                  // the caller left, or we moved on
)

var classWords = [...]string{"", "ok", "hang", "limited", "broken", "garbled", "refused", "rejected", "canceled"}

// String is the word that metrics, logs and headers use.
func (c Class) String() string {
	if int(c) < len(classWords) {
		return classWords[c]
	}
	return ""
}

// Kind refines a class. The words are fixed, so they may be metric labels.
type Kind string

// Kinds by class. The table that maps vendors' answers onto them is in
// package wire.
const (
	// Hang.
	KindFirstToken Kind = "first_token" // no meaningful token within the first-token limit
	KindIdle       Kind = "idle"        // no meaningful token within the idle limit
	KindTotal      Kind = "total"       // the total limit, although tokens were flowing
	KindDrip       Kind = "drip"        // slower than the drip floor
	KindMoved      Kind = "moved"       // moved to the next tier on hang evidence, before its own limit

	// Limited.
	KindRate  Kind = "rate"
	KindRamp  Kind = "ramp"
	KindQuota Kind = "quota"
	KindAuth  Kind = "auth"

	// Broken.
	KindDNS      Kind = "dns"
	KindDial     Kind = "dial"
	KindConnect  Kind = "connect" // no connection within the connect limit: nothing is open that could hang
	KindTLS      Kind = "tls"
	KindReset    Kind = "reset"
	KindServer   Kind = "server"
	KindOverload Kind = "overload"
	KindTimeout  Kind = "timeout"
	KindConflict Kind = "conflict"

	// Garbled.
	KindHTML      Kind = "html"
	KindProtocol  Kind = "protocol"
	KindEmpty     Kind = "empty" // no event, no byte
	KindBlank     Kind = "blank" // an answer without content, refusal or tool call
	KindJSON      Kind = "json"  // promised JSON is not there
	KindTruncated Kind = "truncated"
	KindCut       Kind = "cut"      // the stream ended without a finish reason
	KindDiverged  Kind = "diverged" // a rescuer's text is not the one that the caller already has
	KindTooLarge  Kind = "event"    // an event or body over its bound

	// Refused.
	KindFilter Kind = "filter"

	// Rejected.
	KindParam   Kind = "param"
	KindContext Kind = "context"
	KindSize    Kind = "size"
	KindModel   Kind = "model"

	// Canceled.
	KindCaller   Kind = "caller"   // the caller left
	KindHedge    Kind = "hedge"    // another attempt of the call had the first token
	KindShutdown Kind = "shutdown" // we are going down
	KindBug      Kind = "bug"      // our own fault: counts for nobody

	// Local tiers.
	KindMiss Kind = "miss" // the local tier has nothing for this call
)

// Counts says which breaker an outcome is a failure of.
type Counts uint8

// CountsNone is neutral: neither failure nor success, and a probe slot goes back.
const (
	CountsNone Counts = iota
	CountsEndpoint
	CountsModel
	CountsQuality
)

// Park says what is skipped until a time that the upstream named.
type Park uint8

// ParkKey parks the key (or its account), ParkUpstream all keys of the
// upstream's model.
const (
	ParkNone Park = iota
	ParkKey
	ParkUpstream
)

// Outcome is the verdict on an attempt with everything the engine needs to
// decide what follows. Package wire makes it from an upstream's answer.
type Outcome struct {
	Class  Class
	Kind   Kind
	Status int // HTTP status of the upstream, 0 = none

	Counts  Counts
	Park    Park
	Hint    time.Duration // delay that the answer named, unclamped
	HasHint bool

	RetrySame bool // the same upstream may be asked once more
	NextTier  bool // another tier may be asked

	// Param is the parameter that the upstream rejected by name, "" = none.
	Param string
	// Absent: the request would be the same without Param.
	Absent bool
	// NoStream: the upstream rejected streaming itself; ask it plainly.
	NoStream bool
	// Spare: the answer is whole enough to be delivered, marked, if no tier has
	// a better one (a truncated document, a refusal that was to go on).
	Spare bool
	// NoRescue: a committed stream cannot be taken over, because a tool call
	// had begun.
	NoRescue bool
	// OwnSchema: the answer is JSON and only breaks a schema that the call itself
	// brought.
	OwnSchema bool
	// Malformed counts events that were dropped because they were not the dialect.
	Malformed int
	// OnlyStream: the upstream rejected a plain body itself; ask it for a stream.
	OnlyStream bool
	// NotSent: this upstream cannot take the call at all, and nothing was sent.
	NotSent bool
	// Replayed counts transparent replays on a dead pooled connection.
	Replayed int
	// Message is the upstream's own explanation, for the caller only if Passthrough.
	Message string
	// Passthrough: Body is already an error in the caller's dialect and is
	// the caller's business.
	Passthrough bool
	Body        []byte

	// Tokens of the attempt as the upstream reported them, -1 = not reported.
	InputTokens, OutputTokens int
}

// Failed reports whether the outcome counts against a breaker.
func (o *Outcome) Failed() bool { return o.Counts != CountsNone }

// Reason is the word of the x-backstop-reason header: class, or class/kind.
func (o *Outcome) Reason() string {
	if o.Kind == "" || o.Class == OK {
		return o.Class.String()
	}
	return o.Class.String() + "/" + string(o.Kind)
}
