package jsonfix

// lean reads members and items as long as nothing is damaged but the marks
// around strings, the quotes of keys, colons, the commas between members and
// the case of literals. It decides
// nothing: where the steps of the machine would have to think it stops, in
// front of the member. So it is only a faster way to the same output.
func (m *machine) lean() {
	for clean := 0; clean < 16; {
		i := m.pos
		if m.phase == inAfter {
			i = skipBlanks(m.src, i)
			if i >= len(m.src) {
				return
			}
			switch c := m.src[i]; {
			case c == ',':
				i++
			case c == closerOf(m.object()) && m.depth > 1:
				m.pop()
				m.pos = i + 1
				m.settle(m.pos, m.report.n, false)
				continue
			case m.object() && m.leanAhead(i) > 0:
				if m.pos = i; m.foreign() {
					return
				}
				m.note(MissingComma, i)
				m.edit(i, i, ",")
				m.phase = inKey
			case c == '"' && !m.object():
				m.note(MissingComma, i)
				m.edit(i, i, ",")
				m.pos, m.phase = i, inItem
			default:
				return
			}
		}
		from := m.from
		if i = skipBlanks(m.src, i); !m.leanMember(i) {
			return
		}
		if clean++; m.from != from {
			clean = 0
		}
	}
	m.calm, m.tries = 0, 0 // sound again: the strict scanner is faster
}

// leanMember reads the member or item that begins at i; false if it needs
// thought, and then nothing has changed.
func (m *machine) leanMember(i int) bool {
	var key leanText
	object := m.object()
	if object {
		if key = leanKeyAt(m.src, i); key.end == 0 {
			return false
		}
		i = skipBlanks(m.src, key.end+colonAt(m.src, key.end))
	}
	if i >= len(m.src) {
		return false
	}
	text, end, word := leanText{}, 0, ""
	switch c := m.src[i]; {
	case c == '{' || c == '[':
		if m.depth >= MaxDepth {
			return false
		}
		m.leanKey(&key, object)
		m.pos = i
		m.open(1, c == '{', "")
		return true
	case tripled(m.src, i):
		return false
	default:
		if text = leanTextAt(m.src, i); text.end > 0 {
			end = text.end
		} else {
			end, word = leanScalar(m.src, i)
		}
	}
	if end == 0 || !m.leanEnd(end, text.end == 0) {
		return false
	}
	m.leanKey(&key, object)
	if text.end > 0 {
		m.leanMarks(&text)
	} else if word != "" {
		m.note(Literal, i)
		m.edit(i, end, word)
	}
	m.pos = end
	m.values++
	m.phase = inAfter
	m.settle(m.pos, m.report.n, false)
	return true
}

// leanKey writes a key and its colon.
func (m *machine) leanKey(key *leanText, object bool) {
	if !object {
		return
	}
	if key.from > key.open {
		m.leanMarks(key)
		m.values++
	} else {
		m.bareKeys = true
		m.note(UnquotedKey, key.open)
		m.edit(key.open, key.open, `"`)
		m.edit(key.end, key.end, `"`)
	}
	switch c := m.src[key.end]; c {
	case ':':
	case '=':
		m.note(Separator, key.end)
		m.edit(key.end, key.end+1, ":")
	default:
		m.once(FullWidth, key.end)
		m.edit(key.end, key.end+len("："), ":")
	}
}

// leanEnd reports whether what stands at i leaves no doubt that a value ended
// there: the next member or item, or closers that fit and then such a one.
// Behind a bare value without a comma only a plain quote is one.
func (m *machine) leanEnd(i int, bare bool) bool {
	depth, end := m.depth, i
	i = skipBlanks(m.src, i)
	for i < len(m.src) && depth > 0 && m.src[i] == closerOf(m.objectAt(depth)) {
		depth--
		end = i + 1
		i = skipBlanks(m.src, end)
	}
	if i >= len(m.src) || depth == 0 {
		return false
	}
	if m.src[i] != ',' {
		return i > end && (!bare || depth < m.depth || m.src[i] == '"') && m.leanNext(i, depth)
	}
	if i = skipBlanks(m.src, i+1); i >= len(m.src) {
		return false
	}
	if m.objectAt(depth) {
		return m.leanAhead(i) > 0
	}
	switch c := m.src[i]; c {
	case '"', '\'', '`', '{', '[', '-':
		return true
	default:
		return isDigit(c) || closingMark(m.src, i) != ""
	}
}

// leanNext reports whether what stands at i, behind a blank, is plainly the
// next member or item of the container at a depth, so that a comma is missing.
func (m *machine) leanNext(i, depth int) bool {
	if m.objectAt(depth) {
		next := m.leanAhead(i)
		return next > 0 && valueAhead(m.src, next, true) == yes
	}
	if depth < m.depth || m.src[i] != '"' {
		return false
	}
	g, _ := glyphAt(m.src, i+1)
	return g.letter() || g.digit()
}

// leanAhead is the offset behind the key and colon at i, or 0.
func (m *machine) leanAhead(i int) int {
	closing, k := "", i
	switch c := m.src[i]; {
	case c == '"' || c == '\'' || c == '`':
		closing, k = string(m.src[i:i+1]), i+1
	case c == 0xe2 || c == 0xef:
		if closing = closingMark(m.src, i); closing == "" {
			return 0
		}
		k = i + len(closing)
	case !m.bareKeys:
		return 0
	}
	from := k
	for k < len(m.src) && k-i < maxKey && m.src[k] < 0x80 && glyph(m.src[k]).word() {
		k++
	}
	if !has(m.src, k, closing) || closing == "" && (k == from || !has(m.src, k, ":")) {
		return 0
	}
	k += len(closing)
	if n := colonAt(m.src, k); n > 0 {
		return k + n
	}
	return 0
}
