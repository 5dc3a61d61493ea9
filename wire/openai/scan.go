package openai

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// maxDepth bounds the nesting of a document. Real requests stay below 50.
const maxDepth = 1000

// span is a value's place in the bytes it was scanned from, without the space
// around it. The zero span means "not there".
type span struct{ from, to int }

func (s span) there() bool              { return s.to > 0 }
func (s span) of(b []byte) []byte       { return b[s.from:s.to] }
func (s span) is(b []byte, c byte) bool { return s.to > 0 && b[s.from] == c }

// null reports whether the value is missing or null.
func (s span) null(b []byte) bool { return s.to == 0 || b[s.from] == 'n' }

// inner is the body of a string without its quotes, escapes as they are.
func (s span) inner(b []byte) []byte { return b[s.from+1 : s.to-1] }

// filled reports whether the value is a string with at least one byte in it.
func (s span) filled(b []byte) bool { return s.to-s.from > 2 && b[s.from] == '"' }

func skipSpace(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

// skipValue returns the end of the value that starts at b[i], or -1 if there
// is none that RFC 8259 allows. It checks everything but UTF-8.
func skipValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; c {
	case '"':
		return skipString(b, i)
	case '{':
		m := memberWalk{b: b, i: i + 1, depth: depth}
		for m.next() {
		}
		return m.end()
	case '[':
		e := elementWalk{b: b, i: i + 1, depth: depth}
		for e.next() {
		}
		return e.end()
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	default:
		return skipNumber(b, i)
	}
}

func skipWord(b []byte, i int, word string) int {
	if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
		return end
	}
	return -1
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// shortString is up to where a string is read eight bytes at a time: most are
// keys and single tokens, for which a search costs more than it finds.
const shortString = 64

// skipString returns the index behind the string whose quote is at b[i], or -1.
func skipString(b []byte, i int) int {
	i++
	for end := min(i+shortString, len(b)-7); i < end; i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^lowBits*'"', x^lowBits*'\\'
		// The lowest bit of each is exact; what is above it may be a carry.
		ends := ((quote-lowBits)&^quote | (slash-lowBits)&^slash | (x-lowBits*0x20)&^x) & highBits
		if ends == 0 {
			continue
		}
		if i += bits.TrailingZeros64(ends) / 8; b[i] == '"' {
			return i + 1
		}
		break
	}
	return skipRest(b, i)
}

// skipRest is skipString from i on, which is inside of the string.
func skipRest(b []byte, i int) int {
	quote := -1 // the next one at or after i
	for {
		if quote < i {
			n := bytes.IndexByte(b[i:], '"')
			if n < 0 {
				return -1
			}
			quote = i + n
		}
		run := b[i:quote]
		slash := bytes.IndexByte(run, '\\')
		if slash < 0 {
			if controls(run) {
				return -1
			}
			return quote + 1
		}
		if controls(run[:slash]) {
			return -1
		}
		if i = skipEscape(b, i+slash); i < 0 {
			return -1
		}
	}
}

// controls reports whether there are control bytes in b.
func controls(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		x := binary.LittleEndian.Uint64(b)
		if (x-lowBits*0x20)&^x&highBits != 0 {
			return true
		}
	}
	for _, c := range b {
		if c < 0x20 {
			return true
		}
	}
	return false
}

func skipEscape(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		if i+6 <= len(b) && hex4(b[i+2:i+6]) >= 0 {
			return i + 6
		}
	}
	return -1
}

// hex4 reads four hex digits, -1 if one of them is none.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

func skipNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && b[i] >= '1' && b[i] <= '9':
		i = skipDigits(b, i)
	default:
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if j := skipDigits(b, i+1); j > i+1 {
			i = j
		} else {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		j := skipDigits(b, i)
		if j == i {
			return -1
		}
		i = j
	}
	return i
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}
