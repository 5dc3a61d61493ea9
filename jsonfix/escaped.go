package jsonfix

import (
	"bytes"
	"html"
)

// escapedAhead reports whether the document at i was escaped once as a whole:
// the first quote in it is &quot; or \".
func escapedAhead(src []byte, i int) Code {
	start := i
	for end := min(len(src), i+maxKey); i < end; {
		switch {
		case i == start || isBlank(src[i]) || src[i] == '{' || src[i] == '[':
			i++
		case has(src, i, `\n`) || has(src, i, `\r`) || has(src, i, `\t`):
			i += 2
		case has(src, i, `\"`):
			return Escaped
		case has(src, i, "&quot;") || has(src, i, "&#34;") || has(src, i, "&#x22;") || has(src, i, "&#39;"):
			return HTMLEscaped
		default:
			return ""
		}
	}
	return ""
}

// unescaped reads the rest of the text with one layer of escapes undone.
func (f *finder) unescaped(kind Code) {
	rest := f.src[f.at:]
	var text []byte
	if kind == HTMLEscaped {
		text = unescapeHTML(rest)
	} else {
		text = unescape(rest)
	}
	inner := newFinder(text)
	inner.nested = true
	inner.region.rank = f.region.rank
	inner.walk()
	f.m.steps += inner.m.steps
	start := f.at
	f.at = len(f.src)
	f.note(kind, start)
	if inner.found.n == 0 {
		f.setWhy(inner.why)
		f.cut = inner.cut
		return
	}
	for _, c := range inner.found.from(0) {
		c.rank = max(c.rank, f.region.rank)
		c.start += start
		f.found.add(c)
	}
	f.hard = f.hard || inner.hard
	if inner.hard {
		f.why = inner.why
	}
}

// maxEntity bounds the name of a character in HTML; the longest has 33.
const maxEntity = 40

// unescapeHTML undoes one layer of HTML's names for characters.
func unescapeHTML(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		n := bytes.IndexByte(text[i:], '&')
		if n < 0 {
			return append(out, text[i:]...)
		}
		out = append(out, text[i:i+n]...)
		i += n
		end := i + 1
		for end < len(text) && end-i < maxEntity && (text[end] == '#' || isDigit(text[end]) || text[end]|0x20-'a' <= 25) {
			end++
		}
		if end < len(text) && text[end] == ';' {
			end++
		}
		switch name := text[i:end]; string(name) {
		case "&quot;":
			out = append(out, '"')
		default:
			out = append(out, html.UnescapeString(string(name))...)
		}
		i = end
	}
	return out
}

// unescape undoes one layer of backslashes; what is no escape stays.
func unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		n := bytes.IndexByte(text[i:], '\\')
		if n < 0 || i+n+1 >= len(text) {
			return append(out, text[i:]...)
		}
		out = append(out, text[i:i+n]...)
		i += n + 1
		switch c := text[i]; c {
		case '"', '\\', '/', '\'', '{', '}', '[', ']', '_', '`': // of JSON and of Markdown
			out = append(out, c)
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		default:
			out = append(out, '\\', c)
		}
	}
	return out
}
