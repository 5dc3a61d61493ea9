package openai

// callBook knows which tool calls of a stream have begun. SDKs throw in the
// end on a call that has no name, and nobody could make it: what goes on with
// a call that never began is stray. They throw as well on one that does not say
// what it is, which some servers leave out: it is a function.
type callBook struct {
	kept  bool // by a reader, who sees every event; else nothing is stray
	begun []callAt
	sure  int    // so many of these began in an event that was whole
	stray []span // of the event at hand
	lists []span // the values that hold them
	bare  []span // begins of functions that do not say so
}

type callAt struct{ choice, index int }

// legacyCall stands for the one call of the form that came before tool calls.
const legacyCall = -1

// open turns to an event. What began in one that turned out to be malformed, and
// did not pass, has not begun.
func (k *callBook) open() {
	k.begun, k.stray, k.lists, k.bare = k.begun[:k.sure], k.stray[:0], k.lists[:0], k.bare[:0]
}

func (k *callBook) has(at callAt) bool {
	for _, b := range k.begun {
		if b == at {
			return true
		}
	}
	return false
}

// knows reports whether a piece of a call belongs to one that has begun, or
// begins one.
func (k *callBook) knows(b []byte, s span, at callAt) bool {
	if !k.kept {
		return true
	}
	if begins := beginsCall(b, s); !begins || k.has(at) || len(k.begun) == maxCalls {
		return begins || k.has(at)
	}
	k.begun = append(k.begun, at)
	if !member(b, s, "type").filled(b) && member(b, s, "function").is(b, '{') {
		k.bare = append(k.bare, s)
	}
	return true
}

// beginsCall reports whether a piece of a tool call may be its first: it has an
// id or a name, or says what it is and nothing to call a tool with.
func beginsCall(b []byte, s span) bool {
	f, c := member(b, s, "function"), member(b, s, "custom")
	return member(b, s, "id").filled(b) || namesCall(b, f) || namesCall(b, c) ||
		member(b, s, "type").filled(b) && !member(b, f, "arguments").filled(b) && !member(b, c, "input").filled(b)
}

// namesCall is beginsCall for what stands inside of it, or for a legacy call.
func namesCall(b []byte, f span) bool { return member(b, f, "name").filled(b) }

// readCalls takes in the tool calls of a choice, once its index is known.
func (c *chunk) readCalls(d *delta, list, legacy span) {
	before := len(c.book.stray)
	if list.is(c.b, '[') {
		place := 0
		for e := inArray(c.b, list); e.next(); place++ {
			at := callAt{d.index, place}
			if n, ok := integer(c.b, member(c.b, e.val, "index")); ok {
				at.index = n
			}
			if e.val.is(c.b, '{') && !c.book.knows(c.b, e.val, at) {
				c.book.stray = append(c.book.stray, e.val)
				continue
			}
			d.call(c.b, e.val)
		}
		if len(c.book.stray) > before {
			c.book.lists = append(c.book.lists, list)
		}
	}
	if legacy.is(c.b, '{') && c.book.kept {
		switch at := (callAt{d.index, legacyCall}); {
		case c.book.has(at):
		case namesCall(c.b, legacy):
			c.book.begun = append(c.book.begun, at)
		case member(c.b, legacy, "arguments").filled(c.b):
			c.book.stray, c.book.lists = append(c.book.stray, legacy), append(c.book.lists, legacy)
			return
		}
	}
	d.function(c.b, legacy)
}

func (d *delta) call(b []byte, s span) {
	if member(b, s, "id").filled(b) {
		d.token, d.said, d.tool = true, true, true
	}
	d.function(b, member(b, s, "function"))
	d.function(b, member(b, s, "custom"))
}

func (d *delta) function(b []byte, s span) {
	if !s.is(b, '{') {
		return
	}
	for m := inObject(b, s); m.next(); {
		if m.val.filled(b) {
			d.tool = true
			d.say(b, m.val)
		}
	}
}

// astray reports whether a piece of a tool call is of none that has begun.
func (c *chunk) astray(s span) bool {
	for _, x := range c.book.stray {
		if x == s {
			return true
		}
	}
	return false
}

// onlyStray reports whether an event has strays and nothing else to show.
func (c *chunk) onlyStray() bool {
	if len(c.book.stray) == 0 || c.usage.there() {
		return false
	}
	for i := range c.list {
		if d := &c.list[i]; d.token || d.role || d.finish.there() {
			return false
		}
	}
	return true
}

// straighten notes what goes out in place of the values that hold strays: those
// of their pieces that are none. Else begins get their type.
func (c *chunk) straighten(e *edits) {
	for _, s := range c.book.bare {
		switch kind := member(c.b, s, "type"); {
		case len(c.book.lists) > 0:
		case kind.there():
			e.replace(kind, `"function"`)
		default:
			e.insert(s.from+1, `"type":"function",`)
		}
	}
	for _, list := range c.book.lists {
		out := []byte{'['}
		for x := inArray(c.b, list); list.is(c.b, '[') && x.next(); {
			if !c.astray(x.val) {
				if len(out) > 1 {
					out = append(out, ',')
				}
				out = append(out, x.val.of(c.b)...)
			}
		}
		if len(out) == 1 {
			e.replace(list, "null")
			continue
		}
		e.replace(list, string(append(out, ']')))
	}
}
