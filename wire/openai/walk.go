package openai

// memberWalk walks an object: set b, i (behind the brace) and depth, call next
// until it is false, then end.
type memberWalk struct {
	b     []byte
	i     int
	depth int
	sure  bool // the bytes were checked before

	key span // with its quotes
	val span

	begun, closed bool
}

// inObject walks the object at s, which has been scanned before.
func inObject(b []byte, s span) memberWalk {
	return memberWalk{b: b, i: s.from + 1, sure: true}
}

// next moves to the next member. It is false at the closing brace and at the
// first byte that JSON does not allow; end tells them apart.
func (m *memberWalk) next() bool { return m.nextKey() && m.value() }

// nextKey moves to the next member as far as its value, whose first byte is at
// m.i: what follows is value, or a walk of its own and then leave.
func (m *memberWalk) nextKey() bool {
	if m.closed || m.i < 0 || m.depth >= maxDepth {
		return m.fail()
	}
	b, i := m.b, skipSpace(m.b, m.i)
	if i >= len(b) {
		return m.fail()
	}
	if b[i] == '}' {
		m.closed, m.i = true, i+1
		return false
	}
	if m.begun {
		if b[i] != ',' {
			return m.fail()
		}
		i = skipSpace(b, i+1)
	}
	m.begun = true
	if i >= len(b) || b[i] != '"' {
		return m.fail()
	}
	var end int
	if m.sure {
		end = passString(b, i)
	} else {
		end = skipString(b, i)
	}
	if end < 0 {
		return m.fail()
	}
	m.key = span{i, end}
	if i = skipSpace(b, end); i >= len(b) || b[i] != ':' {
		return m.fail()
	}
	if m.i = skipSpace(b, i+1); m.i >= len(b) {
		return m.fail()
	}
	return true
}

// value takes the whole value.
func (m *memberWalk) value() bool {
	if m.sure {
		return m.leave(passValue(m.b, m.i))
	}
	return m.leave(skipValue(m.b, m.i, m.depth+1))
}

// leave goes on behind the value, which ends at end, -1 = nowhere.
func (m *memberWalk) leave(end int) bool {
	if end < 0 {
		return m.fail()
	}
	m.val, m.i = span{m.i, end}, end
	return true
}

// at reports whether the value begins with c.
func (m *memberWalk) at(c byte) bool { return m.b[m.i] == c }

// object walks the value, which is one.
func (m *memberWalk) object() memberWalk {
	return memberWalk{b: m.b, i: m.i + 1, depth: m.depth + 1, sure: m.sure}
}

func (m *memberWalk) fail() bool {
	if !m.closed {
		m.i = -1
	}
	return false
}

// end is the index behind the closing brace, -1 if there is none.
func (m *memberWalk) end() int {
	if !m.closed {
		return -1
	}
	return m.i
}

// name is the key without quotes, decoded only if it has escapes.
func (m *memberWalk) name() []byte {
	return plain(m.key.inner(m.b))
}

// elementWalk walks an array in the same way.
type elementWalk struct {
	b     []byte
	i     int
	depth int
	sure  bool
	val   span

	begun, closed bool
}

// inArray walks the array at s, which has been scanned before.
func inArray(b []byte, s span) elementWalk {
	return elementWalk{b: b, i: s.from + 1, sure: true}
}

func (e *elementWalk) next() bool { return e.nextValue() && e.value() }

// nextValue moves to the next element, whose first byte is at e.i: what follows
// is value, or a walk of its own and then leave.
func (e *elementWalk) nextValue() bool {
	if e.closed || e.i < 0 || e.depth >= maxDepth {
		return e.fail()
	}
	b, i := e.b, skipSpace(e.b, e.i)
	if i >= len(b) {
		return e.fail()
	}
	if b[i] == ']' {
		e.closed, e.i = true, i+1
		return false
	}
	if e.begun {
		if b[i] != ',' {
			return e.fail()
		}
		i = skipSpace(b, i+1)
	}
	if e.begun, e.i = true, i; i >= len(b) {
		return e.fail()
	}
	return true
}

// value takes the whole element.
func (e *elementWalk) value() bool {
	if e.sure {
		return e.leave(passValue(e.b, e.i))
	}
	return e.leave(skipValue(e.b, e.i, e.depth+1))
}

// leave goes on behind the element, which ends at end, -1 = nowhere.
func (e *elementWalk) leave(end int) bool {
	if end < 0 {
		return e.fail()
	}
	e.val, e.i = span{e.i, end}, end
	return true
}

func (e *elementWalk) fail() bool {
	if !e.closed {
		e.i = -1
	}
	return false
}

func (e *elementWalk) end() int {
	if !e.closed {
		return -1
	}
	return e.i
}

// member finds a member of the object at s, the zero span if there is none.
// Of duplicates the last counts, as with encoding/json.
func member(b []byte, s span, name string) span {
	var found span
	if !s.is(b, '{') {
		return found
	}
	m := inObject(b, s)
	for m.next() {
		if string(m.name()) == name {
			found = m.val
		}
	}
	return found
}

// root scans a document that must be one object with nothing behind it.
func root(b []byte) (span, bool) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return span{}, false
	}
	end := skipValue(b, i, 0)
	if end < 0 || skipSpace(b, end) != len(b) {
		return span{}, false
	}
	return span{i, end}, true
}
