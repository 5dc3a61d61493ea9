package sim

// kind says what an event is.
type kind uint8

const (
	onArrival  kind = iota // the next call comes in
	onHead                 // response headers of an attempt
	onToken                // first meaningful token of an attempt
	onBeat                 // tokens are flowing
	onEnd                  // an attempt is over
	onTimer                // the engine wanted to look at a call again
	onWake                 // a breaker opened under a call
	onPatience             // a caller gives up
	onAgain                // a caller tries again
	onFault                // a fault begins or ends
	onProber               // a replica looks for probes that are due
	onProbe                // something happened to a background probe
)

// event is something that will happen. Events at the same instant happen in
// the order in which they were planned.
type event struct {
	at   int64 // ns since the start
	seq  uint64
	kind kind
	n    int32 // which fault, which replica, which version of a play
	run  *run
	play *play
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// queue is a heap of events with four children to a node: flatter than two,
// and a node's children share a line or two of the cache. Beside it stands a
// line for events that are planned in their own order, such as the ends of
// callers' patience, which would only fill the heap.
type queue struct {
	heap []event
	line []event
	head int // of the line
	seq  uint64
}

// append plans an event that is not earlier than those appended before.
func (q *queue) append(e event) {
	q.seq++
	e.seq = q.seq
	if q.head > 1024 && q.head > len(q.line)/2 {
		n := copy(q.line, q.line[q.head:])
		clear(q.line[n:])
		q.line, q.head = q.line[:n], 0
	}
	q.line = append(q.line, e)
}

// next takes the earliest event.
func (q *queue) next() (event, bool) {
	if q.head < len(q.line) && (len(q.heap) == 0 || q.line[q.head].before(&q.heap[0])) {
		e := q.line[q.head]
		q.line[q.head] = event{}
		q.head++
		return e, true
	}
	return q.pop()
}

func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	q.heap = append(q.heap, e)
	h := q.heap
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
}

func (q *queue) pop() (event, bool) {
	h := q.heap
	if len(h) == 0 {
		return event{}, false
	}
	top, last := h[0], h[len(h)-1]
	h[len(h)-1] = event{} // lets go of the call
	h = h[:len(h)-1]
	q.heap = h
	if len(h) == 0 {
		return top, true
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&last) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = last
	return top, true
}
