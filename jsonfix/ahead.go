package jsonfix

// answer to a question about what comes next.
type answer uint8

const (
	no answer = iota
	yes
	more3     // src ends before the answer is known
	joined    // a + and another string follow
	ambiguous // a list without brackets
)

// maxWord bounds unquoted words and the keys that a look-ahead accepts: what
// is undecided must not be held back for ever.
const maxWord = 4096

// maxKey bounds a quoted key in a look-ahead.
const maxKey = 256

// unknown is the answer at the end of src: a prefix of something legal counts
// as legal once no more will come.
func unknown(final bool) answer {
	if final {
		return yes
	}
	return more3
}

// keyAhead: a key and a colon stand at i.
func keyAhead(src []byte, i int, final bool) answer {
	g, _ := glyphAt(src, i)
	switch {
	case g == gEnd || g == gSplit:
		return unknown(final)
	case g.quote():
		end, a := quotedEnd(src, i, final)
		if a != yes || end < 0 {
			return a
		}
		return colonAhead(src, end, final)
	}
	for k, n := i, 0; k-i < maxKey; k += n {
		if g, n = glyphAt(src, k); !g.word() {
			if k == i {
				return no
			}
			if g == '"' {
				k++
			}
			if k >= len(src) {
				return unknown(final)
			}
			return colonAhead(src, k, final)
		}
	}
	if !final && len(src)-i < maxKey {
		return more3
	}
	return no
}

// quotedEnd finds the end of the quoted key at i. A yes with -1 means that it
// is one although its closing quote is missing.
func quotedEnd(src []byte, i int, final bool) (end int, a answer) {
	open, n := glyphAt(src, i)
	for k := i + n; k-i < maxKey; k += n {
		var g glyph
		g, n = glyphAt(src, k)
		switch {
		case g == gEnd || g == gSplit:
			return -1, unknown(final)
		case g == open && (src[k] < 0x80 || !opens(src, k)):
			return k + n, yes
		case g == '\\':
			n = 2
		case g == '\n' || g == '{' || g == '}':
			return 0, no
		case g == ':' && k > i+1 && valueAhead(src, k+n, final) == yes && wordsOnly(src, i+1, k):
			if unquotedTail(src, k+n) {
				return -1, yes
			}
		}
	}
	return 0, no
}

// unquotedTail: behind the colon at i-1 of a key without its closing quote
// stands a string, or a number or literal and a comma.
func unquotedTail(src []byte, i int) bool {
	at, _ := afterBlanks(src, i)
	end := at
	for end < len(src) && end-at < maxKey && src[end] != ',' && src[end] != '"' && src[end] != '\n' {
		end++
	}
	if end >= len(src) || end == at {
		return end < len(src) && src[end] == '"'
	}
	_, _, ok := respell(src[at:end])
	return ok && src[end] == ','
}

func wordsOnly(src []byte, i, j int) bool {
	for i < j {
		g, n := glyphAt(src, i)
		if !g.word() {
			return false
		}
		i += n
	}
	return true
}

func colonAhead(src []byte, i int, final bool) answer {
	at, _ := afterBlanks(src, i)
	switch g, _ := glyphAt(src, at); g {
	case gEnd, gSplit:
		return unknown(final)
	case ':', '=':
		return yes
	}
	return no
}

// memberAhead: a key, a colon and, for a key without quotes, a value that is
// plainly one.
func memberAhead(src []byte, i int, final bool) answer {
	a := keyAhead(src, i, final)
	if a != yes {
		return a
	}
	for k, n := i, 0; ; k += n {
		var g glyph
		if g, n = glyphAt(src, k); g == gEnd {
			return yes
		}
		if g == ':' || g == '=' {
			if has(src, k, "=>") {
				n++
			}
			return valueAhead(src, k+n, final)
		}
		if k-i > maxKey {
			return no
		}
	}
}

// valueAhead: something that is plainly a value begins behind i.
func valueAhead(src []byte, i int, final bool) answer {
	at, _ := afterBlanks(src, i)
	g, _ := glyphAt(src, at)
	switch {
	case g == gEnd || g == gSplit:
		return unknown(final)
	case g.quote() || g.digit() || g == '-' || g == '{' || g == '[':
		return yes
	case literalAhead(src, at):
		return yes
	case literalBegins(src[at:]):
		return unknown(final)
	}
	return no
}

// literalBegins: the rest of src is the beginning of such a word.
func literalBegins(rest []byte) bool {
	for _, w := range literals {
		if len(rest) < len(w) && w[:len(rest)] == string(rest) {
			return true
		}
	}
	return false
}

// literals are the words of JSON, Python and JavaScript that are values.
var literals = [...]string{"true", "false", "null", "True", "False", "None", "undefined", "NaN", "Infinity"}

// literalAhead: such a word stands at i.
func literalAhead(src []byte, i int) bool {
	for _, w := range literals {
		if has(src, i, w) {
			g, _ := glyphAt(src, i+len(w))
			return !g.word() || g == '.'
		}
	}
	return false
}

// scalarAlone: a number or literal stands at i, and behind it a delimiter or
// the end of the line.
func scalarAlone(src []byte, i int, final bool) answer {
	end := i
	for end < len(src) && end-i < maxKey && (glyph(src[end]).word() || src[end] == '+') {
		end++
	}
	if end == len(src) {
		return unknown(final)
	}
	if _, _, ok := respell(src[i:end]); !ok {
		return no
	}
	at, line := afterBlanks(src, end)
	switch g, _ := glyphAt(src, at); {
	case g == gEnd || g == gSplit:
		return unknown(final)
	case line || g == ',' || g.closer():
		return yes
	}
	return no
}

// afterNoise skips blanks and short comments, one that src ends in among them.
func afterNoise(src []byte, i int) (at int, line bool) {
	at, line = afterBlanks(src, i)
	for range 4 {
		kind, n, ok := commentAt(src, at)
		if !ok {
			if at == len(src)-1 && src[at] == '/' {
				at++
			}
			return at, line
		}
		end := commentEnd(src[:min(len(src), at+maxKey)], at+n, kind)
		if end < 0 {
			if len(src)-at < maxKey {
				at = len(src)
			}
			return at, line
		}
		var l bool
		at, l = afterBlanks(src, end)
		line = line || l
	}
	return at, line
}
