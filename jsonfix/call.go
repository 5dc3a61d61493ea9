package jsonfix

// wrappers are the calls of the MongoDB shell around one literal, which is
// the value.
var wrappers = []string{
	"ObjectId", "ObjectID", "ISODate", "NumberLong", "NumberInt", "NumberDecimal", "UUID", "new Date", "new ObjectId", "new ISODate",
}

// callName reports whether what stands between m.pos and i can be the name of
// a function.
func (m *machine) callName(i int) bool {
	if i == m.pos {
		return false
	}
	for _, c := range m.src[m.pos:i] {
		if c != '_' && c != '.' && c != '$' && c != ' ' && !isDigit(c) && c|0x20-'a' > 25 {
			return false
		}
	}
	name := m.src[m.pos:i]
	g, _ := glyphAt(name, 0)
	if !g.letter() {
		return false
	}
	for k, c := range name {
		if c == ' ' && string(name[:k]) != "new" {
			return false
		}
	}
	return true
}

// callAt: src[from:end] is a name with a parenthesis directly behind it.
func (m *machine) callAt(from, end int) bool {
	if end < len(m.src) && m.src[end] == '(' {
		return m.callName(end)
	}
	for i := from; i < end; i++ {
		if m.src[i] == '(' {
			return m.callName(i)
		}
	}
	return false
}

// readCall unwraps a known call around one literal. Any other has a value
// that only running it would give.
func (m *machine) readCall(from, end int) verdict {
	name := string(m.src[from:end])
	known := false
	for _, w := range wrappers {
		known = known || w == name
	}
	if !known {
		return m.fail(NoValue, from, true)
	}
	at, _ := afterBlanks(m.src, end+1)
	stop := literalEnd(m.src, at)
	behind, _ := afterBlanks(m.src, max(stop, 0))
	if !m.final && (stop < 0 || behind >= len(m.src)) && len(m.src)-from < maxKey {
		return more
	}
	if stop < 0 && m.final && len(m.src)-at < maxKey && balanceEnds(m.src[at:]) {
		return m.cutHere(from)
	}
	if stop < 0 || behind >= len(m.src) || m.src[behind] != ')' {
		return m.fail(NoValue, from, true)
	}
	m.note(Wrapper, from)
	m.edit(from, at, "")
	if m.src[at] == '\'' {
		m.edit(at, at+1, `"`)
		m.edit(stop-1, stop, `"`)
	}
	m.edit(stop, behind+1, "")
	m.pos = behind + 1
	return m.done()
}

// balanceEnds: no parenthesis closes in the rest.
func balanceEnds(rest []byte) bool {
	for _, c := range rest {
		if c == ')' {
			return false
		}
	}
	return true
}

// literalEnd is the offset behind the string or number at i, or -1.
func literalEnd(src []byte, i int) int {
	if i >= len(src) {
		return -1
	}
	switch c := src[i]; {
	case c == '"':
		return stringEnd(src, i+1)
	case c == '\'':
		for k := i + 1; k < len(src) && k-i < maxKey; k++ {
			switch src[k] {
			case '\'':
				return k + 1
			case '"', '\\', '\n':
				return -1
			}
		}
		return -1
	case c == '-' || isDigit(c):
		return numberEnd(src, i)
	}
	return -1
}
