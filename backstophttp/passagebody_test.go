package backstophttp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"backstop"
	"backstop/internal/testkit"
)

// upload is the body of a caller who sends a byte a second and never ends. It
// may be read until the passage is over and not a moment longer: after that
// the connection is net/http's again.
type upload struct {
	mu      sync.Mutex
	reading bool
	over    bool
	late    bool          // it was read when it was over
	cut     chan struct{} // the connection's read deadline has come
	stalls  bool          // nothing of it comes
}

func (u *upload) Read(p []byte) (int, error) {
	u.mu.Lock()
	u.reading, u.late = true, u.late || u.over
	u.mu.Unlock()
	defer func() {
		u.mu.Lock()
		u.reading, u.late = false, u.late || u.over
		u.mu.Unlock()
	}()
	wait := time.Second
	if u.stalls {
		wait = 24 * time.Hour
	}
	select {
	case <-time.After(wait):
		p[0] = 'x'
		return 1, nil
	case <-u.cut:
		return 0, os.ErrDeadlineExceeded
	}
}

// uploaded is the caller's side: its read deadline ends a read that waits.
type uploaded struct {
	*page
	body *upload
}

func (u uploaded) SetReadDeadline(at time.Time) error {
	if !at.IsZero() && !at.After(time.Now()) {
		close(u.body.cut)
	}
	return nil
}

// brokenBody is a body that ends with an error.
type brokenBody struct{ err error }

func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }

func TestABodyThatIsNotSentIsNotTheUpstreamsFault(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
	}{
		"it broke off":       {io.ErrUnexpectedEOF, 400, "invalid_request"},
		"it is no chunk":     {errors.New("malformed chunked encoding"), 400, "invalid_request"},
		"it came too slowly": {os.ErrDeadlineExceeded, 408, "invalid_request"},
		"it is larger":       {&http.MaxBytesError{Limit: 5}, 413, "too_large"},
	} {
		in(t, setup{primary: answers("never")}, func(h *house) {
			sent := io.MultiReader(strings.NewReader("some"), brokenBody{c.err})
			p, ev, cut := h.handOver(&Passage{Path: "/v1/files", Body: sent, Length: -1})
			if p.status != c.status || !strings.Contains(p.String(), c.code) || ev.Outcome != backstop.Rejected || cut {
				t.Errorf("%s: %d %s, %s, cut %v", name, p.status, p, ev.Outcome, cut)
			}
		})
	}
}

func TestAnAnswerThatEndsWithABodyThatIsNotSentIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, done := onto(t, func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			w.WriteHeader(200)
			act(w, r, []string{"part"})
			_, _ = io.Copy(io.Discard, r.Body)
		})
		defer done()
		sent := io.MultiReader(strings.NewReader(strings.Repeat("x", 8<<10)), slowly{time.Second}, brokenBody{&http.MaxBytesError{}})
		p := newPage()
		ev, cut := d.Pass(t.Context(), p, &Passage{Upstream: "primary", ID: "req_1", Dialect: backstop.OpenAI, Method: "POST", Path: "/v1/files", Body: sent, Length: -1})
		if p.status != 200 || p.String() != "part" || ev.Outcome != backstop.Rejected || !cut {
			t.Errorf("%d %s, %s, cut %v", p.status, p, ev.Outcome, cut)
		}
	})
}

// onto is a driver whose primary is on a pipe, with bodies that nobody reads
// before it does. done ends both.
func onto(t *testing.T, primary http.HandlerFunc) (d *Driver, done func()) {
	t.Helper()
	there := testkit.NewPipe()
	srv := &http.Server{Handler: primary}
	go func() { _ = srv.Serve(there) }()
	d, err := NewDriver(pair(nil), Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if primary == nil {
			return nil, io.ErrClosedPipe
		}
		return there.DialContext(ctx, network, addr)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return d, func() { _ = d.Close(t.Context()); _ = srv.Close() }
}

// slowly is a body without bytes that takes its time.
type slowly struct{ d time.Duration }

func (b slowly) Read([]byte) (int, error) { time.Sleep(b.d); return 0, io.EOF }

func TestAPassageWithoutAnAnswerSaysWhoEndedIt(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(h *house, leave context.CancelFunc)
		code int
		text string
	}{
		"the process": {func(h *house, _ context.CancelFunc) { h.d.Abort() }, 503, "draining"},
		"the caller":  {func(_ *house, leave context.CancelFunc) { leave() }, 499, "canceled"},
	} {
		in(t, setup{primary: answers("hang")}, func(h *house) {
			ctx, leave := context.WithCancel(context.Background())
			defer leave()
			time.AfterFunc(time.Second, func() { c.end(h, leave) })
			p := newPage()
			ev, cut := h.d.Pass(ctx, p, &Passage{Upstream: "primary", ID: "req_1", Dialect: backstop.OpenAI, Method: "GET", Path: "/v1/files"})
			if p.status != c.code || !strings.Contains(p.String(), c.text) || ev.Outcome != backstop.Canceled || cut {
				t.Errorf("%s: %d %s, %s, cut %v", name, p.status, p, ev.Outcome, cut)
			}
		})
	}
}

func TestNobodyReadsTheBodyOfAPassageThatIsOver(t *testing.T) {
	early := func(status int, steps ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			_ = http.NewResponseController(w).EnableFullDuplex()
			time.Sleep(3 * time.Second)
			w.WriteHeader(status)
			act(w, r, steps)
		}
	}
	for name, c := range map[string]struct {
		primary http.HandlerFunc
		stalls  bool
		took    time.Duration
	}{
		"answered before its end":                   {early(200, "part"), false, 3 * time.Second},
		"answered before any of it came":            {early(200, "part"), true, 3 * time.Second},
		"refused before its end":                    {early(413, "theirs"), false, 3 * time.Second},
		"refused before any of it came":             {early(413, "theirs"), true, 3 * time.Second},
		"an answer that breaks off":                 {early(200, "part", "fin"), false, 3 * time.Second},
		"an answer that breaks off before it comes": {early(200, "part", "fin"), true, 3 * time.Second},
		"nobody there":                              {nil, true, 0},
		"silence":                                   {body(200, "never"), true, passageIdle},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, done := onto(t, c.primary)
			defer done()
			sent := &upload{cut: make(chan struct{}), stalls: c.stalls}
			began := time.Now()
			d.Pass(t.Context(), uploaded{newPage(), sent}, &Passage{Upstream: "primary", ID: "req_1", Dialect: backstop.OpenAI,
				Method: "POST", Path: "/v1/files", Body: sent, Length: 1 << 20})
			if took := time.Since(began); took < c.took || took > c.took+100*time.Millisecond {
				t.Errorf("%s: it took %s", name, took)
			}
			sent.leave(t, name)
		})
	}
}

// leave says that the passage is over, and waits whether somebody cares.
func (u *upload) leave(t *testing.T, name string) {
	u.mu.Lock()
	u.over = true
	if u.reading {
		t.Errorf("%s: somebody still reads the body", name)
	}
	u.mu.Unlock()
	time.Sleep(10 * time.Second)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.late {
		t.Errorf("%s: the body was read when it was over", name)
	}
	select {
	case <-u.cut:
	default:
		close(u.cut)
	}
}
