package jsonfix

import "bytes"

// skipNoise passes blanks, which stay, and characters and comments without
// meaning, which go. It is false when src ends inside one of them and more is
// to come.
func (m *machine) skipNoise() bool {
	for m.pos < len(m.src) {
		if m.comment != 0 {
			if !m.skipComment() {
				return m.final
			}
			continue
		}
		c := m.src[m.pos]
		if c > ' ' && c < 0x7f && c != '/' && c != '#' {
			return true
		}
		g, n := glyphAt(m.src, m.pos)
		switch {
		case g == gNoise:
			m.once(Invisible, m.pos)
			m.edit(m.pos, m.pos+n, "")
		case g.blank():
		case g == gSplit:
			return m.final
		case g == '#' && !m.hashComment(), g != '/' && g != '#':
			return true
		default:
			kind, width, ok := commentAt(m.src, m.pos)
			if !ok {
				if m.pos+1 < len(m.src) {
					return true
				}
				if m.final { // half of what begins a comment
					m.edit(m.pos, m.pos+1, "")
					m.pos++
				}
				return m.final
			}
			m.note(Comment, m.pos)
			if at, _ := afterBlanks(m.src, m.pos+width); m.pos > m.start {
				if e, _ := glyphAt(m.src, at); e == gEllipsis { // "// ... and so on"
					m.note(Ellipsis, at)
					m.ellipses = true
				}
			}
			m.comment = kind
			n = width
			m.edit(m.pos, m.pos+n, "")
		}
		m.pos += n
	}
	return true
}

// hashComment: where a value is due, # with a word behind it is a value, such
// as a colour.
func (m *machine) hashComment() bool {
	if m.phase != inMember && m.phase != inItem || m.pos+1 >= len(m.src) {
		return true
	}
	g, _ := glyphAt(m.src, m.pos+1)
	return !g.letter() && !g.digit()
}

// skipComment drops the comment that m.pos is in; false if src ends first.
func (m *machine) skipComment() bool {
	end := commentEnd(m.src, m.pos, m.comment)
	if end < 0 {
		end = len(m.src)
		if m.comment == '*' && end > m.pos && !m.final {
			end-- // the star of the closing mark may be there already
		}
		m.edit(m.pos, end, "")
		m.pos = end
		return false
	}
	m.edit(m.pos, end, "")
	m.pos, m.comment = end, 0
	return true
}

// commentAt reports a comment that begins at i and the width of its opener.
func commentAt(src []byte, i int) (kind byte, width int, ok bool) {
	switch {
	case has(src, i, "//"):
		return '/', 2, true
	case has(src, i, "/*"):
		return '*', 2, true
	case has(src, i, "#"):
		return '#', 1, true
	}
	return 0, 0, false
}

// commentEnd is the offset behind a comment, before its line break, or -1.
func commentEnd(src []byte, i int, kind byte) int {
	if kind == '*' {
		if n := bytes.Index(src[i:], []byte("*/")); n >= 0 {
			return i + n + 2
		}
		return -1
	}
	if n := bytes.IndexByte(src[i:], '\n'); n >= 0 {
		return i + n
	}
	return -1
}
