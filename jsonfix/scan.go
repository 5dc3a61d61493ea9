package jsonfix

import (
	"encoding/binary"
	"math/bits"
)

// place is where in the grammar the scanner and the machine can exchange the
// work: only where everything before is settled.
type place uint8

const (
	atRoot  place = iota // a root value is due
	atOpen               // just behind the opener of a container
	atAfter              // behind a complete value inside a container
)

// ending is how a strict scan came to its end.
type ending uint8

const (
	broken ending = iota // at the mark all was well, behind it is an error or the end
	closed               // the root value is complete
	toodeep
)

// Valid reports whether src is one JSON value as of RFC 8259, nested at most
// [MaxDepth] deep. It does not allocate.
func Valid(src []byte) bool {
	var n nest
	end, _, how := n.scan(src, 0, atRoot)
	return how == closed && blankToEnd(src, end)
}

func blankToEnd(src []byte, i int) bool {
	for ; i < len(src); i++ {
		if !isBlank(src[i]) {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// scan reads strict JSON from a place on. If the root closes, the result is
// the offset behind it; else the last place at which all before was settled,
// with the nesting there. No byte is looked at twice.
func (n *nest) scan(src []byte, i int, at place) (int, place, ending) {
	mark := i
	switch {
	case at == atAfter:
		goto after
	case at == atOpen && n.object():
		goto openObject
	case at == atOpen:
		goto openArray
	}
value:
	i = skipBlanks(src, i)
	if i >= len(src) {
		return mark, at, broken
	}
	switch c := src[i]; {
	case c == '"':
		i = stringEnd(src, i+1)
	case c == '{':
		if !n.push(true) {
			return i, at, toodeep
		}
		i++
		mark, at = i, atOpen
		goto openObject
	case c == '[':
		if !n.push(false) {
			return i, at, toodeep
		}
		i++
		mark, at = i, atOpen
		goto openArray
	case c == '-' || c-'0' <= 9:
		i = numberEnd(src, i)
	case c == 't' && has(src, i, "true"), c == 'n' && has(src, i, "null"):
		i += 4
	case c == 'f' && has(src, i, "false"):
		i += 5
	default:
		return mark, at, broken
	}
	if i < 0 {
		return mark, at, broken
	}
after:
	if n.depth == 0 {
		return i, at, closed
	}
	if i < len(src) && src[i] <= ' ' {
		i = skipBlanks(src, i)
	}
	if i >= len(src) {
		return mark, at, broken
	}
	switch c := src[i]; {
	case c == ',':
		mark, at = i, atAfter
		i++
		if n.object() {
			goto key
		}
		goto value
	case c == '}' && n.object(), c == ']' && !n.object():
		n.depth--
		i++
		mark, at = i, atAfter
		goto after
	}
	return mark, at, broken
openArray:
	i = skipBlanks(src, i)
	if i < len(src) && src[i] == ']' {
		n.depth--
		i++
		mark, at = i, atAfter
		goto after
	}
	goto value
openObject:
	i = skipBlanks(src, i)
	if i < len(src) && src[i] == '}' {
		n.depth--
		i++
		mark, at = i, atAfter
		goto after
	}
key:
	i = skipBlanks(src, i)
	if i >= len(src) || src[i] != '"' {
		return mark, at, broken
	}
	if i = stringEnd(src, i+1); i < 0 {
		return mark, at, broken
	}
	if i < len(src) && src[i] <= ' ' {
		i = skipBlanks(src, i)
	}
	if i >= len(src) || src[i] != ':' {
		return mark, at, broken
	}
	i++
	goto value
}

func skipBlanks(src []byte, i int) int {
	for i < len(src) && src[i] <= ' ' && isBlank(src[i]) {
		i++
		// Indentation is long runs of spaces.
		for i+8 <= len(src) && binary.LittleEndian.Uint64(src[i:]) == 0x2020202020202020 {
			i += 8
		}
	}
	return i
}

func has(src []byte, i int, word string) bool {
	return len(src)-i >= len(word) && string(src[i:i+len(word)]) == word
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// special marks, in the high bit of each byte, quotes, backslashes and control
// characters among eight bytes. Only the lowest mark is exact.
func special(w uint64) uint64 {
	quote, slash := w^(lowBits*'"'), w^(lowBits*'\\')
	return ((quote-lowBits)&^quote | (slash-lowBits)&^slash | (w-lowBits*' ')&^w) & highBits
}

// stringEnd gives the offset behind the closing quote of a string whose text
// begins at i, or -1 if it is not a strict JSON string.
func stringEnd(src []byte, i int) int {
	for {
		for i+8 <= len(src) {
			m := special(binary.LittleEndian.Uint64(src[i:]))
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(src) && src[i] >= ' ' && src[i] != '"' && src[i] != '\\' {
			i++
		}
		if i >= len(src) {
			return -1
		}
		switch src[i] {
		case '"':
			return i + 1
		case '\\':
			n := escapeWidth(src, i)
			if n <= 0 {
				return -1
			}
			i += n
		default:
			return -1
		}
	}
}

// escapeWidth is the width of the escape at i: 0 if src ends inside it, -1 if
// it is none of JSON's.
func escapeWidth(src []byte, i int) int {
	if i+1 >= len(src) {
		return 0
	}
	switch src[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		for k := i + 2; k < i+6; k++ {
			if k >= len(src) {
				return 0
			}
			if !isHex(src[k]) {
				return -1
			}
		}
		return 6
	}
	return -1
}

func isHex(c byte) bool { return c-'0' <= 9 || c|0x20-'a' <= 5 }

func isDigit(c byte) bool { return c-'0' <= 9 }

// numberEnd gives the offset behind the number that begins at i, or -1.
func numberEnd(src []byte, i int) int {
	if src[i] == '-' {
		i++
	}
	switch {
	case i >= len(src) || !isDigit(src[i]):
		return -1
	case src[i] == '0':
		i++
	default:
		for i < len(src) && isDigit(src[i]) {
			i++
		}
	}
	if i < len(src) && src[i] == '.' {
		if i = digits(src, i+1); i < 0 {
			return -1
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		return digits(src, i)
	}
	return i
}

// digits skips at least one digit, else it is -1.
func digits(src []byte, i int) int {
	from := i
	for i < len(src) && isDigit(src[i]) {
		i++
	}
	if i == from {
		return -1
	}
	return i
}
