package jsonfix

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// tail says what was open at the cut, below the innermost container.
type tail uint8

const (
	tailNone tail = iota // between members
	tailLast             // the last member or item, which was kept
	tailKey              // a member that was dropped, but for its key
	tailItem             // an item that was dropped
)

// pointerStep is one open container on the way to the cut.
type pointerStep struct {
	object bool
	key    []byte // of the last member, in quotes
	items  int    // number of items begun
}

// pointerTo gives the JSON Pointer of what was open where body, a document
// without its closers, ends.
func pointerTo(body []byte, what tail, key string) string {
	var room [32]pointerStep
	var text [256]byte
	steps, at := openAt(body, room[:0]), text[:0]
	for i := range steps {
		s := &steps[i]
		last := i == len(steps)-1
		switch {
		case last && what == tailNone:
		case last && what == tailKey:
			at = append(append(at, '/'), escapePointer(key)...)
		case last && what == tailItem:
			at = strconv.AppendInt(append(at, '/'), int64(s.items), 10)
		case s.object:
			at = appendKey(append(at, '/'), s.key)
		default:
			at = strconv.AppendInt(append(at, '/'), int64(max(0, s.items-1)), 10)
		}
	}
	return string(at)
}

// appendKey adds a quoted key as a pointer has it.
func appendKey(at, quoted []byte) []byte {
	for _, c := range quoted {
		if c == '\\' || c == '~' || c == '/' {
			return append(at, escapePointer(unquote(quoted))...)
		}
	}
	return append(at, bytes.Trim(quoted, `"`)...)
}

// openAt walks through a JSON prefix to the containers open at its end.
func openAt(body []byte, steps []pointerStep) []pointerStep {
	key := true
	begin := func() {
		if n := len(steps); n > 0 && !steps[n-1].object {
			steps[n-1].items++
		}
	}
	for i := 0; i < len(body); {
		c := body[i]
		i++
		switch c {
		case '{', '[':
			begin()
			steps = append(steps, pointerStep{object: c == '{'})
			key = true
		case '}', ']':
			if len(steps) > 0 {
				steps = steps[:len(steps)-1]
			}
		case ',':
			key = true
		case ':':
			key = false
		case '"':
			end := stringEnd(body, i)
			if end < 0 {
				end = len(body)
			}
			if n := len(steps); n > 0 && steps[n-1].object && key {
				steps[n-1].key = body[i-1 : end]
			} else {
				begin()
			}
			i = end
		case ' ', '\n', '\r', '\t':
		default:
			begin()
			for i < len(body) && body[i] != ',' && body[i] != '}' && body[i] != ']' && body[i] > ' ' {
				i++
			}
		}
	}
	return steps
}

func unquote(quoted []byte) string {
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return string(quoted)
	}
	return s
}

func escapePointer(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// pendingKey is the key of the member whose value is missing at the cut.
func (m *machine) pendingKey() string {
	s := m.safe
	var text []byte
	if len(m.buf) > s.size {
		text = append(append(text, m.buf[s.size:]...), m.src[m.from:max(m.from, m.pos)]...)
		text = text[min(len(text), max(0, s.at-s.from)):]
	} else {
		text = m.src[s.at:m.pos]
	}
	for i, c := range text {
		if c == '"' {
			if end := stringEnd(text, i+1); end > 0 {
				return unquote(text[i:end])
			}
			break
		}
	}
	return ""
}
