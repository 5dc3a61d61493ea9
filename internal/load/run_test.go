package load

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// canned answers without a network; in a bubble its delays are virtual.
type canned func(*http.Request) (*http.Response, error)

func (f canned) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func run(t *testing.T, o Options) *Report {
	t.Helper()
	if o.URL == "" {
		o.URL = "http://gateway.test/api/agent"
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCallsAreSentWhenTheyAreDueWhateverTheAnswersDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var late atomic.Int64
		r := run(t, Options{Rate: 50, Count: 500, Transport: canned(func(*http.Request) (*http.Response, error) {
			late.Add(int64(time.Since(start) % (20 * time.Millisecond)))
			time.Sleep(3 * time.Second)
			return answer(200, "{}"), nil
		})})
		if len(r.Samples) != 500 || late.Load() != 0 || r.Elapsed != 12980*time.Millisecond {
			t.Errorf("%d calls, %v late, %v in all; want 500 calls, one each 20 ms, 3 s each", len(r.Samples), time.Duration(late.Load()), r.Elapsed)
		}
		if l := r.Latency(); l.Min != 3*time.Second || l.Max != 3*time.Second {
			t.Errorf("latency %+v, want 3 s each", l)
		}
	})
}

func TestLatencyCountsFromTheIntendedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{Rate: 10, Count: 3, Body: func(i int) []byte { return nil },
			Transport: canned(func(*http.Request) (*http.Response, error) { time.Sleep(time.Second); return answer(200, ""), nil })})
		for i, s := range r.Samples {
			if s.Index != i || s.Due != time.Duration(i)*100*time.Millisecond || s.FirstByte != time.Second || s.Latency != time.Second {
				t.Errorf("sample %+v", s)
			}
		}
		late := runner{opts: Options{Timeout: time.Minute, Method: "GET", URL: "http://x"}, start: time.Now().Add(-5 * time.Second),
			send: canned(func(*http.Request) (*http.Response, error) { return answer(200, ""), nil })}
		late.call(t.Context(), 7, 2*time.Second)
		if s := late.samples[0]; s.Lag != 3*time.Second || s.Latency != 3*time.Second {
			t.Errorf("a generator that is 3 s late must show it: %+v", s)
		}
	})
}

func TestDurationEndsTheSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{Rate: 100, Duration: time.Second, Transport: canned(func(*http.Request) (*http.Response, error) { return answer(200, ""), nil })})
		if len(r.Samples) != 100 || r.Cut {
			t.Errorf("%d calls, want 100", len(r.Samples))
		}
	})
}

func TestPoissonArrivalsFollowTheSeedAndTheRate(t *testing.T) {
	times := func(seed uint64) (out []time.Duration) {
		a := newArrivals(&Options{Rate: 100, Poisson: true, Seed: seed})
		for range 10_000 {
			out = append(out, a.next())
		}
		return out
	}
	a, b, c := times(1), times(1), times(2)
	if a[9999] != b[9999] || a[9999] == c[9999] {
		t.Error("one seed must give one sequence")
	}
	if a[9999] < 95*time.Second || a[9999] > 105*time.Second {
		t.Errorf("10,000 arrivals at 100/s took %v", a[9999])
	}
}

func TestTheRunEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		r, err := Run(ctx, Options{Rate: 1, Count: 100, URL: "http://x", Transport: canned(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Canceled
		})})
		if err != nil || !r.Cut || len(r.Samples) != 2 || r.Elapsed != 1500*time.Millisecond || r.Errors()[ErrCanceled] != 2 {
			t.Errorf("%v %+v", err, r)
		}
	})
}

func TestACallThatNeverEndsTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{Rate: 1, Count: 1, Timeout: 5 * time.Second, Transport: canned(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		if s := r.Samples[0]; s.Err != ErrTimeout || s.Latency != 5*time.Second || s.OK() {
			t.Errorf("%+v", s)
		}
	})
}

