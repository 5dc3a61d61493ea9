//go:build linux

package generate_test

import (
	"net/netip"
	"testing"
	"time"

	"backstop/test/perf/generate"
	"backstop/test/perf/llm"
	"backstop/test/perf/process"
	"backstop/test/perf/rival"
)

// serve starts the model server, and the rival in front of it.
func serve(t *testing.T) (model, proxy netip.AddrPort) {
	t.Helper()
	var at [2]netip.AddrPort
	for i := range at {
		var err error
		if at[i], err = process.FreePort(); err != nil {
			t.Fatal(err)
		}
	}
	// Both serve until the test binary ends.
	go func() { t.Error(llm.Run(at[0], 1024)) }()
	go func() { t.Error(rival.Run(at[1].String(), at[0].String())) }()
	for _, a := range at {
		if err := process.Up(a, nil); err != nil {
			t.Fatal(err)
		}
	}
	return at[0], at[1]
}

func TestLoads(t *testing.T) {
	model, proxy := serve(t)
	base := generate.Options{Model: "any-n5-d1000", Connections: 4, PromptBytes: 1024, Duration: 100 * time.Millisecond, Patience: 10 * time.Second}
	open, streams, once := base, base, base
	open.Rate = 200
	streams.Stream = true
	once.Stream, once.Once, once.Ramp = true, true, 50*time.Millisecond
	for name, o := range map[string]generate.Options{"closed loop": base, "open loop": open, "streams": streams, "one stream a connection": once} {
		for place, at := range map[string]netip.AddrPort{"direct": model, "through the proxy": proxy} {
			t.Run(name+", "+place, func(t *testing.T) {
				o := o
				o.To = at
				ends := 1
				if o.Once {
					ends = o.Connections
				}
				r, err := generate.Run(o)
				// On a busy machine nothing may end in so short a time.
				for err == nil && r.Good+r.Bad < ends && o.Duration < 10*time.Second {
					o.Duration *= 2
					r, err = generate.Run(o)
				}
				switch {
				case err != nil:
					t.Fatal(err)
				// A stock proxy cuts an answer that begins before it has read the end
				// of the request; that is for the generator to count, not to prevent.
				case r.Good == 0 || r.Bad > 0 && place == "direct" || r.Bad*2 > r.Good || r.Answer.N == 0:
					t.Errorf("got %+v", r)
				case o.Once && r.Good+r.Bad != o.Connections:
					t.Errorf("got %d answers, want %d", r.Good, o.Connections)
				case o.Stream && (r.Chunk.N == 0 || r.Chunk.P50 <= 0 || r.AllChunks < 5*r.Good):
					t.Errorf("chunks: got %+v", r)
				}
			})
		}
	}
}

func TestAServerThatIsNotThereIsNoGoodAnswer(t *testing.T) {
	at, err := process.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	r, err := generate.Run(generate.Options{To: at, Connections: 1, Duration: 10 * time.Millisecond, Patience: time.Second})
	if err != nil || r.Good > 0 || r.Bad == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestTheLoadStaysOnThisMachine(t *testing.T) {
	if _, err := generate.Run(generate.Options{To: netip.MustParseAddrPort("192.0.2.1:80")}); err == nil {
		t.Error("another machine was accepted")
	}
}
