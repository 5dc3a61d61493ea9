package jsonfix

// missed sees whether the quote at i opens what comes next, because the
// string lacks its end: yes if it went back to there.
func (m *machine) missed(i, n int) answer {
	t := &m.text
	at := m.before(i)
	if at < 0 {
		return no
	}
	if t.role == roleMember && t.inner == 0 && !m.holdsJSON() {
		switch k := memberAhead(m.src, i, m.final); {
		case k == more3:
			return more3
		case k == yes:
			m.noteSplit(at)
			if m.splitHere() {
				return yes
			}
		}
	}
	t.heads++
	if !t.splits && t.role == roleItem {
		m.noteSplit(at)
	}
	return no
}

// holdsJSON: a string that begins like a document may well hold one, with its
// quotes not escaped.
func (m *machine) holdsJSON() bool {
	at, _ := afterBlanks(m.src, m.text.begin)
	return at < len(m.src) && (m.src[at] == '{' || m.src[at] == '[')
}

// before finds where a string ends if the quote at i opens the next one: in
// front of the comma or line break between them. -1 if there is neither.
func (m *machine) before(i int) int {
	k, line := i-1, false
	for k > m.text.begin && isBlank(m.src[k]) {
		line = line || m.src[k] == '\n'
		k--
	}
	switch {
	case k < m.text.begin:
		return -1
	case m.src[k] == ',':
		return k
	case k-2 >= m.text.begin && (has(m.src, k-2, "，") || has(m.src, k-2, "、")):
		return k - 2
	case line && k < i-1:
		return k + 1
	}
	return -1
}

func (m *machine) noteSplit(at int) {
	t := &m.text
	t.splits = true
	t.split = point{at: at}
}

// splitHere goes back to the remembered end. The text is read again from
// there, which the budget bounds.
func (m *machine) splitHere() bool {
	t := &m.text
	at := t.split.at
	again := m.pos - at
	if again > m.budget {
		t.splits = false
		return false
	}
	m.budget -= again
	if m.hiddenQuote(at) {
		// A path such as "C:\dir\" hides its closing quote.
		m.restart(at - 2)
		m.note(BadEscape, at-2)
		m.edit(at-2, at-2, `\`)
	} else {
		m.restart(at)
		m.note(MissingQuote, at)
		m.edit(at, at, `"`)
	}
	m.pos = at
	m.phase = inAfter
	m.done()
	return true
}

// hiddenQuote: directly before offset at stands an escaped quote.
func (m *machine) hiddenQuote(at int) bool {
	if at-2 < m.text.begin || m.src[at-1] != '"' {
		return false
	}
	n := 0
	for i := at - 2; i >= m.text.begin && m.src[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}

// restart undoes all that was done since the string opened, up to offset end,
// where it closes: the edits of its text are made again.
func (m *machine) restart(end int) {
	t := m.text
	m.undo(t)
	for m.pos < end {
		m.pos = min(t.plain(m.src, m.pos), end)
		if m.pos >= end {
			return
		}
		switch c := m.src[m.pos]; {
		case c < ' ':
			m.control(c)
		case c == '\\':
			m.readEscape()
		case c == '"':
			m.innerQuote()
		default:
			_, n := glyphAt(m.src, m.pos)
			m.pos += n
		}
	}
}

// undo takes the output back to the opening quote.
func (m *machine) undo(t text) {
	m.buf = m.buf[:min(len(m.buf), t.mark.size)]
	m.low = min(m.low, t.mark.size)
	m.from = t.mark.from
	m.report.forget(t.mark.notes)
	m.pos = t.begin
	m.text.escapes, m.text.marked = 0, false
}

// splitKey ends a key at its first colon: "name: "Bo" lacks a quote.
func (m *machine) splitKey() bool {
	t := m.text
	again := m.pos - t.colon
	if again > m.budget || m.wordKey(t.begin, t.colon) == no {
		return false
	}
	m.budget -= again
	end := t.colon
	m.undo(t)
	m.note(MissingQuote, end)
	m.edit(end, end, `"`)
	m.pos = end
	m.values++
	m.phase = inColon
	return true
}

// wordKey: the text src[i:j] is one that a key would have.
func (m *machine) wordKey(i, j int) answer {
	if j <= i || j-i > maxWord {
		return no
	}
	for i < j {
		g, n := glyphAt(m.src, i)
		if !g.word() && g != ' ' {
			return no
		}
		i += n
	}
	return yes
}
