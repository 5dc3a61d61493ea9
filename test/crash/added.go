package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// added is the cost of the way through the gateway, against the direct way in
// the same minute: 64 streams of 100 tokens a second, and first tokens of
// calls one after another. Figures, no verdict: they are the machine's too.
type added struct {
	Streams, Chunks           int
	DirectP50, DirectP99      float64 // microseconds a chunk, caller and upstream included
	GatewayP50, GatewayP99    float64
	AddedP50, AddedP99        float64
	FirstDirect, FirstGateway float64 // microseconds to the first token, p50
	FirstAdded, FirstAddedP99 float64
	Late                      float64 // milliseconds, the worst timer of this process in that time
}

const (
	addedStreams = 64
	addedRounds  = 3
	addedFor     = 400 // events of a stream, one every 10 ms
	firstCalls   = 300
)

// measureAdded takes turns between the two ways, so that a busy minute of the
// machine meets both.
func measureAdded(ctx context.Context, g *gauge) (*added, error) {
	h, err := open(setup{pace: fullPace})
	if err != nil {
		return nil, err
	}
	defer h.close()
	began := time.Now()
	h.primary.play("tick", tick(addedFor, 10*time.Millisecond))
	h.primary.play("one", tick(1, time.Second))
	ways := map[string]string{"direct": "http://" + h.primary.addr, "gateway": h.url}
	lags, firsts := map[string][]time.Duration{}, map[string][]time.Duration{}
	for range addedRounds {
		for _, way := range []string{"direct", "gateway"} {
			l, err := h.together(ctx, ways[way])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", way, err)
			}
			lags[way] = append(lags[way], l...)
		}
	}
	for range firstCalls {
		for _, way := range []string{"direct", "gateway"} {
			s := h.follow(ctx, ways[way], "one", 0)
			if s.err != nil || s.events != 1 {
				return nil, fmt.Errorf("%s: %d events, %w", way, s.events, s.err)
			}
			firsts[way] = append(firsts[way], s.first)
		}
	}
	a := &added{Streams: addedStreams, Chunks: len(lags["gateway"]), Late: float64(g.since(began).Microseconds()) / 1000}
	a.DirectP50, a.DirectP99 = micros(lags["direct"], 0.5), micros(lags["direct"], 0.99)
	a.GatewayP50, a.GatewayP99 = micros(lags["gateway"], 0.5), micros(lags["gateway"], 0.99)
	a.AddedP50, a.AddedP99 = a.GatewayP50-a.DirectP50, a.GatewayP99-a.DirectP99
	a.FirstDirect, a.FirstGateway = micros(firsts["direct"], 0.5), micros(firsts["gateway"], 0.5)
	a.FirstAdded, a.FirstAddedP99 = a.FirstGateway-a.FirstDirect, micros(firsts["gateway"], 0.99)-micros(firsts["direct"], 0.99)
	return a, nil
}

// together runs the streams of one round side by side and returns all lags.
func (h *house) together(ctx context.Context, url string) (lags []time.Duration, err error) {
	all := make([]ticked, addedStreams)
	var wait sync.WaitGroup
	for i := range all {
		rest(ctx, 10*time.Millisecond/addedStreams) // so that they do not tick as one
		wait.Go(func() { all[i] = h.follow(ctx, url, "tick", addedFor) })
	}
	wait.Wait()
	for _, s := range all {
		if s.err != nil || s.events != addedFor || s.disorder != "" {
			return nil, fmt.Errorf("a stream of %d events (%s): %w", s.events, s.disorder, s.err)
		}
		lags = append(lags, s.lags[10:]...) // the first ones meet cold connections
	}
	return lags, nil
}

// micros is a quantile in microseconds.
func micros(l []time.Duration, q float64) float64 {
	if len(l) == 0 {
		return 0
	}
	slices.Sort(l)
	return float64(l[min(int(q*float64(len(l))), len(l)-1)].Nanoseconds()) / 1000
}

func (a *added) String() string {
	return fmt.Sprintf("%d streams of 100 tokens/s, %d chunks each way: a chunk takes p50 %.0f us, p99 %.0f us directly and %.0f, %.0f through the gateway: added p50 %.0f us, p99 %.0f us; first token %.0f us and %.0f us: added p50 %.0f us, p99 %.0f us (timers up to %.1f ms late)",
		a.Streams, a.Chunks, a.DirectP50, a.DirectP99, a.GatewayP50, a.GatewayP99, a.AddedP50, a.AddedP99, a.FirstDirect, a.FirstGateway, a.FirstAdded, a.FirstAddedP99, a.Late)
}
