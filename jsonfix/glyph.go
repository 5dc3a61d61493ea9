package jsonfix

import "unicode/utf8"

// glyph is what a character means outside strings. Structural characters of
// ASCII, and their full-width twins, are themselves.
type glyph byte

// Glyphs that are no ASCII characters.
const (
	gSmart    glyph = 0x80 + iota // a typographic double quote
	gSmartOne                     // a typographic single quote
	gCorner                       // 「 」
	gNoise                        // a character without meaning: odd blanks, control characters
	gEllipsis                     // … or ...
	gWide                         // a letter beyond ASCII
	gSplit                        // src ends inside a character
	gBad                          // a byte that is no UTF-8
	gEnd                          // the end of src
)

// glyphAt reads the character at i and its width in bytes.
func glyphAt(src []byte, i int) (glyph, int) {
	if i < len(src) {
		if c := src[i]; c > '.' && c < 0x7f {
			return glyph(c), 1
		}
	}
	return glyphSlow(src, i)
}

func glyphSlow(src []byte, i int) (glyph, int) {
	if i >= len(src) {
		return gEnd, 0
	}
	c := src[i]
	switch {
	case c < ' ' || c == 0x7f:
		if isBlank(c) {
			return glyph(c), 1
		}
		return gNoise, 1
	case c == '.' && has(src, i, "..."):
		n := 3
		for i+n < len(src) && src[i+n] == '.' {
			n++
		}
		return gEllipsis, n
	case c < utf8.RuneSelf:
		return glyph(c), 1
	}
	r, n := utf8.DecodeRune(src[i:])
	if r == utf8.RuneError && n == 1 {
		if !utf8.FullRune(src[i:]) {
			return gSplit, len(src) - i
		}
		return gBad, 1
	}
	return wide(r), n
}

func wide(r rune) glyph {
	switch r {
	case '｛':
		return '{'
	case '｝':
		return '}'
	case '［':
		return '['
	case '］':
		return ']'
	case '（':
		return '('
	case '）':
		return ')'
	case '：':
		return ':'
	case '，', '、':
		return ','
	case '；':
		return ';'
	case '＂':
		return '"'
	case '＇':
		return '\''
	case '＝':
		return '='
	case '“', '”', '„', '‟':
		return gSmart
	case '‘', '’', '‚', '‛':
		return gSmartOne
	case '「', '」', '『', '』':
		return gCorner
	case '…':
		return gEllipsis
	case '\u00a0', '\u00ad', '\u0085', '\u1680', '\u202f', '\u205f', '\u2060', '\u3000', '\ufeff', '\u180e':
		return gNoise
	}
	if r >= 0x2000 && r <= 0x200f || r >= 0x2028 && r <= 0x202e {
		return gNoise
	}
	return gWide
}

// quote reports whether a glyph can open a string.
func (g glyph) quote() bool {
	return g == '"' || g == '\'' || g == '`' || g >= gSmart && g <= gCorner
}

// word reports whether a glyph can stand in an unquoted key.
func (g glyph) word() bool {
	return g == '_' || g == '$' || g == '-' || g == '@' || g == '.' || g == gWide ||
		g-'0' <= 9 || g|0x20-'a' <= 25
}

// letter reports whether an unquoted word can begin with it.
func (g glyph) letter() bool {
	return g == '_' || g == '$' || g == gWide || g < 0x80 && g|0x20-'a' <= 25
}

func (g glyph) digit() bool { return g-'0' <= 9 }

func (g glyph) closer() bool { return g == '}' || g == ']' || g == ')' }

func (g glyph) blank() bool {
	return g == ' ' || g == '\n' || g == '\t' || g == '\r' || g == gNoise
}

// afterBlanks is the first offset at or behind i that is neither blank nor
// noise, and whether a line break was passed.
func afterBlanks(src []byte, i int) (at int, line bool) {
	for {
		g, n := glyphAt(src, i)
		if !g.blank() {
			return i, line
		}
		line = line || g == '\n'
		i += n
	}
}
