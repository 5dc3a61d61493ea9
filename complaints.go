package backstop

import (
	"slices"
	"sync"
	"time"
)

// maxComplaints bounds the ledger; beyond it the oldest go.
const maxComplaints = 256

// complaintLedger limits what a schema that calls bring themselves may do to
// the quality breaker of a model: nothing may satisfy it, and that would be the
// model's fault with everybody. As long as others ask the model for JSON too,
// the complaints of one caller, and those from one schema, count no oftener
// than those of all others within the window, and once more. Whoever is alone
// harms nobody else, and counts.
type complaintLedger struct {
	mu      sync.Mutex
	callers lastTwo
	schemas lastTwo
	entries []complaint
}

type complaint struct {
	caller, schema uint64
	at             time.Time
}

// heard notes that a call asks the model for JSON, whether it is let in or not:
// behind a breaker that is open others are still there.
func (l *complaintLedger) heard(now time.Time, caller, schema uint64) {
	l.mu.Lock()
	l.callers.note(now, caller)
	l.schemas.note(now, schema)
	l.mu.Unlock()
}

// counts notes an answer that is not the promised JSON and reports whether it
// is evidence. Own says that it breaks a schema of the call's and nothing else.
func (l *complaintLedger) counts(now time.Time, caller, schema uint64, own bool, window time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(e complaint) bool { return now.Sub(e.at) > window })
	ofCaller, ofSchema := 0, 0
	for _, e := range l.entries {
		if e.caller == caller {
			ofCaller++
		}
		if e.schema == schema {
			ofSchema++
		}
	}
	if own && (l.callers.others(now, caller, window) && 2*ofCaller > len(l.entries) ||
		l.schemas.others(now, schema, window) && 2*ofSchema > len(l.entries)) {
		return false
	}
	l.entries = appendLatest(l.entries, complaint{caller, schema, now}, maxComplaints)
	return true
}

// lastTwo are the two names that were seen last, so one of them is not one's own.
type lastTwo [2]struct {
	name uint64
	at   time.Time
}

func (l *lastTwo) note(now time.Time, name uint64) {
	if l[0].name != name {
		l[1] = l[0]
	}
	l[0].name, l[0].at = name, now
}

// others reports whether anybody else was seen within the window.
func (l *lastTwo) others(now time.Time, name uint64, window time.Duration) bool {
	for _, x := range l {
		if x.name != name && !x.at.IsZero() && now.Sub(x.at) <= window {
			return true
		}
	}
	return false
}
