package backstop

import "time"

// AttemptID numbers the attempts of one call from 1; local tiers get numbers
// too. 0 stands for the call itself.
type AttemptID int

// StepKind says what the driver has to do.
type StepKind uint8

// The steps. Try, Drop and Serve are done once and followed by Next again;
// Wait ends at its time or at the next mark; Done ends the call.
const (
	Try StepKind = iota + 1
	Drop
	Wait
	Serve
	Done
)

// Step is an order of the engine to the driver.
type Step struct {
	Kind    StepKind
	Attempt AttemptID // Try, Drop, Serve; Done: the attempt that answered, 0 = none

	Tier     int       // index into the route's tiers: Try, Serve, Done
	Upstream *Upstream // Try
	Model    string    // Try: model name to send
	Key      int       // Try: index into Upstream.Keys, -1 = no credential
	Plain    bool      // Try: ask for one body although the upstream could stream
	Without  []string  // Try: parameters left out because the upstream rejected them by name
	Probe    bool      // Try: this attempt is the breaker's trial
	Retry    bool      // Try: second or later try at the same upstream
	Hedge    bool      // Try: beside the attempt that runs, which goes on; every other Try is made alone
	Reask    AttemptID // Try: ask again, with the violations of that attempt's answer
	Splice   bool      // Try: take over a stream that the caller has a part of
	Continue bool      // Try: with Splice, ask for the rest only, because the text diverged

	Until time.Time // Wait: zero = until the next mark

	Reason  string   // Serve: why no upstream answers, an outcome or refusal word
	Outcome *Outcome // Drop, Done: the verdict on the attempt, not to be changed; nil = there is none
	Failure *Failure // Done: nil = answered by Attempt
}

// MarkKind names something that happened to an attempt.
type MarkKind uint8

// The marks.
const (
	Dialed    MarkKind = iota + 1 // the connection stands
	FirstByte                     // response headers are here
	Progress                      // a meaningful token
	Committed                     // the first byte went to the caller
	Ended                         // the attempt is over, Outcome says how
	Left                          // the caller is gone (attempt 0)
	Seam                          // a rescuer's text has caught up with what the caller has
	Aborted                       // the process goes down now; the call ends with an error (attempt 0)
	Paused                        // the process stood still; clocks of this call start anew (attempt 0)
)

// Mark is what the driver saw.
type Mark struct {
	Kind    MarkKind
	Outcome Outcome // Ended; Progress: NoRescue alone, from now on the stream cannot be taken over
	Bytes   int     // Progress: content bytes, for the drip floor
}
