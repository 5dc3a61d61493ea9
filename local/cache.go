package local

import (
	"time"

	"backstop"
	"backstop/wire"
)

// Cache keeps the last good answers of a route. An implementation is bounded
// in bytes (see [Entry.Size]) and safe for concurrent use; losing an entry is
// never an error.
type Cache interface {
	Get(key Key) (Entry, bool)
	Put(key Key, e Entry)
}

// Entry is a whole good answer: the plain body in the caller's dialect, also
// if it was streamed. It is read-only once stored.
type Entry struct {
	Body   []byte
	Model  string // that gave the answer
	Stored time.Time
}

// Size is what the entry costs a store, in bytes.
func (e Entry) Size() int { return len(e.Body) + len(e.Model) + entryOverhead }

// entryOverhead is about what a store needs for key, time and bookkeeping.
const entryOverhead = 160

// Fresh reports whether an entry may still be served: it is younger than age,
// and not from the future by more than a clock's error. age 0 means never.
func Fresh(e Entry, now time.Time, age time.Duration) bool {
	d := now.Sub(e.Stored)
	return len(e.Body) > 0 && d < age && d > -clockError
}

const clockError = time.Minute

// Stale is the age that a served answer is marked with, in whole seconds, at
// least one: an answer from the cache is never unmarked.
func Stale(e Entry, now time.Time) int {
	return int(max(now.Sub(e.Stored), time.Second) / time.Second)
}

// Keeps reports whether an answer may be stored for later: only one that was
// judged good as a whole, and only for requests that leave nothing behind at
// the vendor.
func Keeps(r *wire.Request, o *backstop.Outcome) bool {
	return o.Class == backstop.OK && !r.Stored && r.Op != ""
}
