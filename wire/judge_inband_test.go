package wire

import (
	"net/http"
	"testing"

	"backstop"
)

// The errors of all vendors as they stand in a stream, where no status and no
// header says more: what is the upstream's own trouble is never taken for a
// mistake of the caller's, which nobody else is asked about.
func TestAnErrorEventBlamesItsCallerOnlyForWhatIsTheCallers(t *testing.T) {
	blames := func(class string) bool {
		return class == backstop.Rejected.String() || class == backstop.Refused.String()
	}
	for _, path := range []string{"openai/testdata/upstream-answers.jsonl", "openai/testdata/upstream-answers-more.jsonl"} {
		for _, j := range readJudged(t, path) {
			if wall := j.Want.Kind == "auth" || j.Want.Kind == "quota"; j.Surface != "http" || wall {
				continue // a wall stands in front of a stream
			}
			t.Run(j.ID, func(t *testing.T) {
				for _, s := range []Surface{SurfaceFirst, SurfaceMid} {
					a := j.reply(s)
					a.Status, a.Event, a.Header = http.StatusOK, "error", http.Header{}
					o := Judge(a)
					if blames(o.Class.String()) && !blames(j.Want.Outcome) {
						t.Errorf("%s/%s, with its status %s/%s\n%s", o.Class, o.Kind, j.Want.Outcome, j.Want.Kind, j.Body)
					}
				}
			})
		}
	}
}
