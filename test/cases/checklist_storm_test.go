package cases

import (
	"net/http"
	"sync"
	"testing"
)

// TestChecklistL2CallersWhoTryAgainMakeNoStorm has a hundred callers who ask
// as LangChain does, up to seven times, of a program whose only upstream
// closes every connection.
func TestChecklistL2CallersWhoTryAgainMakeNoStorm(t *testing.T) {
	t.Parallel()
	const callers, tries = 100, 7
	for _, signal := range []string{"adaptive", "fixed"} {
		t.Run(signal, func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", fin)
			p.racing = callers
			g := start(t, setup{primary: p, retries: 1, topYAML: "errors: {retry_signal: " + signal + "}\n"})
			var mu sync.Mutex
			asked := 0
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					for range tries {
						a := g.open(call{header: map[string]string{"User-Agent": "langchainjs-openai/1.0.0"}})
						a.wait()
						mu.Lock()
						asked++
						mu.Unlock()
						if a.status == http.StatusTooManyRequests && a.header.Get("Retry-After") == "" || a.status < 500 && a.status != http.StatusTooManyRequests {
							return // it takes that for a final answer
						}
					}
				})
			}
			all.Wait()
			if got := p.count(); got > callers*11/10 {
				t.Errorf("the upstream saw %d requests of %d questions", got, callers)
			}
			want := callers * tries
			if signal == "adaptive" {
				want = callers
			}
			if asked != want {
				t.Errorf("%d requests of the callers, want %d", asked, want)
			}
		})
	}
}
