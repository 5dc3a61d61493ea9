package backstophttp

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
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
			there := testkit.NewPipe()
			srv := &http.Server{Handler: c.primary}
			go func() { _ = srv.Serve(there) }()
			d, err := NewDriver(pair(nil), Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				if c.primary == nil {
					return nil, io.ErrClosedPipe
				}
				return there.DialContext(ctx, network, addr)
			}})
			if err != nil {
				t.Fatal(err)
			}
			sent := &upload{cut: make(chan struct{}), stalls: c.stalls}
			began := time.Now()
			d.Pass(t.Context(), uploaded{newPage(), sent}, &Passage{Upstream: "primary", ID: "req_1", Dialect: backstop.OpenAI,
				Method: "POST", Path: "/v1/files", Body: sent, Length: 1 << 20})
			if took := time.Since(began); took < c.took || took > c.took+100*time.Millisecond {
				t.Errorf("%s: it took %s", name, took)
			}
			sent.leave(t, name)
			_ = d.Close(t.Context())
			_ = srv.Close()
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
