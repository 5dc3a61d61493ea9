package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"backstop/internal/load"
)

func TestAShortLatencyIsNotShownAsNone(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "-", time.Nanosecond: "1 µs", 412 * time.Microsecond: "412 µs", 999400 * time.Nanosecond: "999 µs", 999600 * time.Nanosecond: "1.0 ms",
		1540 * time.Microsecond: "1.5 ms", 9940 * time.Microsecond: "9.9 ms", 9960 * time.Microsecond: "10 ms", 4500 * time.Millisecond: "4500 ms",
	} {
		if got := shortLatency(d); got != want {
			t.Errorf("%s is shown as %q, want %q", d, got, want)
		}
	}
}

// Rows of any latency stand below the same head.
func TestTheRowsOfTheDemoStandInLine(t *testing.T) {
	for _, took := range []time.Duration{0, 80 * time.Microsecond, 3 * time.Millisecond, 99 * time.Millisecond, 4500 * time.Millisecond} {
		var out bytes.Buffer
		tick := &ticker{demo: &demo{out: &out}, scene: scene{name: "healthy"}, at: new(int)}
		tick.add(load.Sample{Status: 200, Tier: "primary", Latency: took})
		tick.row("closed")
		line, _, _ := strings.Cut(out.String(), "closed")
		if got, want := utf8.RuneCountInString(line), strings.Index(demoHead, "breaker"); got != want {
			t.Errorf("%s: the breaker stands at %d, want %d: %q", took, got, want, out.String())
		}
	}
}
