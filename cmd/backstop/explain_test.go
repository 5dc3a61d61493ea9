package main

import (
	"strings"
	"testing"
	"time"

	"backstop"
)

func TestExplainSaysWhenTheFirstProbeComes(t *testing.T) {
	for reset, want := range map[time.Duration]string{
		time.Minute: "after 5, 10, then 15 s", 30 * time.Second: "at first after 2.5s", 59 * time.Second: "at first after 4.917s", 12 * time.Millisecond: "at first after 1ms",
	} {
		if got := breakerWords(&backstop.BreakerSettings{Failures: 5, Window: time.Minute, Reset: reset}); !strings.Contains(got, want) {
			t.Errorf("reset %s: %q, want %q", reset, got, want)
		}
	}
}
