package backstop

import "time"

// Event is the record of one call: what was tried, how it ended and how long
// each part took. It never holds a body, a prompt, an answer or a key.
type Event struct {
	ID      string // request id
	Time    time.Time
	Route   string // the route's model pattern
	Asked   string // model name of the caller; not a metric label
	Caller  string
	Dialect Dialect
	Op      string // chat, completion, embedding, agent, or OpPass
	Stream  bool
	JSON    bool

	Tier      string // primary | backup | local; "" = none answered
	TierIndex int    // -1 = none answered
	Upstream  string // config name, "template" or "cache"
	Model     string
	Reason    string // why the primary did not answer, "" = it did
	Outcome   Class  // of the call
	Failure   *Failure
	Committed bool
	Truncated bool
	Rescued   string // spliced | continued | failed, "" = no stream broke
	Repaired  []string
	Dropped   []string
	Stale     time.Duration // age of a cached answer

	Attempts []AttemptRecord
	Skipped  []Skip // tiers that were refused without an attempt

	FirstToken time.Duration // accept to the first token of the answer, 0 = none
	Duration   time.Duration // accept to the last byte
	Upstreamed time.Duration // part of Duration spent waiting for the answering attempt
	Blocked    time.Duration // part of the rest spent in writes that waited for the caller
	Status     int           // HTTP status that the caller got

	InputTokens, OutputTokens int // as reported, -1 = not reported

	Trace Trace // where the call stands in a trace; the driver takes it over
}

// OpPass is the operation of what is no call: a request that went to one
// upstream as it was. No tier has answered it and it has no attempts.
const OpPass = "pass"

// Calls counts the upstream requests of the call.
func (e *Event) Calls() int { return len(e.Attempts) }

// AttemptRecord is one try at one upstream.
type AttemptRecord struct {
	ID         AttemptID
	Tier       int
	Upstream   string
	Model      string
	Key        int           // index, never the key
	Start      time.Duration // since the call was accepted
	FirstByte  time.Duration // since Start, 0 = none
	FirstToken time.Duration // since Start, 0 = none
	Duration   time.Duration
	Waited     time.Duration // backoff before it
	Gap        time.Duration // longest time between two tokens, 0 = fewer than two
	Probe      bool
	Retry      bool
	Hedge      bool // it began beside the attempt before it
	Replays    int
	Switched   bool    // its outcome switched the upstream's model to plain bodies until a reload
	Outcome    Outcome // Body and Message are cleared
}

// Skip is a tier that was passed over without a request.
type Skip struct {
	Tier     int
	Upstream string
	Why      string // open | parked | rate | full | context | deadline | dialect | model | budget
	Kind     Kind   // what it is parked for, parked only
	Status   int    // the status that parked it, 0 = unknown
	Until    time.Duration
	At       time.Duration // since the call was accepted
}

// Transition is a change of a breaker's state.
type Transition struct {
	Time     time.Time
	Upstream string
	Model    string // "" for the endpoint scope
	Scope    string // endpoint | model | quality | embed
	From, To string // closed | open | half-open | forced-open | forced-closed
	Cause    string // run | rate | hang | directed | probe | lease | forced | restored
	Gen      uint32
	Trial    bool // of a trial setting: nothing acted on it
}
