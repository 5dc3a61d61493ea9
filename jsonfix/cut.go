package jsonfix

// cutHere ends the run where src ends inside the root. What has no value is
// dropped; number is the offset of a number that may go on, or -1.
func (m *machine) cutHere(number int) verdict {
	if !m.final {
		return more
	}
	behind := m.phase == inAfter
	code := Cut
	switch {
	case number >= 0:
		code = CutNumber
	case m.phase == inKey && m.pos > m.keyStart && m.keyStart > m.safe.at, m.phase == inColon, m.phase == inMember:
		code = CutMember
	}
	m.tailAt(number >= 0)
	if behind {
		m.flush(m.pos)
		m.from = len(m.src)
	} else {
		m.report.forget(m.safe.notes)
		m.back(len(m.src))
	}
	m.note(code, len(m.src))
	m.pos = len(m.src)
	return cut
}

// tailAt notes what was open at the cut.
func (m *machine) tailAt(number bool) {
	switch {
	case m.phase == inMember:
		m.tail, m.tailKey = tailKey, m.pendingKey()
	case m.phase == inItem && number:
		m.tail = tailItem
	}
}

// leave ends the run at m.pos, where the text goes over to something that is
// no JSON although the root is not closed.
func (m *machine) leave() verdict {
	at := m.pos
	m.tailAt(false)
	if m.phase != inAfter {
		m.report.forget(m.safe.notes)
		m.back(at)
	} else {
		m.flush(m.safe.at)
		m.from = max(m.from, at)
	}
	m.note(Cut, at)
	return cut
}

// foreign: at m.pos stands something that belongs to the text around the
// value: a fence, a mark of a chat template, or a last paragraph.
func (m *machine) foreign() bool {
	i := m.pos
	if fenceAt(m.src, i) > 0 || has(m.src, i, "<|") || has(m.src, i, "</") {
		return true
	}
	k, lines := i-1, 0
	for k >= m.start && isBlank(m.src[k]) {
		if m.src[k] == '\n' {
			lines++
		}
		k--
	}
	return lines >= 2 && m.values > 0 && plainRest(m.src, i)
}

// cutText ends the run inside a string, whose text ends at offset at.
func (m *machine) cutText(at int) verdict {
	t := &m.text
	if t.role == roleKey {
		m.phase = inKey
		m.pos = len(m.src)
		m.keyStart = t.open
		return m.cutHere(-1)
	}
	at = m.beforeFence(at)
	if t.high >= 0 && at == t.low {
		at = t.high
	}
	at = max(wholeCharacters(m.src, at), t.begin)
	m.edit(at, len(m.src), `"`)
	m.note(Cut, len(m.src))
	m.pos = len(m.src)
	m.values++
	m.tail = tailLast
	m.phase = inText
	return cut
}

// beforeFence leaves the closing fence out of a string that was cut inside it.
func (m *machine) beforeFence(at int) int {
	if m.fence.width == 0 || at < len(m.src) {
		return at
	}
	k := len(m.src)
	for k > m.text.begin && isBlank(m.src[k-1]) {
		k--
	}
	n := k
	for n > m.text.begin && m.src[n-1] == m.fence.mark {
		n--
	}
	if k-n < m.fence.width || n <= m.text.begin || m.src[n-1] != '\n' {
		return at
	}
	// The line break and the fence were escaped or copied already: do it again.
	m.restart(n - 1)
	return n - 1
}

// wholeCharacters steps back over a character that src ends inside of.
func wholeCharacters(src []byte, at int) int {
	for k := at - 1; k >= 0 && k >= at-4; k-- {
		if g, _ := glyphAt(src[:at], k); g == gSplit {
			return k
		}
		if src[k] < 0x80 || src[k] >= 0xc0 {
			break
		}
	}
	return at
}

// finish gives the repaired document after the run ended with whole or cut.
func (m *machine) finish(v verdict) []byte {
	if v == whole {
		if m.opened {
			m.flush(m.pos)
		}
		return m.output.taken(m.start, m.pos)
	}
	m.flush(m.from)
	if m.phase == inAfter || m.phase == inText {
		m.flush(m.pos)
	}
	m.where = pointerTo(m.buf, m.tail, m.tailKey)
	m.buf = m.nest.closers(m.buf)
	return m.buf
}
