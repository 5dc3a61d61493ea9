//go:build linux

package measure

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"backstop/test/perf/generate"
	"backstop/test/perf/process"
)

// Sample is one run of a load through one gateway. Times are microseconds.
type Sample struct {
	Scene, Gateway string
	Round          int
	Through        generate.Result
	Direct         generate.Result // the round's run without a gateway

	CPURequest, CPUChunk float64 // of the gateway's process
	KiBStream            float64 // growth of its memory at the peak
	Others               float64 // share of its core that other programs took
}

// AddedP50 and AddedP99 are the added times of an answer.
func (s Sample) AddedP50() float64 { return s.Through.Answer.P50 - s.Direct.Answer.P50 }

// AddedP99 is what the gateway adds to the 99th percentile.
func (s Sample) AddedP99() float64 { return s.Through.Answer.P99 - s.Direct.Answer.P99 }

// AddedChunkP50 is the added time of a stream's chunk on its way.
func (s Sample) AddedChunkP50() float64 { return s.Through.Chunk.P50 - s.Direct.Chunk.P50 }

// AddedChunkP99 is the same at the 99th percentile.
func (s Sample) AddedChunkP99() float64 { return s.Through.Chunk.P99 - s.Direct.Chunk.P99 }

// sample loads one gateway, which alone is not frozen.
func (b *Bench) sample(scene Scene, g *gateway) (s Sample, err error) {
	s = Sample{Scene: scene.Name, Gateway: g.name}
	if scene.Fresh {
		g.stop()
		if err := b.start(g); err != nil {
			return s, err
		}
	}
	g.process.Thaw()
	defer g.process.Freeze()
	g.process.Rank(b.rank(scene))
	defer g.process.Rank(process.Ordinary)
	if err := b.first(g); err != nil {
		return s, err
	}
	memory, stop := peak(g.process)
	ran, busy, began := g.process.CPU(), process.Busy(b.gatewayCore), time.Now()
	s.Through, err = b.load(scene, g.at, g.model(scene.Load.Model))
	wall := time.Since(began)
	ran, busy = g.process.CPU()-ran, process.Busy(b.gatewayCore)-busy
	grown := stop() - memory
	if err != nil {
		return s, fmt.Errorf("%s, %s: %w", scene.Name, g.name, err)
	}
	s.CPURequest = micros(ran) / float64(s.Through.All)
	s.CPUChunk = micros(ran) / float64(max(s.Through.AllChunks, 1))
	s.KiBStream = grown / float64(scene.Load.Connections)
	s.Others = max(0, float64(busy-ran)/float64(wall))
	return s, nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// peak looks at a program's memory now and then; stop returns the most seen.
func peak(p *process.Process) (now float64, stop func() float64) {
	now = p.Memory()
	most := now
	done := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		tick := time.NewTicker(500 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				most = max(most, p.Memory())
			}
		}
	})
	return now, func() float64 {
		close(done)
		looking.Wait()
		return most
	}
}

// first sends one request: it proves that the way is open, and what is built
// only once is built.
func (b *Bench) first(g *gateway) error {
	one := Scene{Load: generate.Options{PromptBytes: 1024, Connections: 1, Once: true, Duration: time.Second, Patience: 5 * time.Second}}
	_, err := b.load(one, g.at, g.model("any"))
	if err != nil {
		return fmt.Errorf("%s gives no good answer: %w", g.name, err)
	}
	return nil
}

// load runs the generator on its core.
func (b *Bench) load(scene Scene, to netip.AddrPort, model string) (r generate.Result, err error) {
	o := scene.Load
	o.To, o.Model = to, model
	text, err := json.Marshal(o)
	if err != nil {
		return r, err
	}
	place := process.Place{Core: b.loadCore, Rank: b.rank(scene)}
	out, err := process.Output(place, b.self, "as", "load", string(text))
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, err
	}
	if r.Bad > 0 || r.All == 0 {
		return r, fmt.Errorf("%d good answers, %d bad ones: %v", r.Good, r.Bad, r.Faults)
	}
	return r, nil
}
