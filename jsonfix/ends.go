package jsonfix

// ends decides whether a quote is the end of the string: only if what follows
// at i is legal structure there. What cannot be decided is text.
func (m *machine) ends(i int) answer {
	t := &m.text
	if t.role == roleRoot {
		return yes
	}
	at, line := afterNoise(m.src, i)
	g, n := glyphAt(m.src, at)
	switch {
	case g == gEnd || g == gSplit:
		return unknown(m.final)
	case g == '+':
		return m.joins(at + 1)
	case t.role == roleKey:
		return m.keyEnds(g, at > i, at)
	case g == ',' || g == ';':
		return m.commaEnds(at+n, n > 1)
	case g.closer():
		return m.closersEnd(at)
	case line && fenceAt(m.src, at) > 0, has(m.src, at, "<|") && t.pairs == 0:
		return yes
	case at == i || t.pairs > 0:
		return no
	case line && g.letter() && m.paragraph(i, at):
		return unknown(m.final)
	case t.role == roleMember && (line || g.quote()):
		if t.inner > 0 && !line {
			return no
		}
		return memberAhead(m.src, at, m.final)
	case t.role == roleItem && g.quote():
		next, _ := glyphAt(m.src, at+n)
		if next == gEnd && !m.final {
			return more3
		}
		if next.blank() || next == ',' || next.closer() {
			return no
		}
		return yes
	case t.role == roleItem && line && (g == '{' || g == '['):
		return yes
	case t.role == roleItem && line:
		return scalarAlone(m.src, at, m.final)
	}
	return no
}

// keyEnds: hardly anything but a letter shows that a key goes on.
func (m *machine) keyEnds(g glyph, apart bool, at int) answer {
	t := &m.text
	switch {
	case g == ':' || g == '=' || g == '-' && has(m.src, at, "->"):
		return yes
	case t.pairs > 0 || t.colon > 0:
		return no
	case g == ',' || g == ';' || g.closer() || g == '{' || g == '[':
		return yes
	case apart && (g.quote() || g.digit() || g == '-' || literalAhead(m.src, at)):
		return yes
	}
	return no
}

// paragraph: an empty line stands before i, and behind it nothing that could
// belong to a document: a last paragraph of prose.
func (m *machine) paragraph(from, i int) bool {
	lines := 0
	for _, c := range m.src[from:i] {
		if c == '\n' {
			lines++
		}
	}
	return lines >= 2 && plainRest(m.src, i)
}

// plainRest: a short rest without brackets and quotes, that is no member.
func plainRest(src []byte, i int) bool {
	g, _ := glyphAt(src, i)
	if len(src)-i > maxWord || g.quote() && keyAhead(src, i, true) == yes {
		return false
	}
	for k, c := range src[i:] {
		switch {
		case c == '{' || c == '}' || c == '[' || c == ']' || c == '"':
			return false
		case c == 0xef:
			if g, _ := glyphAt(src, i+k); g == '{' || g.closer() || g == '[' {
				return false
			}
		}
	}
	return true
}

// joins: a string follows the plus sign.
func (m *machine) joins(i int) answer {
	at, _ := afterBlanks(m.src, i)
	switch g, _ := glyphAt(m.src, at); {
	case g == gEnd && !m.final:
		return more3
	case g.quote():
		return joined
	}
	return no
}

// commaEnds: behind the comma before i must come what may follow one. A
// full-width comma may as well belong to the text.
func (m *machine) commaEnds(i int, wide bool) answer {
	t := &m.text
	for {
		at, _ := afterNoise(m.src, i)
		g, n := glyphAt(m.src, at)
		switch {
		case g == gEnd || g == gSplit:
			return unknown(m.final)
		case g == ',' && t.pairs == 0:
			i = at + n
			continue
		case g.closer():
			return m.closersEnd(at)
		case g == gEllipsis:
			return yes
		case t.role == roleItem:
			if t.pairs > 0 {
				return no
			}
			return valueAhead(m.src, at, m.final)
		}
		a := keyAhead(m.src, at, m.final)
		if a == yes && !g.quote() && !(m.bareKeys && t.pairs == 0) {
			a = memberAhead(m.src, at, m.final)
			if at+maxKey > len(m.src) && a == yes && colonIn(m.src, at) < 0 && !(t.pairs == 0 && wordsOnly(m.src, at, len(m.src))) {
				a = no
			}
		}
		if a == no && g.quote() && t.inner == 0 {
			return m.listed(at)
		}
		return a
	}
}

