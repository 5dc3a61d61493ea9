package backstophttp

import (
	"testing"
	"time"

	"backstop"
)

// The usage comes some time behind the finish reason. A watchdog that looks in
// between, because of a clock that tokens have moved on since, waits for it.
func TestWhatComesBehindTheFinishReasonIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		script []string
		usage  int
		took   time.Duration
	}{
		"while the clock is looked at": {[]string{voiceP.say("a large piece"), "wait:5s", voiceP.say("b"), "wait:4950ms", voiceP.end("stop"), "wait:100ms", voiceP.usage(2), "wait:100ms", done}, 2, 10150 * time.Millisecond},
		"for long":                     {[]string{voiceP.say("a large piece"), "wait:5s", voiceP.end("stop"), "wait:9s", voiceP.usage(2), done}, 2, 14 * time.Second},
		"not for ever":                 {[]string{voiceP.say("a large piece"), "wait:5s", voiceP.end("stop"), "hang"}, 0, 15 * time.Second},
	} {
		for kind, change := range map[string]func(*backstop.Plan){
			"": nil,
			" beside a floor and comments": func(p *backstop.Plan) {
				p.Upstreams[0].Timeouts.Drip, p.Routes[0].Stream.Keepalive = 8, 3*time.Second
			},
			" beside hedges": func(p *backstop.Plan) { p.Routes[0].Hedge.After = time.Second },
		} {
			t.Run(name+kind, func(t *testing.T) {
				in(t, setup{primary: answers(append([]string{voiceP.role()}, c.script...)...), change: change}, func(h *house) {
					began := time.Now()
					p, ev := h.call(streamUsage)
					if g := understand(t, p.String()); g.usage != c.usage || g.done != 1 || ev.Outcome != backstop.OK {
						t.Errorf("usage %d, %s\n%s", g.usage, ev.Outcome, p)
					}
					if took := time.Since(began); took != c.took {
						t.Errorf("took %s, want %s", took, c.took)
					}
				})
			})
		}
	}
}
