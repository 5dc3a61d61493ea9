package cases

import (
	"net/http"
	"testing"
	"time"
)

// TestChecklistL2CallersWhoTryAgainMakeNoStorm has a hundred callers who ask
// as LangChain does, up to seven times, of a program whose only upstream
// closes every connection. They wait for each other where LangChain waits for
// a time.
func TestChecklistL2CallersWhoTryAgainMakeNoStorm(t *testing.T) {
	t.Parallel()
	const callers, tries = 100, 7
	for signal, want := range map[string]int{"adaptive": callers, "fixed": callers * tries} {
		t.Run(signal, func(t *testing.T) {
			t.Parallel()
			p := newFake(t, "primary", fin)
			p.racing = callers
			g := start(t, setup{primary: p, retries: 1, reset: time.Hour, topYAML: "errors: {retry_signal: " + signal + "}\n"})
			asked := 0
			for left, try := callers, 0; left > 0 && try < tries; try++ {
				asked += left
				again := 0
				for _, a := range g.together(left, call{header: map[string]string{"User-Agent": "langchainjs-openai/1.0.0"}}) {
					told := a.header.Get("Retry-After") != ""
					if a.status >= 500 || a.status == http.StatusTooManyRequests && told {
						again++ // it takes everything else for final
					}
				}
				left = again
			}
			if got := p.count(); got > callers*11/10 {
				t.Errorf("the upstream saw %d requests of %d questions", got, callers)
			}
			if asked != want {
				t.Errorf("%d requests of the callers, want %d", asked, want)
			}
		})
	}
}
