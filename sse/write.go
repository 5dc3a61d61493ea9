package sse

import "bytes"

// Append appends one event to dst and returns the longer slice. data may hold
// any bytes: each line of it becomes a data: line of its own, so it can
// neither end the event nor begin another field. A reader gives it back with
// LF for each CRLF and CR. name is left out when it is empty; line breaks in
// it are dropped.
func Append(dst []byte, name string, data []byte) []byte {
	if name != "" {
		dst = append(dst, "event: "...)
		for i := 0; i < len(name); i++ {
			if c := name[i]; c != '\n' && c != '\r' {
				dst = append(dst, c)
			}
		}
		dst = append(dst, '\n')
	}
	return append(appendLines(dst, "data: ", data), '\n')
}

// AppendComment appends a comment, which every reader skips, and a blank line,
// which makes proxies and clients see it at once. It keeps an idle stream open.
func AppendComment(dst []byte, text string) []byte {
	return append(appendLines(dst, ": ", []byte(text)), '\n')
}

// appendLines appends text with prefix before each of its lines, however they
// end; text without a line break is one line, also when it is empty.
func appendLines(dst []byte, prefix string, text []byte) []byte {
	lineEnd := func(b []byte) int { return bytes.IndexByte(b, '\n') }
	if bytes.IndexByte(text, '\r') >= 0 {
		lineEnd = func(b []byte) int { return bytes.IndexAny(b, "\r\n") } // several times slower
	}
	for {
		dst = append(dst, prefix...)
		stop := lineEnd(text)
		if stop < 0 {
			return append(append(dst, text...), '\n')
		}
		dst = append(append(dst, text[:stop]...), '\n')
		if text[stop] == '\r' && stop+1 < len(text) && text[stop+1] == '\n' {
			stop++
		}
		text = text[stop+1:]
	}
}
