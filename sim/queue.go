package sim

// kind says what an event is.
type kind uint8

const (
	onArrival  kind = iota // the next call comes in
	onTimer                // the engine wanted to look at a call again
	onPatience             // a caller gives up
	onFault                // a fault begins or ends
	lined                  // the kinds before this one are put in lines

	onHead   // response headers of an attempt
	onToken  // first meaningful token of an attempt
	onBeat   // tokens are flowing
	onEnd    // an attempt is over
	onWake   // a breaker opened under a call
	onAgain  // a caller tries again
	onProber // a replica looks for probes that are due
	onProbe  // something happened to a background probe
)

// event is something that will happen. Events at the same instant happen in
// the order in which they were planned.
type event struct {
	at   int64 // ns since the start
	seq  uint64
	kind kind
	n    int32 // which fault, which replica, which version of a run or a play
	run  *run
	play *play
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// queue is what will happen, in three kinds of places. Where an event stands
// does not change when it happens, only what it costs to find it: that is a good
// part of what a run costs.
//
// Kinds of events that are planned in the order of their times, such as the
// ends of callers' patience, stand in lines. Others lie in a wheel, which has no
// room for a distant future. What neither takes is put into a heap.
type queue struct {
	lines [lined]line
	wheel wheel
	heap  heap
	seq   uint64
}

// push plans an event, not earlier than the latest one taken.
func (q *queue) push(e event) {
	q.seq++
	e.seq = q.seq
	if e.kind < lined && q.lines[e.kind].append(&e) || q.wheel.put(&e) {
		return
	}
	q.heap.push(&e)
}

// next takes the earliest event.
func (q *queue) next() (event, bool) {
	first, from := q.wheel.first(), (*line)(nil)
	inHeap := len(q.heap) > 0 && (first == nil || q.heap[0].before(first))
	if inHeap {
		first = &q.heap[0]
	}
	for i := range q.lines {
		l := &q.lines[i]
		if l.head < len(l.list) && (first == nil || l.list[l.head].before(first)) {
			first, from = &l.list[l.head], l
		}
	}
	if first == nil {
		return event{}, false
	}
	e := *first
	switch {
	case from != nil:
		from.head++
	case inHeap:
		q.heap.pop()
	default:
		q.wheel.take()
	}
	q.wheel.now = e.at
	return e, true
}

// line is a queue of events that were planned in the order of their times.
type line struct {
	list []event
	head int
}

// append puts an event at the end, unless it belongs before the last one.
func (l *line) append(e *event) bool {
	switch n := len(l.list); {
	case l.head == n:
		l.list, l.head = l.list[:0], 0
	case e.at < l.list[n-1].at:
		return false
	case n == cap(l.list) && l.head > n/2:
		l.list, l.head = l.list[:copy(l.list, l.list[l.head:])], 0
	}
	l.list = append(l.list, *e)
	return true
}
