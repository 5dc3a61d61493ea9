//go:build linux

package measure

import (
	"time"

	"backstop/test/perf/generate"
)

// Scene is one kind of load. Its samples are compared only with each other.
type Scene struct {
	Name   string
	Load   generate.Options
	Rounds int
	// Light: the load leaves the cores mostly idle, so that its programs may
	// make all others wait.
	Light bool
	// Direct: each round begins with a run without a gateway, from which the
	// added time is reckoned.
	Direct bool
	// Fresh: each sample starts its gateway anew, for memory.
	Fresh bool
	// Held adds the gateway's default for whole answers to the plain one.
	Held bool
}

// The names of the scenes.
const (
	Saturation = "saturation"
	Steady     = "200 rps"
	Streams    = "32 streams"
	Idle       = "idle streams"
)

// Scenes are the loads of a run. The quick ones find a gross change; the full
// ones are for figures that are written down.
func Scenes(quick bool) []Scene {
	const patience = 30 * time.Second
	rounds, short, long := 5, 2500*time.Millisecond, 3*time.Second
	warm, chunks, ramp, idleModel := 500*time.Millisecond, "any-n100-d5000", 4*time.Second, "any-n16-d1000000"
	if quick {
		rounds, short, long = 3, 700*time.Millisecond, 800*time.Millisecond
		warm, chunks, ramp, idleModel = 250*time.Millisecond, "any-n50-d5000", 1500*time.Millisecond, "any-n4-d1000000"
	}
	unary := generate.Options{Model: "any", Connections: 32, PromptBytes: 1024, Warmup: warm, Duration: long, Patience: patience}
	steady := unary
	steady.Rate, steady.Duration = 200, short
	streams := unary
	streams.Model, streams.Stream, streams.Ramp, streams.Duration = chunks, true, warm, short
	idle := unary
	idle.Model, idle.Stream, idle.Once, idle.Ramp = idleModel, true, true, ramp
	idle.Connections, idle.Warmup, idle.Duration = OpenStreams, 0, ramp+100*time.Millisecond
	return []Scene{
		{Name: Saturation, Load: unary, Rounds: rounds, Held: !quick},
		{Name: Steady, Load: steady, Rounds: rounds, Light: true, Direct: true},
		{Name: Streams, Load: streams, Rounds: rounds, Light: true, Direct: true},
		{Name: Idle, Load: idle, Rounds: 1, Light: true, Fresh: true},
	}
}

// OpenStreams is how many streams are open at once in the idle scene, with
// one chunk a second each.
const OpenStreams = 2000
