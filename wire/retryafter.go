package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// maxHint is the longest delay that is believed; more is cut to it.
	maxHint = 24 * time.Hour
	// absurdHint and more is no delay but nonsense.
	absurdHint = 366 * 24 * time.Hour
)

// RetryAfter returns the delay that an answer names, rounded up to the
// millisecond, between 0 and 24 h. It is total: any bytes are a delay or none.
//
// In order: the headers retry-after-ms and retry-after; a delay in the body
// (Google's RetryInfo, reset fields, headers that a relay put into the body,
// the words of the message); the latest reset of the rate-limit buckets that
// are used up. Dates count from the answer's own Date header, else from now,
// so that a wrong clock on either side does no harm. body is JSON or text.
func RetryAfter(h http.Header, body []byte, now time.Time) (time.Duration, bool) {
	base := now
	if t, err := http.ParseTime(h.Get("Date")); err == nil {
		base = t
	}
	if d, ok := headerDelay(h, base); ok {
		return d, true
	}
	if d, ok := bodyDelay(body, base); ok {
		return d, true
	}
	return bucketDelay(h, base)
}

func headerDelay(h http.Header, base time.Time) (time.Duration, bool) {
	if n, ok := parseNumber(h.Get("Retry-After-Ms")); ok {
		if d, ok := bound(n / 1000); ok {
			return d, true
		}
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, ok := parseNumber(v); ok {
		return bound(n)
	}
	if t, err := http.ParseTime(v); err == nil {
		return until(t, base)
	}
	return parseReset(v, base)
}

// bucketDelay is the latest reset of the buckets whose remaining is 0. Two
// spellings: x-ratelimit-remaining-NAME and anthropic-ratelimit-NAME-remaining.
func bucketDelay(h http.Header, base time.Time) (latest time.Duration, found bool) {
	for name, values := range h {
		lower := strings.ToLower(name)
		if !strings.Contains(lower, "ratelimit") || !strings.Contains(lower, "remaining") || len(values) == 0 {
			continue
		}
		if !usedUp(values[0]) {
			continue
		}
		reset := headerValue(h, strings.Replace(lower, "remaining", "reset", 1))
		if d, ok := parseReset(reset, base); ok {
			latest, found = max(latest, d), true
		}
	}
	return latest, found
}

// headerValue finds a header whatever the case of its stored name.
func headerValue(h http.Header, lower string) string {
	if v := h.Get(lower); v != "" {
		return v
	}
	for name, values := range h {
		if strings.EqualFold(name, lower) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

func usedUp(v string) bool {
	n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	return err == nil && n <= 0
}

// parseReset reads a reset in any of its spellings: seconds, a point in time
// as Unix seconds or milliseconds or RFC 3339, or a duration such as 6m0s.
func parseReset(v string, base time.Time) (time.Duration, bool) {
	v = strings.TrimSpace(v)
	if n, ok := parseNumber(v); ok {
		return numberReset(n, base)
	}
	if t, err := time.Parse(time.RFC3339, v); err == nil {
		return until(t, base)
	}
	if seconds, rest, ok := parseSpan(strings.ToLower(v)); ok && rest == "" {
		return bound(seconds)
	}
	return 0, false
}

// numberReset tells delays from points in time by their size.
func numberReset(n float64, base time.Time) (time.Duration, bool) {
	switch {
	case n < 1e9:
		return bound(n)
	case n < 1e11:
		return bound(max(0, n-unix(base)))
	case n < 1e14:
		return bound(max(0, n/1000-unix(base)))
	}
	return 0, false
}

func unix(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

func until(t, base time.Time) (time.Duration, bool) {
	return bound(max(0, t.Sub(base).Seconds()))
}

// bound turns seconds into a delay in [0, 24 h].
func bound(seconds float64) (time.Duration, bool) {
	if !(seconds >= 0) || seconds > absurdHint.Seconds() {
		return 0, false
	}
	// The epsilon keeps 4.77 from becoming 4771 ms through its binary form.
	ms := time.Duration(math.Ceil(seconds*1000-1e-6)) * time.Millisecond
	return min(max(ms, 0), maxHint), true
}

// parseNumber reads plain decimal digits with at most one point.
func parseNumber(v string) (float64, bool) {
	v = strings.TrimSpace(v)
	if v == "" || len(v) > 32 {
		return 0, false
	}
	for i := 0; i < len(v); i++ {
		if (v[i] < '0' || v[i] > '9') && v[i] != '.' {
			return 0, false
		}
	}
	n, err := strconv.ParseFloat(v, 64)
	return n, err == nil
}
