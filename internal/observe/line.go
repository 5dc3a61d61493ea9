package observe

import (
	"log/slog"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"backstop"
)

// line is a log line in the making, as slog's handlers write one. Every call
// costs a line, and this costs a third of one made of attributes.
type line struct {
	b    []byte
	text bool // key=value, else JSON
}

// textTime is how slog's text handler writes a time.
const textTime = "2006-01-02T15:04:05.000Z07:00"

func (l *line) begin(now time.Time, level slog.Level, message string) {
	l.b = l.b[:0]
	if l.text {
		l.b = append(l.b, "time="...)
		l.b = now.AppendFormat(l.b, textTime)
	} else {
		l.b = append(l.b, `{"time":"`...)
		l.b = append(now.AppendFormat(l.b, time.RFC3339Nano), '"')
	}
	l.word("level", level.String())
	l.word("msg", message)
}

func (l *line) end() []byte {
	if !l.text {
		l.b = append(l.b, '}')
	}
	l.b = append(l.b, '\n')
	return l.b
}

// key begins a field. Keys are our own words and need no escapes.
func (l *line) key(key string) {
	if l.text {
		l.b = append(append(append(l.b, ' '), key...), '=')
		return
	}
	l.b = append(append(append(l.b, `,"`...), key...), `":`...)
}

func (l *line) word(key, value string) {
	l.key(key)
	switch {
	case !l.text:
		l.b = appendJSON(l.b, value)
	case bare(value):
		l.b = append(l.b, value...)
	default:
		l.b = strconv.AppendQuote(l.b, value)
	}
}

// given is word for a value that may be missing.
func (l *line) given(key, value string) {
	if value != "" {
		l.word(key, clip(value))
	}
}

func (l *line) whole(key string, n int) {
	l.key(key)
	l.b = strconv.AppendInt(l.b, int64(n), 10)
}

// counted writes a number that may be unknown, which is below 0: a sum over
// lines must not meet it.
func (l *line) counted(key string, n int) {
	if n >= 0 {
		l.whole(key, n)
	}
}

func (l *line) number(key string, n float64) {
	l.key(key)
	verb := byte('f')
	if l.text {
		verb = 'g'
	}
	l.b = strconv.AppendFloat(l.b, n, verb, -1, 64)
}

func (l *line) flag(key string, on bool) {
	l.key(key)
	l.b = strconv.AppendBool(l.b, on)
}

// tries adds each attempt of a call, so that the log can be replayed against
// another configuration (backstop sim --from-log). Lines for people go without.
func (l *line) tries(e *backstop.Event) {
	if l.text || len(e.Attempts) == 0 {
		return
	}
	l.key("tries")
	for i := range e.Attempts {
		a := &e.Attempts[i]
		l.b = append(l.b, "[,"[min(i, 1)])
		l.b = appendJSON(append(l.b, `{"upstream":`...), clip(a.Upstream))
		l.b = appendJSON(append(l.b, `,"outcome":`...), a.Outcome.Reason())
		for _, n := range []struct {
			key string
			d   time.Duration
		}{{"at_ms", a.Start}, {"first_token_ms", a.FirstToken}, {"ms", a.Duration}, {"retry_after_ms", a.Outcome.Hint}} {
			if n.d > 0 {
				l.number(n.key, millis(n.d))
			}
		}
		if a.Outcome.Status > 0 {
			l.whole("status", a.Outcome.Status)
		}
		l.b = append(l.b, '}')
	}
	l.b = append(l.b, ']')
}

// bare reports whether a value needs no quotes in a text line.
func bare(s string) bool {
	for _, r := range s {
		if r == ' ' || r == '=' || r == '"' || r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return s != ""
}

// appendJSON appends a string in quotes. Line separators are escaped, for some
// readers of lines take them for line ends.
func appendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	if plainASCII(s) {
		return append(append(b, s...), '"')
	}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ' || r == '\u2028' || r == '\u2029':
			b = append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

const hexDigits = "0123456789abcdef"

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