// colonIn is the offset of a colon in the rest of a short text, or -1.
func colonIn(src []byte, i int) int {
	for ; i < len(src); i++ {
		if g, _ := glyphAt(src, i); g == ':' || g == '=' {
			return i
		}
	}
	return -1
}

// listed: a second string follows where a member was due. With its own value
// it lacks a colon; with a comma behind it, it is a list without brackets.
func (m *machine) listed(at int) answer {
	end, a := quotedEnd(m.src, at, m.final)
	if a != yes || end < 0 {
		return a
	}
	next, _ := afterBlanks(m.src, end)
	switch g, _ := glyphAt(m.src, next); {
	case g == gEnd:
		return unknown(m.final)
	case g.digit() || g == '{' || g == '[' || g.quote() && next > end && m.noted(MissingColon):
		return yes
	case g == ',' || g == '}':
		return ambiguous
	}
	return no
}

func (m *machine) noted(code Code) bool {
	for _, x := range m.list() {
		if x.Code == code {
			return true
		}
	}
	return false
}

// closersEnd: the closers at i must fit the nesting, and what follows them
// must fit what is left of it.
func (m *machine) closersEnd(i int) answer {
	depth := m.depth
	if g, _ := glyphAt(m.src, i); (g == '}') != m.object() && g != ')' && !m.below(g == '}') {
		return m.lastClosers(i)
	}
	for depth > 0 {
		at, _ := afterNoise(m.src, i)
		g, n := glyphAt(m.src, at)
		if !g.closer() {
			break
		}
		depth--
		i = at + n
	}
	at, line := afterNoise(m.src, i)
	g, n := glyphAt(m.src, at)
	switch {
	case g == gEnd || g == gSplit:
		return unknown(m.final)
	case depth == 0 && g == ',':
		return m.rootComma(at + n)
	case depth == 0:
		if g == '"' && at == i {
			return no
		}
		return yes
	case g == ',' || g == ';':
		if m.objectAt(depth) {
			return m.afterComma(at + n)
		}
		return valueOrCloser(m.src, at+n, m.final)
	case g.closer(), line && fenceAt(m.src, at) > 0:
		return yes
	case m.objectAt(depth) && (line || at > i):
		return keyAhead(m.src, at, m.final)
	case !m.objectAt(depth) && (g == '{' || g == '['), !m.objectAt(depth) && line && g.quote():
		return yes
	case !m.objectAt(depth) && line:
		return scalarAlone(m.src, at, m.final)
	}
	return no
}

// lastClosers: src ends with the closers at i, and they are as many as are
// owed: one of the wrong kind is a slip, and no text that was cut.
func (m *machine) lastClosers(i int) answer {
	for n := 0; n <= m.depth; n++ {
		at, _ := afterNoise(m.src, i)
		g, width := glyphAt(m.src, at)
		if g == gEnd && (n == m.depth || !m.final) {
			return unknown(m.final)
		}
		if !g.closer() {
			return no
		}
		i = at + width
	}
	return no
}

// below reports whether a container of a kind is open under the innermost.
func (m *machine) below(object bool) bool {
	for d := m.depth - 1; d > 0; d-- {
		if m.objectAt(d) == object {
			return true
		}
	}
	return false
}

func (m *machine) afterComma(i int) answer {
	at, _ := afterNoise(m.src, i)
	if g, _ := glyphAt(m.src, at); g.closer() || g == ',' || g == gEllipsis {
		return yes
	}
	return keyAhead(m.src, at, m.final)
}

func valueOrCloser(src []byte, i int, final bool) answer {
	at, _ := afterNoise(src, i)
	if g, _ := glyphAt(src, at); g.closer() || g == ',' || g == '(' || g == gEllipsis {
		return yes
	}
	return valueAhead(src, at, final)
}

// rootComma: behind the root only another document or a member may follow.
func (m *machine) rootComma(i int) answer {
	at, _ := afterNoise(m.src, i)
	g, _ := glyphAt(m.src, at)
	if g == '{' || g == '[' || g.closer() {
		return yes
	}
	return keyAhead(m.src, at, m.final)
}

// fenceAt is the length of a Markdown fence at i, or 0.
func fenceAt(src []byte, i int) int {
	if i >= len(src) || src[i] != '`' && src[i] != '~' {
		return 0
	}
	n := i
	for n < len(src) && src[n] == src[i] {
		n++
	}
	if n-i < 3 {
		return 0
	}
	return n - i
}
