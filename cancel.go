package backstop

import (
	"slices"
	"sync"
	"time"
)

// maxCancels bounds the ledger; beyond it the oldest entries go.
const maxCancels = 256

// cancelLedger limits what impatient callers may do to a breaker: one counted
// cancel per caller and window, and up to the breaker's threshold when only
// one caller is there at all (engine.md 6).
type cancelLedger struct {
	mu      sync.Mutex
	entries []cancelEntry
}

type cancelEntry struct {
	caller string
	at     time.Time
}

// counts notes a late cancel and reports whether it counts as a failure.
func (l *cancelLedger) counts(now time.Time, caller string, window time.Duration, failures int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(e cancelEntry) bool { return now.Sub(e.at) > window })
	mine, others := 0, false
	for _, e := range l.entries {
		if e.caller == caller {
			mine++
		} else {
			others = true
		}
	}
	if mine > 0 && (others || mine >= failures) {
		return false
	}
	l.entries = appendLatest(l.entries, cancelEntry{caller, now}, maxCancels)
	return true
}

// appendLatest adds to a list of at most so many entries; of a full one the
// oldest goes.
func appendLatest[E any](list []E, e E, most int) []E {
	if len(list) >= most {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, e)
}
