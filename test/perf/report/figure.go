//go:build linux

// Package report turns samples into the figures of a run and holds them
// against their bounds.
package report

import (
	"math"
	"slices"

	"backstop/test/perf/measure"
)

// Figure is one line of the report: medians over the rounds.
type Figure struct {
	What     string  `json:"what"`
	Unit     string  `json:"unit"`
	Backstop float64 `json:"backstop"`
	Rival    float64 `json:"rival,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"`
	Must     float64 `json:"must,omitempty"` // largest ratio, or largest value where Absolute
	Aim      float64 `json:"aim,omitempty"`
	Absolute bool    `json:"absolute,omitempty"`
	Holds    bool    `json:"holds"` // Must is kept, or there is none
}

// Loose is how far above Must a figure may lie in a check: two runs on a busy
// machine differ, and a check must fail for a cause only.
const Loose = 2

// Broken reports whether the figure fails even a loose check.
func (f Figure) Broken() bool { return f.Must > 0 && f.bounded() > Loose*f.Must }

func (f Figure) bounded() float64 {
	if f.Absolute {
		return f.Backstop
	}
	return f.Ratio
}

// The bounds of the contract.
const (
	mostCPU, aimCPU         = 1.5, 1.0
	mostAdded, aimAdded     = 1.5, 1.0
	mostKiB, aimKiB         = 48, 24
	smallestForRatio        = 1e-3
	saturated, steady, flow = measure.Saturation, measure.Steady, measure.Streams
)

// Figures are all figures of a run, beside those of the gateway named rival.
func Figures(samples []measure.Sample, rival string) []Figure {
	cpuRequest := func(s measure.Sample) float64 { return s.CPURequest }
	cpuChunk := func(s measure.Sample) float64 { return s.CPUChunk }
	of := func(what, unit, scene string, value func(measure.Sample) float64) Figure {
		f := Figure{What: what, Unit: unit, Holds: true,
			Backstop: median(samples, scene, measure.Backstop, value), Rival: median(samples, scene, rival, value)}
		if f.Rival > smallestForRatio {
			f.Ratio = f.Backstop / f.Rival
		}
		return f
	}
	all := []Figure{
		bound(of("CPU a request at saturation", "us", saturated, cpuRequest), mostCPU, aimCPU),
		of("requests a second on one core", "", saturated, func(s measure.Sample) float64 { return float64(s.Through.Good) / s.Through.Seconds }),
		bound(of("added p50 at 200 rps", "us", steady, measure.Sample.AddedP50), mostAdded, aimAdded),
		of("added p99 at 200 rps", "us", steady, measure.Sample.AddedP99),
		of("CPU a request at 200 rps", "us", steady, cpuRequest),
		of("added p50 of a chunk, 32 streams", "us", flow, measure.Sample.AddedChunkP50),
		of("added p99 of a chunk, 32 streams", "us", flow, measure.Sample.AddedChunkP99),
		of("CPU a chunk, 32 streams", "us", flow, cpuChunk),
	}
	memory := of("memory of an idle open stream", "KiB", measure.Idle, func(s measure.Sample) float64 { return s.KiBStream })
	memory.Absolute = true
	all = append(all, bound(memory, max(mostKiB, memory.Rival), aimKiB),
		of("CPU a chunk, 2,000 streams", "us", measure.Idle, cpuChunk),
		of("p99 of a chunk, 2,000 streams", "us", measure.Idle, func(s measure.Sample) float64 { return s.Through.Chunk.P99 }))
	if held := median(samples, saturated, measure.Held, cpuRequest); !math.IsNaN(held) {
		all = append(all, Figure{What: "CPU a request, unary: stream", Unit: "us", Backstop: held, Rival: all[0].Rival, Ratio: held / all[0].Rival, Holds: true})
	}
	return slices.DeleteFunc(all, func(f Figure) bool { return math.IsNaN(f.Backstop) })
}

func bound(f Figure, must, aim float64) Figure {
	f.Must, f.Aim = must, aim
	f.Holds = f.bounded() <= must
	return f
}

// median is not a number when there is no such sample.
func median(samples []measure.Sample, scene, gateway string, value func(measure.Sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		if s.Scene == scene && s.Gateway == gateway {
			all = append(all, value(s))
		}
	}
	if len(all) == 0 {
		return math.NaN()
	}
	slices.Sort(all)
	mid := len(all) / 2
	if len(all)%2 == 1 {
		return all[mid]
	}
	return (all[mid-1] + all[mid]) / 2
}
