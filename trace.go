package backstop

import (
	"encoding/hex"
	"strings"
)

// Trace is the place of a call in a distributed trace, as W3C Trace Context
// has it. The zero value is a call that nobody traces. All ids are lower-case
// hex digits and safe to print.
type Trace struct {
	ID      string // 32 digits
	Span    string // 16 digits, the call's own span
	Parent  string // 16 digits, the caller's span, "" = it named none
	Sampled bool   // somebody records it
}

const (
	traceDigits = 32
	spanDigits  = 16
	// longestTraceparent bounds what a later version of the header may add.
	longestTraceparent = 128
)

// ParseTraceparent reads the trace id and the span of whoever calls from a
// traceparent header: its span becomes Parent. It is false for anything that
// Trace Context tells to ignore: another shape, zeros, version ff.
func ParseTraceparent(header string) (Trace, bool) {
	parts := strings.SplitN(header, "-", 5)
	if len(header) > longestTraceparent || len(parts) < 4 {
		return Trace{}, false
	}
	version, id, span, flags := parts[0], parts[1], parts[2], parts[3]
	switch {
	case !digits(version, 2) || version == "ff" || version == "00" && len(parts) > 4:
	case !digits(id, traceDigits) || !digits(span, spanDigits) || !digits(flags, 2):
	case strings.Trim(id, "0") == "" || strings.Trim(span, "0") == "":
	default:
		bits, _ := hex.DecodeString(flags)
		return Trace{ID: id, Parent: span, Sampled: bits[0]&1 != 0}, true
	}
	return Trace{}, false
}

// AttemptSpan is the span id of one attempt of the call: the same for the same
// call and attempt, so that who sends the request and who records it need not
// talk to each other. "" if the call is not traced.
func (t Trace) AttemptSpan(id AttemptID) string {
	raw, err := hex.DecodeString(t.Span)
	if err != nil || len(raw) != spanDigits/2 {
		return ""
	}
	var h uint64
	for _, b := range raw {
		h = h<<8 | uint64(b)
	}
	// One step of SplitMix64 (Steele, Lea, Flood 2014): neighbours are far apart.
	h += 0x9e3779b97f4a7c15 * uint64(id)
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	if h == 0 { // not a span id
		h = 1
	}
	for i := range raw {
		raw[i] = byte(h >> (56 - 8*i))
	}
	return hex.EncodeToString(raw)
}

// Traceparent is the header for a request that is sent as the given span, ""
// if the call is not traced.
func (t Trace) Traceparent(span string) string {
	if t.ID == "" || span == "" {
		return ""
	}
	flags := "-00"
	if t.Sampled {
		flags = "-01"
	}
	return "00-" + t.ID + "-" + span + flags
}

// digits reports whether s is n lower-case hex digits.
func digits(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for i := range n {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
