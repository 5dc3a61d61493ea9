// Package value reads the small notations of the configuration file:
// durations, ranges, sizes, rates, shares, switches and ${…} references.
//
// Every function is pure and takes the text of one scalar. What it returns as
// an error is a [Fault] that says what is wrong without repeating the text,
// which may be a credential put in the wrong place.
package value

import (
	"strconv"
	"strings"
	"time"
)

// Fault says what is wrong with a text and how it should look.
type Fault struct {
	Message string // continues a sentence that names the value: "is not a duration"
	Hint    string
}

// Error is the message alone.
func (f *Fault) Error() string { return f.Message }

// Longest is the longest duration that is taken: more is a slip of the unit.
const Longest = 31 * 24 * time.Hour

// Duration reads 4500ms, 10s, 1m30s, 24h, or 0. Off is 0.
func Duration(text string) (time.Duration, error) {
	switch strings.ToLower(text) {
	case "0", "off", "false", "none":
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil && plainNumber(text):
		return 0, &Fault{"has no unit", "write for example 4500ms, 10s or 5m"}
	case err != nil:
		return 0, &Fault{"is not a duration", "write for example 4500ms, 10s or 5m"}
	case d < 0:
		return 0, &Fault{"is negative", ""}
	case d > Longest:
		return 0, &Fault{"is longer than 31 days", "check the unit"}
	}
	return d, nil
}

func plainNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// Range is a span of durations, both ends included.
type Range struct{ Min, Max time.Duration }

// Jitter reads a range 200ms-500ms; one duration is a range of its own.
func Jitter(text string) (Range, error) {
	low, high, ok := strings.Cut(text, "-")
	if !ok {
		high = low
	}
	lo, err := Duration(strings.TrimSpace(low))
	if err != nil {
		return Range{}, &Fault{"is not a range of durations", "write for example 200ms-500ms"}
	}
	hi, err := Duration(strings.TrimSpace(high))
	if err != nil {
		return Range{}, &Fault{"is not a range of durations", "write for example 200ms-500ms"}
	}
	if lo > hi {
		return Range{}, &Fault{"has its larger end first", "write the smaller duration first"}
	}
	return Range{lo, hi}, nil
}

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30},
	{"kb", 1000}, {"mb", 1000_000}, {"gb", 1000_000_000},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"b", 1},
}

// Size reads 20MiB, 64kB, 1GiB or a number of bytes.
func Size(text string) (int64, error) {
	lower, unit := strings.ToLower(text), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(lower, u.suffix); ok {
			lower, unit = rest, u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(lower), 64)
	switch {
	case err != nil || n != n:
		return 0, &Fault{"is not a size", "write for example 64MiB"}
	case n < 0:
		return 0, &Fault{"is negative", ""}
	case n*float64(unit) > 1<<50:
		return 0, &Fault{"is too large", "check the unit"}
	}
	return int64(n * float64(unit)), nil
}

var rateUnits = map[string]float64{
	"s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hour": 3600, "d": 86400, "day": 86400,
}

// Rate reads 100/s, 600/m or 1000/h as events per second; a bare number is
// per second, 0 and off are no limit.
func Rate(text string) (float64, error) {
	if l := strings.ToLower(text); l == "off" || l == "false" || l == "none" {
		return 0, nil
	}
	number, per, ok := strings.Cut(text, "/")
	seconds := 1.0
	if ok {
		if seconds = rateUnits[strings.ToLower(strings.TrimSpace(per))]; seconds == 0 {
			return 0, &Fault{"has no known unit of time", "write for example 100/s, 600/m or 1000/h"}
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || n != n:
		return 0, &Fault{"is not a rate", "write for example 100/s, 600/m or 1000/h"}
	case n < 0:
		return 0, &Fault{"is negative", ""}
	case n > 1e9:
		return 0, &Fault{"is too large", ""}
	}
	return n / seconds, nil
}

// Share reads 10% or 0.1 as a number from 0 to 1.
func Share(text string) (float64, error) {
	if l := strings.ToLower(text); l == "off" || l == "false" || l == "none" {
		return 0, nil
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || n != n {
		return 0, &Fault{"is not a percentage", "write for example 10%"}
	}
	if percent {
		n /= 100
	}
	if n < 0 || n > 1 {
		return 0, &Fault{"is not between 0% and 100%", "write for example 10%"}
	}
	return n, nil
}

// Switch reads on, off, true, false, yes and no.
func Switch(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes":
		return true, nil
	case "off", "false", "no":
		return false, nil
	}
	return false, &Fault{"is neither on nor off", "write true or false"}
}

// Whole reads a whole number from 0 to 1e9.
func Whole(text string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(text, "_", ""))
	switch {
	case err != nil:
		return 0, &Fault{"is not a whole number", ""}
	case n < 0:
		return 0, &Fault{"is negative", ""}
	case n > 1e9:
		return 0, &Fault{"is too large", ""}
	}
	return n, nil
}
