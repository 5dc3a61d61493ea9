package wire

import (
	"strconv"
	"strings"
	"time"
)

// delayWords stand in front of a delay in the vendors' messages.
var delayWords = []string{
	"try again in", "try again after", "retry in", "retry after", "retrying in", "retry your request after", "again in",
	"available in", "resets in", "reset in", "reset after", "resets after", "wait for", "wait",
}

// fillers may stand between those words and the number.
var fillers = []string{"about", "approximately", "another", "at least", ":", "~"}

// textDelay finds a delay in a message: "try again in 20s", "retry after 1
// seconds", "in 6m0s". A point in time in a message has no zone and is no
// delay.
func textDelay(text string) (time.Duration, bool) {
	text = strings.ToLower(text)
	for _, w := range delayWords {
		for rest := text; ; {
			_, after, found := strings.Cut(rest, w)
			if !found {
				break
			}
			rest = after
			if seconds, _, ok := parseSpan(skipFillers(after)); ok {
				if d, ok := bound(seconds); ok {
					return d, true
				}
			}
		}
	}
	return hanDelay(text)
}

func skipFillers(s string) string {
	s = strings.TrimLeft(s, " ")
	for _, f := range fillers {
		if rest, ok := strings.CutPrefix(s, f); ok {
			return strings.TrimLeft(rest, " ")
		}
	}
	return s
}

// hanUnits are followed by 后 ("after") in Chinese messages.
var hanUnits = []struct {
	unit    string
	seconds float64
}{{"秒钟后", 1}, {"秒后", 1}, {"分钟后", 60}, {"小时后", 3600}}

func hanDelay(text string) (time.Duration, bool) {
	for _, u := range hanUnits {
		before, _, found := strings.Cut(text, u.unit)
		if !found {
			continue
		}
		before = strings.TrimRight(before, " ")
		i := len(before)
		for i > 0 && (before[i-1] >= '0' && before[i-1] <= '9' || before[i-1] == '.') {
			i--
		}
		if n, ok := parseNumber(before[i:]); ok {
			return bound(n * u.seconds)
		}
	}
	return 0, false
}

// spanUnits in the order in which they are tried: longer names first.
var spanUnits = []struct {
	name    string
	seconds float64
}{
	{"milliseconds", 0.001}, {"millisecond", 0.001}, {"ms", 0.001},
	{"seconds", 1}, {"second", 1}, {"secs", 1}, {"sec", 1},
	{"minutes", 60}, {"minute", 60}, {"mins", 60}, {"min", 60},
	{"hours", 3600}, {"hour", 3600}, {"hrs", 3600}, {"hr", 3600},
	{"days", 86400}, {"day", 86400},
	{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400},
}

// parseSpan reads a duration at the start of lower-case text: "6m0s",
// "1.57s", "2 minutes and 3 seconds". Every number needs a unit.
func parseSpan(s string) (seconds float64, rest string, ok bool) {
	for parts := 0; parts < 6; parts++ {
		n, unit, tail, good := spanPart(s)
		if !good {
			break
		}
		seconds += n * unit
		s, ok = tail, true
		next := strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(s, " ,"), "and "), " ")
		if _, _, _, more := spanPart(next); !more {
			break
		}
		s = next
	}
	return seconds, s, ok
}

func spanPart(s string) (n, unit float64, rest string, ok bool) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	if i == 0 || i > 24 {
		return 0, 0, s, false
	}
	n, err := strconv.ParseFloat(s[:i], 64)
	if err != nil {
		return 0, 0, s, false
	}
	s = strings.TrimLeft(s[i:], " ")
	for _, u := range spanUnits {
		tail, found := strings.CutPrefix(s, u.name)
		if !found || tail != "" && isLetter(tail[0]) {
			continue
		}
		return n, u.seconds, tail, true
	}
	return 0, 0, s, false
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' }
