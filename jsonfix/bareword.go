package jsonfix

// bareEnd finds the end of the bare token at m.pos, without blanks, and the
// glyph that stopped it: '"' for a closing quote without an opening one.
func (m *machine) bareEnd() (end int, stop glyph, v verdict) {
	end = m.pos
	member := m.phase == inMember
	for i := m.pos; i-m.pos < maxWord; {
		g, n := glyphAt(m.src, i)
		switch {
		case g == gEnd || g == gSplit:
			return end, gEnd, goOn
		case g.blank() && !member && i == end && m.scalars(i):
			return end, g, goOn
		case g == '\n' || g == ';' || g.closer() && (g != ')' || m.parenthesis()):
			return end, g, goOn
		case g == '{' || g == '[':
			if !member && i > end {
				return end, g, goOn
			}
			return 0, g, m.fail(m.placeholder(i), i, false)
		case g == ',':
			if !member {
				return end, g, goOn
			}
			switch a := m.bareComma(i, i+n, end); a {
			case more3:
				return end, gEnd, goOn
			case ambiguous:
				return 0, g, m.fail(AmbiguousNumber, i, true)
			case yes:
				return end, g, goOn
			}
		case g == '(' && i == end && m.callName(i):
			return i, g, goOn
		case i > end && (g == '#' || g == '/') && isComment(m.src, i):
			return end, g, goOn
		case g == '"':
			switch a := m.bareQuote(i, end); a {
			case more3:
				return end, gEnd, goOn
			case yes:
				return i, '"', goOn
			case joined:
				return end, ' ', goOn
			}
		}
		i += n
		if !g.blank() {
			end = i
		}
	}
	return 0, gEnd, m.fail(NotJSON, m.pos, false)
}

// scalars: the token of an array that ends at i is one, and so is what
// follows, so that only a comma is missing.
func (m *machine) scalars(i int) bool {
	if _, _, ok := respell(m.src[m.pos:i]); !ok {
		return false
	}
	at, _ := afterBlanks(m.src, i)
	end := at
	for end < len(m.src) && end-at < maxKey && (glyph(m.src[end]).word() || m.src[end] == '+') {
		end++
	}
	_, _, ok := respell(m.src[at:end])
	return ok
}

func isComment(src []byte, i int) bool {
	_, _, ok := commentAt(src, i)
	return ok
}

// placeholder is why a bracket inside bare text cannot be read: ${x} stands
// for a value that is not there.
func (m *machine) placeholder(i int) Reason {
	if i > 0 && m.src[i-1] == '$' {
		return NoValue
	}
	return NotJSON
}

// bareComma decides whether a comma in bare text ends it: yes if a member or
// the end follows; ambiguous if it stands between digits.
func (m *machine) bareComma(i, next, end int) answer {
	at, _ := afterNoise(m.src, next)
	g, _ := glyphAt(m.src, at)
	switch {
	case g == gEnd:
		return unknown(m.final)
	case g.closer() || g == ',' || g == gEllipsis || g == '"':
		return yes
	}
	a := keyAhead(m.src, at, m.final)
	if a == no && g.digit() {
		if _, _, ok := respell(m.src[m.pos:end]); ok && !(glyph(m.src[m.pos])).letter() {
			return ambiguous
		}
	}
	return a
}

// bareQuote decides about a quote in bare text: yes if it closes what lacks an
// opening quote, joined if it opens what comes next.
func (m *machine) bareQuote(i, end int) answer {
	m.text = text{role: m.roleHere(), quote: '"', high: -1}
	if m.phase == inMember {
		if a := keyAhead(m.src, i, m.final); a != no {
			if a == yes {
				return joined
			}
			return a
		}
	} else if i > end {
		return joined
	}
	a := m.ends(i + 1)
	if a == joined || a == ambiguous {
		return no
	}
	return a
}
