package backstop

import (
	"fmt"
	"testing"
	"time"
)

// However many keys or retries the primary has, they do not use up the requests
// of a call while the backup, which was not asked yet, could answer.
func TestTheLastRequestOfACallBelongsToATierThatWasNotAsked(t *testing.T) {
	refused := func(k Kind, status int) behaviour {
		return answers(time.Millisecond, Outcome{Class: Limited, Kind: k, Status: status, Park: ParkKey, NextTier: true})
	}
	keys := upstreamEdit("primary", func(u *Upstream) {
		for i := range 6 {
			u.Keys = append(u.Keys, secretValue(fmt.Sprintf("key-%d-0123456789", i)))
		}
	})
	retries := upstreamEdit("primary", func(u *Upstream) { u.Retry.Max = 5 })
	waits := upstreamEdit("primary", func(u *Upstream) { u.Retry.Max, u.Retry.Wait = 5, time.Second })
	fourth := func(bad behaviour) behaviour { return then(bad, bad, bad, good) }
	rate, auth, quota := refused(KindRate, 429), refused(KindAuth, 401), refused(KindQuota, 402)
	none := func(p *Plan) { p.Routes[0].Tiers = p.Routes[0].Tiers[:1] }
	for name, c := range map[string]struct {
		primary behaviour
		plan    []func(*Plan)
		req     Request
		tier    int
	}{
		"every key at its rate limit":            {rate, []func(*Plan){keys}, Request{}, 1},
		"every key refused":                      {auth, []func(*Plan){keys}, Request{}, 1},
		"every account empty":                    {quota, []func(*Plan){keys}, Request{}, 1},
		"every retry in vain":                    {down, []func(*Plan){retries}, Request{}, 1},
		"every wait in vain":                     {then(down, down, limited(500*time.Millisecond)), []func(*Plan){waits}, Request{}, 1},
		"no other tier, and the fourth key":      {fourth(rate), []func(*Plan){keys, none}, Request{}, 0},
		"no other tier, and the fourth try":      {fourth(down), []func(*Plan){retries, none}, Request{}, 0},
		"no other tier wanted, and the fourth":   {fourth(rate), []func(*Plan){keys}, Request{NoFallback: true}, 0},
		"no other tier that may, and the fourth": {fourth(rate), []func(*Plan){keys, func(p *Plan) { p.Routes[0].Tiers[1].Model = "other" }}, Request{Embed: true}, 0},
	} {
		w := newWorld(t, pair(c.plan...))
		w.acts["primary"], w.acts["backup"] = c.primary, good
		r := w.begin(c.req)
		w.run(20 * time.Second)
		if r.answered.Tier != c.tier || r.answered.Failure != nil || len(r.tries) != MaxAttempts {
			t.Errorf("%s: %d tries, tier %d, %+v", name, len(r.tries), r.answered.Tier, r.answered.Failure)
		}
	}
}
