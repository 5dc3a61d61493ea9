package jsonfix

import "math"

// leanText is a string or key: src[open:from] is the mark before it,
// src[to:end] the one behind. Without an end it is none that is lean.
type leanText struct{ open, from, to, end int }

// leanKeyAt is the key at i, if a colon stands directly behind it.
func leanKeyAt(src []byte, i int) leanText {
	t := leanTextAt(src, i)
	if t.end == 0 {
		if t.end = leanWord(src, i); t.end == 0 {
			return t
		}
		t = leanText{i, i, t.end, t.end}
	}
	n := colonAt(src, t.end)
	if n == 0 || t.end-i >= maxKey || t.from == t.open && src[t.end] != ':' {
		return leanText{}
	}
	return t
}

// leanWord is the end of the word of ASCII letters that begins at i, or 0.
func leanWord(src []byte, i int) int {
	k := i
	for k < len(src) && k-i < maxKey && (src[k]|0x20-'a' <= 25 || src[k] == '_' || k > i && isDigit(src[k])) {
		k++
	}
	if k == i {
		return 0
	}
	return k
}

// leanTextAt is the string at i, if between its marks stands nothing that
// could be a mark, and nothing that a string may not hold.
func leanTextAt(src []byte, i int) (t leanText) {
	if i >= len(src) {
		return t
	}
	c, k := src[i], i+1
	switch {
	case c == '"':
		for {
			k = plain(src, k, '"')
			switch {
			case k >= len(src):
				return t
			case src[k] == '"':
				return leanText{i, i + 1, k, k + 1}
			case src[k] == ':':
				k++
			case src[k] == '\\' && escapeWidth(src, k) > 0:
				k += escapeWidth(src, k)
			default:
				return t
			}
		}
	case c == '\'' || c == '`':
		for k < len(src) && !marks[src[k]] {
			k++
		}
		if k < len(src) && src[k] == c {
			return leanText{i, i + 1, k, k + 1}
		}
	case c == 0xe2 || c == 0xef:
		closing := closingMark(src, i)
		for k = i + 3; k < len(src) && !marks[src[k]]; k++ {
		}
		if closing != "" && has(src, k, closing) {
			return leanText{i, i + 3, k, k + 3}
		}
	}
	return t
}

// closingMark is the one that belongs to the mark at i, if that takes three
// bytes.
func closingMark(src []byte, i int) string {
	switch {
	case has(src, i, "“"):
		return "”"
	case has(src, i, "＂"):
		return "＂"
	}
	return ""
}

// marks are the bytes that stop plain inside any kind of string.
var marks = func() (t [math.MaxUint8 + 1]bool) {
	for c := range t {
		t[c] = c < ' ' || c == '"' || c == '\\' || c == '\'' || c == '`' || c == 0xe2 || c == 0xe3 || c == 0xef
	}
	return t
}()

// leanScalar is the end of the number or literal at i, or 0, and how JSON
// spells it if otherwise.
func leanScalar(src []byte, i int) (end int, word string) {
	switch c := src[i]; {
	case c == '-' || isDigit(c):
		return max(0, numberEnd(src, i)), ""
	case has(src, i, "true") || has(src, i, "null"):
		return i + 4, ""
	case has(src, i, "false"):
		return i + 5, ""
	case has(src, i, "True"):
		return i + 4, "true"
	case has(src, i, "None"):
		return i + 4, "null"
	case has(src, i, "False"):
		return i + 5, "false"
	}
	return 0, ""
}

// colonAt is the width of the colon at i, or of what stands for it; else 0.
func colonAt(src []byte, i int) int {
	switch {
	case i >= len(src):
	case src[i] == ':', src[i] == '=' && i+1 < len(src) && src[i+1] != '>':
		return 1
	case has(src, i, "："):
		return len("：")
	}
	return 0
}

// leanMarks writes plain quotes in the place of other marks.
func (m *machine) leanMarks(t *leanText) {
	switch m.src[t.open] {
	case '"':
		return
	case 0xe2:
		m.once(SmartQuote, t.open)
	case 0xef:
		m.once(FullWidth, t.open)
	default:
		m.once(SingleQuote, t.open)
	}
	m.edit(t.open, t.from, `"`)
	m.edit(t.to, t.end, `"`)
}
