package admin

import (
	"net/http"
	"time"

	"backstop"
)

// stateView is GET /api/state. Times are RFC 3339, durations milliseconds.
type stateView struct {
	Now       time.Time      `json:"now"`
	Version   string         `json:"version"`
	Uptime    int64          `json:"uptime_s"`
	Upstreams []upstreamView `json:"upstreams"`
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
	for i := range st.Upstreams {
		v.Upstreams = append(v.Upstreams, viewUpstream(&st.Upstreams[i]))
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
