package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// added is the cost of the way through the gateway, against the direct way in
// the same minute, and beside it that through the reverse proxy of the standard
// library, which only copies, and through a relay of bytes, which no gateway in
// Go can be faster than: 64 streams of 100 tokens a second, and first tokens of
// calls one after another. Figures, no verdict: they are the machine's too.
type added struct {
	Streams int     `json:"streams"`
	Rounds  []round `json:"rounds"`
	Calm    round   `json:"calm"` // the round with the least added: others run on the machine
}

// round holds figures in microseconds, and the worst timer of this process in
// that time in milliseconds.
type round struct {
	Chunks     int     `json:"chunks"` // of each way
	DirectP50  float64 `json:"direct_p50_us"`
	DirectP99  float64 `json:"direct_p99_us"`
	GatewayP50 float64 `json:"gateway_p50_us"`
	GatewayP99 float64 `json:"gateway_p99_us"`
	StockP50   float64 `json:"stock_p50_us"` // through a stock reverse proxy
	StockP99   float64 `json:"stock_p99_us"`
	RelayP50   float64 `json:"relay_p50_us"` // through a relay of bytes
	RelayP99   float64 `json:"relay_p99_us"`
	FirstP50   float64 `json:"first_added_p50_us"`
	FirstP99   float64 `json:"first_added_p99_us"`
	Late       float64 `json:"timers_late_ms"`
}

func (r round) p50() float64 { return r.GatewayP50 - r.DirectP50 }
func (r round) p99() float64 { return r.GatewayP99 - r.DirectP99 }

const (
	addedStreams = 64
	addedRounds  = 5
	addedFor     = 300 // events of a stream, one every 10 ms
	firstCalls   = 200
)

// measureAdded takes turns between the two ways, so that a busy minute of the
// machine meets both.
func measureAdded(ctx context.Context, g *gauge) (*added, error) {
	h, err := open(setup{pace: fullPace})
	if err != nil {
		return nil, err
	}
	defer h.close()
	h.primary.play("tick", tick(addedFor, 10*time.Millisecond))
	h.primary.play("one", tick(1, time.Second))
	proxy := httptest.NewServer(stock(&url.URL{Scheme: "http", Host: h.primary.addr}, &http.Transport{MaxIdleConnsPerHost: 256}))
	defer proxy.Close()
	floor, err := newRelay(h.primary.addr)
	if err != nil {
		return nil, err
	}
	defer floor.close()
	defer h.conns.CloseIdleConnections()
	a := &added{Streams: addedStreams}
	for range addedRounds {
		began := time.Now()
		r, err := h.round(ctx, [4]string{"http://" + h.primary.addr, h.url, proxy.URL, "http://" + floor.listener.Addr().String()})
		if err != nil {
			return nil, err
		}
		r.Late = float64(g.since(began).Microseconds()) / 1000
		if a.Rounds = append(a.Rounds, r); len(a.Rounds) == 1 || r.p50() < a.Calm.p50() {
			a.Calm = r
		}
	}
	return a, nil
}

// round measures the ways to the upstream: directly, through the gateway,
// through the stock proxy, through the relay.
func (h *gateway) round(ctx context.Context, ways [4]string) (r round, err error) {
	var lags, firsts [4][]time.Duration
	for way, url := range ways {
		if lags[way], err = h.together(ctx, url); err != nil {
			return r, err
		}
	}
	for range firstCalls {
		for way, url := range ways[:2] {
			s := h.follow(ctx, url, "one", 0)
			if s.err != nil || s.events != 1 {
				return r, fmt.Errorf("%d events from %s, %w", s.events, s.from, s.err)
			}
			firsts[way] = append(firsts[way], s.first)
		}
	}
	r.Chunks = len(lags[1])
	r.DirectP50, r.DirectP99 = micros(lags[0], 0.5), micros(lags[0], 0.99)
	r.GatewayP50, r.GatewayP99 = micros(lags[1], 0.5), micros(lags[1], 0.99)
	r.StockP50, r.StockP99 = micros(lags[2], 0.5), micros(lags[2], 0.99)
	r.RelayP50, r.RelayP99 = micros(lags[3], 0.5), micros(lags[3], 0.99)
	r.FirstP50 = micros(firsts[1], 0.5) - micros(firsts[0], 0.5)
	r.FirstP99 = micros(firsts[1], 0.99) - micros(firsts[0], 0.99)
	return r, nil
}

// together runs the streams of one round side by side and returns all lags.
func (h *gateway) together(ctx context.Context, url string) (lags []time.Duration, err error) {
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
	var all []string
	for _, r := range a.Rounds {
		all = append(all, fmt.Sprintf("%.0f/%.0f", r.p50(), r.p99()))
	}
	r := a.Calm
	return fmt.Sprintf("%d streams of 100 tokens/s, the calmest of %d rounds: a chunk takes p50 %.0f us, p99 %.0f us directly and %.0f, %.0f through the gateway: added p50 %.0f us, p99 %.0f us (a stock reverse proxy adds %.0f and %.0f, a bare relay of bytes %.0f and %.0f); first token: added p50 %.0f us, p99 %.0f us; timers up to %.1f ms late. All rounds, added p50/p99 us: %s",
		a.Streams, len(a.Rounds), r.DirectP50, r.DirectP99, r.GatewayP50, r.GatewayP99, r.p50(), r.p99(), r.StockP50-r.DirectP50, r.StockP99-r.DirectP99, r.RelayP50-r.DirectP50, r.RelayP99-r.DirectP99, r.FirstP50, r.FirstP99, r.Late, strings.Join(all, " "))
}
