//go:build linux

// Package generate loads a chat endpoint from one thread and times the
// answers.
//
// In the closed loop every connection sends its next request when it has the
// last answer. In the open loop requests are due at fixed times; the time of
// an answer counts from the moment its request was sent, and what had to wait
// for a free connection is counted apart (Queued), so that a run in which the
// loop was not open shows.
package generate

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"backstop/test/perf/hist"
)

// Options are one run.
type Options struct {
	To          netip.AddrPort
	Model       string
	Stream      bool
	Once        bool    // one request a connection
	Rate        float64 // requests a second, open loop; 0 = closed loop
	Connections int
	PromptBytes int
	Ramp        time.Duration // closed loop: the connections start spread over this time
	Warmup      time.Duration // requests sent in it are not timed
	Duration    time.Duration // of sending, after the warm-up
	Patience    time.Duration // longest wait for an answer
}

// Result is what was seen. Good are the complete answers with status 200; All
// includes those of the warm-up. Chunk is the time of a stream's chunk on its
// way, from the model server's write to our read.
type Result struct {
	Good, Bad, All, Queued int
	Chunks, AllChunks      int
	Seconds                float64
	Faults                 map[string]int
	Answer, First, Chunk   hist.Summary
}

const path = "/v1/chat/completions"

// request is what every connection sends.
func request(o Options) []byte {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 1+o.PromptBytes/45)[:o.PromptBytes]
	body := fmt.Sprintf(`{"model":%q,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":%q}],`+
		`"temperature":0.7,"max_tokens":512,"stream":%v}`, o.Model, text, o.Stream)
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: */*\r\nUser-Agent: perf\r\nContent-Length: %d\r\n\r\n%s",
		path, o.To, len(body), body)
}
