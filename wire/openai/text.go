package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// plain decodes the body of a JSON string. Without escapes it is the same
// slice; lone surrogates become U+FFFD.
func plain(inner []byte) []byte {
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	quoted := make([]byte, 0, len(inner)+2)
	quoted = append(append(append(quoted, '"'), inner...), '"')
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return inner
	}
	return []byte(s)
}

// str is the decoded string at s, "" if the value is no string.
func str(b []byte, s span) string {
	if !s.is(b, '"') {
		return ""
	}
	return string(plain(s.inner(b)))
}

// written is the JSON text that a tool is called with. It is to be a string;
// some servers write the object itself. An empty one says nothing yet: it may
// stand where the pieces of a stream begin.
func written(b []byte, s span) string {
	switch {
	case s.is(b, '"'):
		return str(b, s)
	case holds(b, s, '{'):
		return string(s.of(b))
	}
	return ""
}

// spoken is str with halves of characters, see wire.Spoken.
func spoken(b []byte, s span) string { return string(appendDecoded(nil, s.inner(b))) }

// integer reads a whole number; 16, 16.0 and 1.6e1 are the same number.
func integer(b []byte, s span) (int, bool) {
	if !s.there() {
		return 0, false
	}
	if d := b[s.from] - '0'; d <= 9 && s.to-s.from == 1 {
		return int(d), true // an index, as a rule
	}
	raw := string(s.of(b))
	if n, err := strconv.ParseInt(raw, 10, 48); err == nil {
		return int(n), true
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || f != float64(int64(f)) || f > 1<<47 || f < -1<<47 {
		return 0, false
	}
	return int(f), true
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. U+2028 and U+2029 are escaped,
// because some readers of event streams take them for line ends; broken UTF-8
// becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = appendByte(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, `\ufffd`...)
		case r == '\u2028':
			dst = append(dst, `\u2028`...)
		case r == '\u2029':
			dst = append(dst, `\u2029`...)
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}

func appendByte(dst []byte, c byte) []byte {
	switch {
	case c == '"' || c == '\\':
		return append(dst, '\\', c)
	case c >= 0x20:
		return append(dst, c)
	case c == '\n':
		return append(dst, '\\', 'n')
	case c == '\r':
		return append(dst, '\\', 'r')
	case c == '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
