package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"backstop"
	"backstop/internal/upstream"
)

const (
	mockTime  = 2 * time.Second // for one look at a mock
	mockBody  = 256 << 10
	longWord  = 256
	mostMocks = 64
)

// faultsView is an upstream in GET /api/faults.
type faultsView struct {
	Upstream string            `json:"upstream"`
	Mock     bool              `json:"mock"` // it answers as our mock
	Faults   map[string]string `json:"faults"`
	Words    []wordView        `json:"words"` // faults that it knows
}

// wordView is a fault in the mock's own words.
type wordView struct {
	Word    string `json:"word"`
	Example string `json:"example"`
	About   string `json:"about"`
}

// newMocks makes the way to mocks. It reaches private addresses only, sends no
// credential and follows nobody.
func newMocks() *http.Client {
	return &http.Client{
		Timeout:       mockTime,
		Transport:     &http.Transport{DialContext: upstream.DialNearby(mockTime), DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// errNoMock is every reason why an upstream is not our mock.
var errNoMock = errors.New("this upstream does not answer as a mock of ours; faults are injected into `backstop mock` only")

// mockURL is where the mock behind an upstream of the plan would take orders.
func mockURL(u *backstop.Upstream) (string, error) {
	base, err := url.Parse(u.BaseURL)
	if err != nil || !u.AllowPrivate || base.Host == "" {
		return "", errNoMock
	}
	return (&url.URL{Scheme: base.Scheme, Host: base.Host, Path: "/mock/faults"}).String(), nil
}

// ask sends one request to a mock and returns its answer.
func (p *plane) ask(ctx context.Context, method, to string, body []byte) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return 0, nil, errNoMock
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.mocks.Do(req)
	if err != nil {
		return 0, nil, errNoMock
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mockBody))
	if err != nil {
		return 0, nil, errNoMock
	}
	return resp.StatusCode, text, nil
}

// look finds out whether an upstream is our mock, and how it is broken.
func (p *plane) look(ctx context.Context, u *backstop.Upstream) (faultsView, error) {
	v := faultsView{Upstream: u.Name, Faults: map[string]string{}, Words: []wordView{}}
	to, err := mockURL(u)
	if err != nil {
		return v, err
	}
	status, text, err := p.ask(ctx, http.MethodGet, to, nil)
	if err != nil {
		return v, err
	}
	var said struct {
		Faults map[string]string
		Words  []wordView
	}
	if status != http.StatusOK || json.Unmarshal(text, &said) != nil || !knows(said.Words, "hang") || !knows(said.Words, "ok") {
		return v, errNoMock
	}
	v.Mock, v.Words = true, said.Words
	if said.Faults != nil {
		v.Faults = said.Faults
	}
	return v, nil
}

func knows(words []wordView, word string) bool {
	return slices.ContainsFunc(words, func(w wordView) bool { return w.Word == word })
}

// faults looks at every upstream of the plan that could be a mock.
func (p *plane) faults(w http.ResponseWriter, r *http.Request) {
	plan := p.Plan()
	out := make([]faultsView, len(plan.Upstreams))
	var all sync.WaitGroup
	for i := range plan.Upstreams {
		if i >= mostMocks {
			out[i] = faultsView{Upstream: plan.Upstreams[i].Name, Faults: map[string]string{}, Words: []wordView{}}
			continue
		}
		all.Go(func() { out[i], _ = p.look(r.Context(), &plan.Upstreams[i]) })
	}
	all.Wait()
	reply(w, http.StatusOK, map[string]any{"upstreams": out})
}

// inject breaks or heals the mock behind an upstream.
func (p *plane) inject(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Model string `json:"model"`
		Fault string `json:"fault"`
	}
	if !order(w, r, &in, `{"fault": "hang", "model": "*"}; no model means all, an empty fault takes it away`) {
		return
	}
	if in.Model == "" {
		in.Model = "*"
	}
	if len(in.Model) > longWord || len(in.Fault) > longWord {
		fail(w, http.StatusBadRequest, "invalid_request", "a model name and a fault have at most 256 bytes")
		return
	}
	u := p.Plan().Upstream(r.PathValue("upstream"))
	if u == nil {
		fail(w, http.StatusNotFound, "not_found", "no upstream has this name; see GET /api/state")
		return
	}
	if _, err := p.look(r.Context(), u); err != nil {
		fail(w, http.StatusConflict, "not_a_mock", err.Error())
		return
	}
	to, _ := mockURL(u) // look has just used it
	status, text, err := p.ask(r.Context(), http.MethodPost, to, encode(map[string]string{"model": in.Model, "fault": in.Fault}))
	if err != nil {
		fail(w, http.StatusConflict, "not_a_mock", err.Error())
		return
	}
	if status != http.StatusOK {
		var said struct{ Error string }
		_ = json.Unmarshal(text, &said)
		fail(w, http.StatusBadRequest, "invalid_request", cut("the mock refused: "+said.Error))
		return
	}
	p.Log.Warn("admin plane: the mock behind "+u.Name+" was told what to do", "model", in.Model, "fault", cmp.Or(in.Fault, "none"))
	v, err := p.look(r.Context(), u)
	if err != nil {
		fail(w, http.StatusConflict, "not_a_mock", err.Error())
		return
	}
	reply(w, http.StatusOK, v)
}
