package openai

import "bytes"

// passValue is skipValue for bytes that it accepted before: it checks nothing
// and only looks for the end. What is taken apart level by level is passed
// over once a level, so this is most of the work on a document.
func passValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return passString(b, i)
	case '{', '[':
		return passNested(b, i)
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case ',', '}', ']', ' ', '\t', '\n', '\r':
			return i
		}
	}
	return i
}

// passString returns the index behind the string whose quote is at b[i], or -1.
func passString(b []byte, i int) int {
	for end := i + 1; ; {
		n := bytes.IndexByte(b[end:], '"')
		if n < 0 {
			return -1
		}
		end += n + 1
		if !escapes(b[i+1 : end-1]) {
			return end
		}
	}
}

// escapes reports whether b ends with a backslash that is not escaped itself.
func escapes(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func passNested(b []byte, i int) int {
	for depth := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			end := passString(b, i)
			if end < 0 {
				return -1
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
