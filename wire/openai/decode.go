package openai

import (
	"bytes"
	"unicode/utf8"
)

// The ranges of the two halves of a surrogate pair.
const (
	highHalf, lowHalf, halfEnd = 0xD800, 0xDC00, 0xE000
	halfSize                   = 3 // bytes that stand for a lone half
)

// decodedSize is the size of the body of a JSON string without its escapes.
func decodedSize(inner []byte) int {
	n := len(inner)
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 || i+1 >= len(inner) {
			return n
		}
		if inner[i+1] == 'u' && i+6 <= len(inner) {
			n -= 6 - unitSize(hex4(inner[i+2:i+6]))
			inner = inner[i+6:]
			continue
		}
		n--
		inner = inner[i+2:]
	}
}

// unitSize is the size in UTF-8 of one UTF-16 code unit. The halves of a pair
// share four bytes.
func unitSize(u rune) int {
	switch {
	case u < 0x80:
		return 1
	case u < 0x800, u >= highHalf && u < halfEnd:
		return 2
	}
	return 3
}

// appendDecoded appends the body of a JSON string to the text before it. Bytes
// that are no UTF-8 stay as they are. A half of a surrogate pair is written in
// three bytes, as if it were a character, until its other half comes, in this
// piece or in a later one.
func appendDecoded(all, inner []byte) []byte {
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 || i+1 >= len(inner) {
			return append(all, inner...)
		}
		all = append(all, inner[:i]...)
		c := inner[i+1]
		if c == 'u' && i+6 <= len(inner) {
			all = appendUnit(all, hex4(inner[i+2:i+6]))
			inner = inner[i+6:]
			continue
		}
		all = append(all, unescaped(c))
		inner = inner[i+2:]
	}
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // quote, backslash, slash
}

// appendUnit appends one UTF-16 code unit.
func appendUnit(all []byte, u rune) []byte {
	switch {
	case u < highHalf || u >= halfEnd:
		return utf8.AppendRune(all, u)
	case u >= lowHalf:
		if high := lastHalf(all); high >= highHalf && high < lowHalf {
			return utf8.AppendRune(all[:len(all)-halfSize], 0x10000+(high-highHalf)<<10+(u-lowHalf))
		}
	}
	return append(all, 0xE0|byte(u>>12), 0x80|byte(u>>6&0x3F), 0x80|byte(u&0x3F))
}

// lastHalf is the half of a surrogate pair that a text ends with, -1 if none.
func lastHalf(text []byte) rune {
	n := len(text) - halfSize
	if n < 0 || text[n] != 0xED || text[n+1]&0xE0 != 0xA0 || text[n+2]&0xC0 != 0x80 {
		return -1
	}
	return 0xD000 | rune(text[n+1]&0x3F)<<6 | rune(text[n+2]&0x3F)
}

// appendEncoded appends a text as a JSON string, halves of surrogate pairs as
// their escapes and bytes that are no UTF-8 as they are.
func appendEncoded(dst, text []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			dst = appendByte(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		switch half := rune(-1); {
		case r == utf8.RuneError && n == 1:
			if i+halfSize <= len(text) {
				half = lastHalf(text[i : i+halfSize])
			}
			if half < 0 {
				dst = append(dst, text[i])
				break
			}
			dst, n = appendEscape(dst, half), halfSize
		case r == '\u2028' || r == '\u2029':
			dst = appendEscape(dst, r)
		default:
			dst = append(dst, text[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}

func appendEscape(dst []byte, u rune) []byte {
	return append(dst, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}
