package sim

// wheel keeps events in slots of about a millisecond, with a list for each slot
// in the order of the events. Most slots of a run are empty and hardly one has
// more than a few events, so that to put one in and to find the next is a step
// or two. After its last slot begins the first one again: it has room for the
// events of the next 17 seconds.
type wheel struct {
	slots [wheelSlots]int32 // index of the first event in nodes, 0 = none
	nodes []node            // the first one is not used
	free  int32             // index of the first node without an event, 0 = none
	count int
	now   int64 // no event is earlier
	turn  int64 // number of a slot, from the start of the run; those before it are empty
}

const (
	wheelSlots = 1 << 14
	slotBits   = 20 // of the ns that a slot lasts
)

// node is an event in a list.
type node struct {
	event
	next int32
}

// put takes an event in, unless it is too far away.
func (w *wheel) put(e *event) bool {
	turn := e.at >> slotBits
	if turn-w.now>>slotBits >= wheelSlots {
		return false
	}
	if w.count == 0 || turn < w.turn {
		w.turn = turn
	}
	w.count++
	n := w.fresh()
	w.nodes[n].event = *e
	at := &w.slots[turn%wheelSlots]
	for *at != 0 && w.nodes[*at].before(e) {
		at = &w.nodes[*at].next
	}
	w.nodes[n].next, *at = *at, n
	return true
}

func (w *wheel) fresh() int32 {
	if n := w.free; n != 0 {
		w.free = w.nodes[n].next
		return n
	}
	if len(w.nodes) == 0 {
		w.nodes = make([]node, 1, 1024)
	}
	w.nodes = append(w.nodes, node{})
	return int32(len(w.nodes) - 1)
}

// first is the earliest event, nil if there is none.
func (w *wheel) first() *event {
	if w.count == 0 {
		return nil
	}
	for w.slots[w.turn%wheelSlots] == 0 {
		w.turn++
	}
	return &w.nodes[w.slots[w.turn%wheelSlots]].event
}

// take takes away what first has found.
func (w *wheel) take() {
	at := &w.slots[w.turn%wheelSlots]
	n := *at
	*at, w.nodes[n].next, w.free = w.nodes[n].next, w.free, n
	w.count--
}