func TestErrorsAreSorted(t *testing.T) {
	for want, err := range map[string]error{
		ErrTimeout: context.DeadlineExceeded, ErrCanceled: context.Canceled, ErrReset: syscall.ECONNRESET,
		ErrConnect: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, ErrCut: io.ErrUnexpectedEOF, ErrOther: errors.New("?"),
	} {
		if got := errorWord(err); got != want {
			t.Errorf("%v is %q, want %q", err, got, want)
		}
	}
}

func TestTheHeaderSaysWhoAnswered(t *testing.T) {
	r := run(t, Options{Rate: 1000, Count: 2, Transport: canned(func(*http.Request) (*http.Response, error) {
		return answer(200, "{}", "x-backstop-tier", "backup", "x-backstop-upstream", "qwen", "x-backstop-attempts", "2", "x-backstop-reason", "hang/moved"), nil
	})})
	s := r.Samples[0]
	if s.Tier != "backup" || s.Upstream != "qwen" || s.Attempts != 2 || s.Reason != "hang/moved" || r.MeanAttempts() != 2 || r.Tier("backup") != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAStreamIsReadToItsMark(t *testing.T) {
	const role, token, done = "data: {\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}\n\n", "data: {\"delta\":{\"content\":\"hi\"}}\n\n", "data: [DONE]\n\n"
	for _, c := range []struct {
		name, body, err string
		token           bool
	}{
		{"whole", role + token + done, "", true},
		{"without its mark", role + token, ErrIncomplete, true},
		{"with an error event", role + token + "data: {\"error\":{\"code\":\"x\"}}\n\n", ErrInBand, true},
		{"without a token", ": ping\n\n" + role + done, "", false},
		{"with a token over many buffers", role + "data: {\"content\":\"" + strings.Repeat("data: [DONE]", 5000) + "\"}\n\n" + done, "", true},
		{"without its mark, but with its words in a long line", "data: {\"content\":\"" + strings.Repeat("data: [DONE]\\n", 5000) + "\"}\n\n", ErrIncomplete, true},
		{"with the tokens of an agent", "data: {\"delta\":\"hi\"}\n\n" + done, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, Options{Rate: 1000, Count: 1, Stream: true, Transport: canned(func(*http.Request) (*http.Response, error) {
				return answer(200, c.body), nil
			})})
			s := r.Samples[0]
			if s.Err != c.err || (s.FirstToken > 0) != c.token || s.Bytes != int64(len(c.body)) {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestTheBodyCanBeChecked(t *testing.T) {
	r := run(t, Options{Rate: 1000, Count: 2, Check: func(b []byte) error {
		if string(b) != "right" {
			return errors.New("wrong answer")
		}
		return nil
	}, Transport: canned(func(*http.Request) (*http.Response, error) { return answer(200, "wrong"), nil })})
	if r.Errors()["wrong answer"] != 2 || r.Success() != 0 {
		t.Errorf("%+v", r.Errors())
	}
}

func TestBadOptionsAreNamed(t *testing.T) {
	for want, o := range map[string]Options{
		"rate":     {Count: 1, URL: "http://x"},
		"duration": {Rate: 1, URL: "http://x"},
		"no http":  {Rate: 1, Count: 1, URL: "localhost:3000"},
	} {
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to name %q", err, want)
		}
	}
}

func TestOverSocketsConnectionsAreUsedAgain(t *testing.T) {
	var conns atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("x-backstop-tier", "primary")
		_, _ = w.Write([]byte(strings.Repeat("x", 10_000)))
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	srv.Start()
	defer srv.Close()
	seen := 0
	r := run(t, Options{Rate: 1000, Count: 200, URL: srv.URL, Body: func(i int) []byte { return []byte(`{"prompt":"x"}`) }, Each: func(Sample) { seen++ }})
	if r.Success() != 1 || seen != 200 || r.Tier("primary") != 1 {
		t.Errorf("%d seen, %v %v", seen, r.Statuses(), r.Errors())
	}
	if conns.Load() == 200 {
		t.Error("each call had a connection of its own")
	}
}
