package follow

// Ends follows the answers in a stream, of which there may be several beside
// each other: which have begun, and which have ended.
//
// A finish reason proves the end of an answer as long as nothing comes behind
// it. Some upstreams write one with every event; theirs prove nothing, and only
// a stream that is over in order is whole.
type Ends struct {
	asked  int // so many answers were asked for
	list   []end
	goesOn bool // an answer went on behind its finish reason
}

type end struct {
	index int
	here  bool
}

// Begin notes that something was heard of an answer.
func (e *Ends) Begin(index int) { e.of(index) }

// Speak notes that an answer brought something.
func (e *Ends) Speak(index int) {
	x := e.of(index)
	e.goesOn = e.goesOn || x.here
	x.here = false
}

// Finish notes the finish reason of an answer.
func (e *Ends) Finish(index int) { e.of(index).here = true }

// Whole reports whether all has been said: by each answer that began, and if
// the stream is not over in order by as many as were asked for.
func (e *Ends) Whole(clean bool) bool {
	for i := range e.list {
		if !e.list[i].here {
			return false
		}
	}
	return len(e.list) > 0 && (clean || !e.goesOn && len(e.list) >= e.asked)
}

// of finds what is known of an answer; a stream has few of them.
func (e *Ends) of(index int) *end {
	for i := range e.list {
		if e.list[i].index == index {
			return &e.list[i]
		}
	}
	e.list = append(e.list, end{index: index})
	return &e.list[len(e.list)-1]
}
