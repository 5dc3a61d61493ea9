package admin

import (
	"net/http"
	"net/url"
	"time"

	"backstop"
)

// stateView is GET /api/state. Times are RFC 3339, durations milliseconds.
type stateView struct {
	Now       time.Time      `json:"now"`
	Version   string         `json:"version"`
	Uptime    int64          `json:"uptime_s"`
	Upstreams []upstreamView `json:"upstreams"`
	Routes    []routeView    `json:"routes"`
}

// routeView is a rule of the plan and its tiers in order.
type routeView struct {
	Model string     `json:"model"`
	Tiers []tierView `json:"tiers"`
}

type tierView struct {
	Name  string `json:"name"`            // upstream, "template" or "cache"
	Model string `json:"model,omitempty"` // "" = as asked
	Local bool   `json:"local,omitempty"`
}

type upstreamView struct {
	Name     string               `json:"name"`
	Vendor   string               `json:"vendor"`
	Dialect  backstop.Dialect     `json:"dialect"`
	State    string               `json:"state"` // the worst of its scopes
	Keys     int                  `json:"keys"`
	Inflight int                  `json:"inflight"`
	Budget   float64              `json:"retry_budget"`
	Parked   []backstop.ParkState `json:"parked"`
	Scopes   []scopeView          `json:"scopes"`

	BaseURL    string            `json:"base_url,omitempty"`
	Account    string            `json:"account,omitempty"`
	Limits     limitsView        `json:"limits"` // 0 = none
	FirstToken float64           `json:"first_token_ms"`
	Lately     map[string]uint64 `json:"attempts_5m"` // by class
	Since      map[string]uint64 `json:"attempts"`    // by class, since the start
	Trouble    *troubleView      `json:"trouble,omitempty"`
}

type limitsView struct {
	Rate     float64 `json:"rate"` // attempts per second
	Burst    int     `json:"burst"`
	Inflight int     `json:"inflight"`
}

// troubleView is the latest attempt that failed through the upstream's fault.
type troubleView struct {
	Time    time.Time `json:"time"`
	Call    string    `json:"call"`
	Model   string    `json:"model"`
	Outcome string    `json:"outcome"`
	Status  int       `json:"status,omitempty"`
}

type scopeView struct {
	Scope      string     `json:"scope"`
	Model      string     `json:"model,omitempty"`
	State      string     `json:"state"`
	Since      *time.Time `json:"since,omitempty"`
	Cause      string     `json:"cause,omitempty"`
	Next       *time.Time `json:"next,omitempty"` // next probe
	Run        int        `json:"run"`
	Need       int        `json:"need"`
	Suspicion  float64    `json:"suspicion_ms"`
	FirstToken float64    `json:"first_token_p95_ms"`
	Samples    int        `json:"samples"`
	Waiting    int        `json:"waiting"`
}

func (p *plane) view() stateView {
	st := p.State()
	now := p.Clock()
	v := stateView{Now: now, Version: p.Version, Uptime: int64(now.Sub(p.started).Seconds()), Upstreams: make([]upstreamView, 0, len(st.Upstreams))}
	plan := p.Plan()
	for i := range st.Upstreams {
		u := viewUpstream(&st.Upstreams[i])
		p.addPlan(&u, plan.Upstream(u.Name))
		p.addTally(&u)
		v.Upstreams = append(v.Upstreams, u)
	}
	v.Routes = make([]routeView, 0, len(plan.Routes))
	for i := range plan.Routes {
		v.Routes = append(v.Routes, viewRoute(&plan.Routes[i]))
	}
	return v
}

// addPlan adds what the plan says of an upstream.
func (p *plane) addPlan(v *upstreamView, u *backstop.Upstream) {
	if u == nil { // the plan was replaced between two looks
		return
	}
	v.Account, v.FirstToken = u.Account, millis(u.Timeouts.FirstToken)
	v.Limits = limitsView{Rate: u.Limits.Rate, Burst: u.Limits.Burst, Inflight: u.Limits.Inflight}
	if base, err := url.Parse(u.BaseURL); err == nil {
		v.BaseURL = base.Scheme + "://" + base.Host + base.EscapedPath() // nothing that could hold a credential
	}
}

func (p *plane) addTally(v *upstreamView) {
	t := p.Tally(v.Name)
	v.Lately, v.Since = t.Lately, t.Since
	if !t.Last.Time.IsZero() {
		view := troubleView(t.Last)
		v.Trouble = &view
	}
}

func viewRoute(r *backstop.Route) routeView {
	v := routeView{Model: r.Model, Tiers: make([]tierView, len(r.Tiers))}
	for i := range r.Tiers {
		t := &r.Tiers[i]
		v.Tiers[i] = tierView{Name: t.Name(), Model: t.Model, Local: t.Local != nil}
	}
	return v
}

func viewUpstream(u *backstop.UpstreamState) upstreamView {
	v := upstreamView{Name: u.Name, Vendor: u.Vendor, Dialect: u.Dialect, State: "closed", Keys: u.Keys, Inflight: u.Inflight,
		Budget: u.Budget, Parked: append([]backstop.ParkState{}, u.Parked...), Scopes: make([]scopeView, 0, len(u.Scopes))}
	for _, s := range u.Scopes {
		if worse(s.State, v.State) {
			v.State = s.State
		}
		v.Scopes = append(v.Scopes, scopeView{Scope: s.Scope, Model: s.Model, State: s.State, Since: timeOf(s.Since), Cause: s.Cause, Next: timeOf(s.Next),
			Run: s.Run, Need: s.Need, Suspicion: millis(s.Suspicion), FirstToken: millis(s.FirstToken95), Samples: s.Samples, Waiting: s.Waiting})
	}
	return v
}

// badness orders the states of breakers.
var badness = map[string]int{"closed": 0, "forced-closed": 1, "half-open": 2, "open": 3, "forced-open": 4}

func worse(a, b string) bool { return badness[a] > badness[b] }

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func millis(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

func (p *plane) state(w http.ResponseWriter, _ *http.Request) { reply(w, http.StatusOK, p.view()) }
