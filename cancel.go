package backstop

import (
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
	kept := l.entries[:0]
	mine, others := 0, false
	for _, e := range l.entries {
		if now.Sub(e.at) > window {
			continue
		}
		kept = append(kept, e)
		if e.caller == caller {
			mine++
		} else {
			others = true
		}
	}
	l.entries = kept
	if mine > 0 && (others || mine >= failures) {
		return false
	}
	if len(l.entries) >= maxCancels {
		copy(l.entries, l.entries[1:])
		l.entries = l.entries[:len(l.entries)-1]
	}
	l.entries = append(l.entries, cancelEntry{caller, now})
	return true
}
