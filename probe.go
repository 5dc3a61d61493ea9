package backstop

import "time"

// Probe is a background call that finds out whether an open upstream is back.
type Probe struct {
	ID       uint64
	Upstream *Upstream
	Model    string
	Scope    string // endpoint | model | quality | embed
	Key      int
	Stream   bool
	JSON     bool
	Embed    bool
	Limit    time.Duration // first meaningful token
	Lease    time.Duration // the whole probe; after it the result is void
}
