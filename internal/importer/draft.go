package importer

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"backstop"
	"backstop/internal/config/tree"
)

// draft is our configuration while it is put together.
type draft struct {
	notes
	vault     *vault
	crowded   bool // an upstream has the place of our own listeners
	callers   []callerDraft
	knobs     knobs // of all upstreams
	upstreams []upstreamDraft
	routes    []routeDraft
	jsonLog   bool
}

type callerDraft struct{ name, key string }

// knobs are the settings that an upstream may have of its own or for all; zero
// means not said, a pointer tells a said zero from that.
type knobs struct {
	firstToken, total time.Duration
	retries           *int
	failures          int
	reset             time.Duration
	perMinute         float64
	inflight          int
}

// upstreamDraft is one upstream. Texts hold references already.
type upstreamDraft struct {
	name    string // given when it is added
	wish    string // what it would like to be called
	dialect backstop.Dialect
	vendor  string
	baseURL string
	keys    []string
	headers []pair
	query   []pair
	params  []pair // quirks.set_params; values are JSON
	drops   []string
	private bool
	knobs
}

type pair struct{ name, value string }

type tierDraft struct {
	upstream, model string
	context         int
}

type routeDraft struct {
	model   string
	tiers   []tierDraft
	refusal bool          // content filters go on
	cache   time.Duration // 0 = none
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// upstream adds an upstream, unless an equal one is there, and returns its name.
func (d *draft) upstream(u upstreamDraft) string {
	d.crowded = d.crowded || besideUs(u.baseURL)
	for i := range d.upstreams {
		have := d.upstreams[i]
		have.name, have.wish = u.name, u.wish
		if reflect.DeepEqual(have, u) {
			return d.upstreams[i].name
		}
	}
	base := strings.Trim(notInNames.ReplaceAllString(u.wish, "-"), "-.")
	base = base[:min(len(base), 40)]
	if base == "" || base == "local" || base == "template" || base == "cache" || base == "auto" {
		base = "upstream"
	}
	u.name = base
	for i := 2; slices.ContainsFunc(d.upstreams, func(o upstreamDraft) bool { return o.name == u.name }); i++ {
		u.name = fmt.Sprintf("%s-%d", base, i)
	}
	d.upstreams = append(d.upstreams, u)
	return u.name
}

// route adds a route; a second one for the same model is a longer chain.
func (d *draft) route(r routeDraft) {
	r.tiers = withoutDoubles(r.tiers)
	if len(r.tiers) == 0 {
		return
	}
	for i := range d.routes {
		if d.routes[i].model == r.model {
			d.routes[i].tiers = withoutDoubles(append(d.routes[i].tiers, r.tiers...))
			return
		}
	}
	if len(d.routes) >= maxRoutes {
		d.full("routes", maxRoutes)
		return
	}
	d.routes = append(d.routes, r)
}

func withoutDoubles(list []tierDraft) (out []tierDraft) {
	for _, t := range list {
		same := func(o tierDraft) bool { return o.upstream == t.upstream && o.model == t.model }
		if !slices.ContainsFunc(out, same) && len(out) < maxTiers {
			out = append(out, t)
		}
	}
	return out
}

// What a file of ours may list; of the tiers one place is the cache's.
const (
	maxUpstreams = 200
	maxRoutes    = 1000
	maxTiers     = 18
)

// order puts patterns behind names and wider ones behind narrower ones: with
// us the first match wins.
func (d *draft) order() {
	slices.SortStableFunc(d.routes, func(a, b routeDraft) int { return wideness(a.model) - wideness(b.model) })
}

func wideness(model string) int {
	switch {
	case model == "*":
		return 1000
	case strings.ContainsAny(model, `*?[\`):
		return 999 - min(len(model), 900)
	}
	return 0
}

// result writes the draft. It is nil if there is nothing to call.
func (d *draft) result(from string) (*Result, error) {
	if len(d.routes) == 0 {
		return nil, fmt.Errorf("%s holds nothing that can be called: no model of it has a place and a dialect of ours", shown(from))
	}
	d.order()
	d.times()
	slices.SortStableFunc(d.notes.list, func(a, b Note) int { return a.Line - b.Line })
	return &Result{YAML: d.write(from), Upstreams: len(d.upstreams), Routes: len(d.routes), Notes: d.notes.list, Needs: d.vault.needs, Addresses: d.vault.bases}, nil
}

// full says that a file of ours cannot hold more, once.
func (d *draft) full(what string, most int) {
	d.add(Dropped, what, nil, "a file of ours holds at most %d: the rest was left out", most)
}

// bound keeps a number of second tries within what a call may make.
func (d *draft) bound(where string, at *tree.Node, n int) *int {
	const most = backstop.MaxAttempts - 1
	if n > most {
		d.add(Changed, where, at, "%d second tries become retry.max %d: a call makes at most %d requests in all", n, most, backstop.MaxAttempts)
		n = most
	}
	n = max(n, 0)
	return &n
}

// times mends limits that contradict each other: with us the whole answer
// cannot have less time than its first token.
func (d *draft) times() {
	k := &d.knobs
	if k.total > 0 && k.firstToken == 0 && k.total < backstop.DefaultFirstToken {
		k.firstToken = k.total
	}
	if k.firstToken > 0 && k.total > 0 && k.total < k.firstToken {
		k.total = k.firstToken
	}
	first, total := or(k.firstToken, backstop.DefaultFirstToken), or(k.total, backstop.DefaultTotal)
	for i := range d.upstreams {
		u := &d.upstreams[i].knobs
		switch mine := or(u.total, total); {
		case u.firstToken > mine:
			u.total = u.firstToken
		case u.firstToken == 0 && u.total > 0 && u.total < first:
			u.firstToken = u.total
		}
	}
	if k.firstToken > total {
		k.total = k.firstToken
	}
}

func or(d, instead time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return instead
}
