package jsonfix

import (
	"encoding/binary"
	"math/bits"
)

// role is what a string is for: it decides what may follow its end.
type role uint8

const (
	roleRoot role = iota
	roleKey
	roleMember
	roleItem
)

// text is the state inside a string.
type text struct {
	role    role
	open    int   // offset of the opening quote
	quote   glyph // of the opening quote
	wide    bool  // which is full-width
	close   int   // width of a closing mark of three quotes, else 0
	begin   int   // offset of the first character
	nest    int   // typographic pairs that are open inside
	pairs   int   // plain quotes inside that look like openers and are not closed yet
	inner   int   // plain quotes inside
	heads   int   // those of them that stand behind a comma or line break
	split   point // where the string ends if its closing quote is missing
	splits  bool
	colon   int // in a key: offset of the first colon, 0 = none
	escapes int // unknown escapes so far
	high    int // offset of a high surrogate escape that waits for its other half, or -1
	low     int // offset behind it
	marked  bool
	mark    point // the output at begin
}

// beginText enters a string whose opening quote is at m.pos.
func (m *machine) beginText(r role, g glyph, n int) verdict {
	m.text = text{role: r, open: m.pos, quote: g, wide: g < 0x80 && n > 1, high: -1}
	t := &m.text
	if (g == '"' || g == '\'') && n == 1 && r != roleKey && tripled(m.src, m.pos) && !m.emptyText(r) {
		t.close = 3
		n = 3
		m.note(TripleQuote, m.pos)
	} else {
		m.noteQuote(g, n)
	}
	if g != '"' || n != 1 {
		m.edit(m.pos, m.pos+n, `"`)
	}
	m.pos += n
	t.begin, t.mark = m.pos, m.here()
	m.phase = inText
	return goOn
}

func (m *machine) noteQuote(g glyph, n int) {
	switch {
	case g == gSmart || g == gSmartOne || g == gCorner:
		m.once(SmartQuote, m.pos)
	case n > 1:
		m.once(FullWidth, m.pos)
	case g != '"':
		m.once(SingleQuote, m.pos)
	}
}

// tripled reports three equal quotes at i.
func tripled(src []byte, i int) bool {
	return i+2 < len(src) && src[i+1] == src[i] && src[i+2] == src[i]
}

// emptyText: "" and then a quote that opens the next key or item.
func (m *machine) emptyText(r role) bool {
	return r == roleMember && keyAhead(m.src, m.pos+2, m.final) == yes
}

// readText goes on inside a string.
func (m *machine) readText() verdict {
	t := &m.text
	for {
		m.pos = t.plain(m.src, m.pos)
		if m.pos >= len(m.src) {
			return m.textEnds()
		}
		v := goOn
		switch c := m.src[m.pos]; {
		case c == '\\':
			v = m.readEscape()
		case c < ' ':
			m.control(c)
		case c == ':':
			if t.role == roleKey && t.colon == 0 {
				t.colon = m.pos
			}
			m.pos++
		default:
			v = m.readMark()
		}
		if v != goOn || m.phase != inText {
			return v
		}
	}
}

// plain skips what is the same inside this string.
func (t *text) plain(src []byte, i int) int {
	if t.wide {
		return plain(src, i, gEnd)
	}
	return plain(src, i, t.quote)
}

// plain skips what is the same inside any string: everything but quotes,
// backslashes, control characters, and the lead bytes of typographic quotes.
// A colon stops it too, unless eight bytes without a stop hide it from a key
// that does not ask.
func plain(src []byte, i int, quote glyph) int {
	if quote == '"' {
		for i+8 <= len(src) {
			w := binary.LittleEndian.Uint64(src[i:])
			lead, colon := w^(lowBits*0xe2), w^(lowBits*':')
			m := special(w) | ((lead-lowBits)&^lead|(colon-lowBits)&^colon)&highBits
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
	}
	for i < len(src) {
		switch c := src[i]; {
		case c < ' ' || c == '"' || c == '\\' || c == ':' || c == 0xe2:
			return i
		case quote != '"' && (c == '\'' || c == '`' || c == 0xe3 || c == 0xef):
			return i
		}
		i++
	}
	return i
}

// control escapes a raw control character.
func (m *machine) control(c byte) {
	if !m.text.marked {
		m.text.marked = true
		m.note(ControlCharacter, m.pos)
	}
	m.edit(m.pos, m.pos+1, controlEscape(c))
	m.pos++
}

func controlEscape(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	}
	const hex = "0123456789abcdef"
	return string([]byte{'\\', 'u', '0', '0', hex[c>>4], hex[c&15]})
}

// readEscape is at a backslash.
func (m *machine) readEscape() verdict {
	t := &m.text
	i := m.pos
	n := escapeWidth(m.src, i)
	if n == 0 {
		if m.final {
			m.pos = len(m.src)
			return m.cutText(i)
		}
		return more
	}
	if n == 6 {
		m.surrogate(i)
	}
	if n == 2 && m.src[i+1] == '"' && t.escapes > 0 && t.quote == '"' {
		// A path such as "C:\dir\" hides its closing quote.
		switch m.ends(i + 2) {
		case more3:
			return more
		case yes:
			m.note(BadEscape, i)
			m.edit(i, i, `\`)
			m.pos = i + 1
			return m.endText(1)
		}
	}
	if n > 0 {
		m.pos += n
		return goOn
	}
	switch c := m.src[i+1]; {
	case c == '\'', t.quote == '`' && (c == '`' || c == '$'):
		if c == '\'' && t.quote == '"' {
			m.note(BadEscape, i)
		}
		m.edit(i, i+1, "")
		m.pos += 2
	default:
		t.escapes++
		m.note(BadEscape, i)
		m.edit(i, i, `\`)
		m.pos++
	}
	return goOn
}

// surrogate remembers a high surrogate until its other half came.
func (m *machine) surrogate(i int) {
	t := &m.text
	d := m.src[i+2] | 0x20
	isHigh := d == 'd' && (m.src[i+3] == '8' || m.src[i+3] == '9' || m.src[i+3]|0x20 == 'a' || m.src[i+3]|0x20 == 'b')
	t.high = -1
	if isHigh {
		t.high, t.low = i, i+6
	}
}

// textEnds: src ends inside the string.
func (m *machine) textEnds() verdict {
	if !m.final {
		return more
	}
	t := &m.text
	if t.role == roleKey && t.colon > 0 && m.closesAll() && m.splitKey() {
		return goOn
	}
	if t.unclosed() && m.closesAll() && m.splitHere() {
		return goOn
	}
	return m.cutText(len(m.src))
}

// closesAll reports whether src ends with as many closers as are owed, so
// that the document seems whole and only a quote is missing.
func (m *machine) closesAll() bool {
	depth := m.depth
	for i := len(m.src) - 1; i >= m.pos-m.depth-64 && i >= 0 && depth > 0; i-- {
		switch c := m.src[i]; {
		case isBlank(c):
		case c == closerOf(m.objectAt(m.depth-depth+1)):
			depth--
		default:
			return false
		}
	}
	return depth == 0
}

// endText closes the string at m.pos with a closing mark of n bytes.
func (m *machine) endText(n int) verdict {
	t := &m.text
	if t.quote != '"' || n != 1 || t.close > 0 || m.src[m.pos] != '"' {
		m.edit(m.pos, m.pos+n, `"`)
	}
	m.pos += n
	if t.role == roleKey {
		m.values++
		m.phase = inColon
		return goOn
	}
	return m.done()
}
