package backstophttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"backstop"
	"backstop/internal/upstream"
	"backstop/wire"
)

const (
	// maxPassage bounds the answer to a request that is passed on as it is:
	// files are fetched that way.
	maxPassage = 1 << 30
	// passageIdle is the longest silence of such a request or its answer.
	// Between the two a picture or a transcript is made: that takes
	// timeouts.total at most, or passageWait where there is none. What comes is
	// cut by neither, as the stream of a call is not.
	passageIdle = time.Minute
	passageWait = backstop.DefaultTotal
)

// Passage is a request that is no call: it goes to one upstream as it is, with
// the upstream's credential, and its answer comes back as it is. No breaker,
// no retry and no other tier has a part in it; parked keys are passed over.
type Passage struct {
	Upstream string // config name, unless the path names what another one issued
	ID       string // request id
	Caller   string
	Dialect  backstop.Dialect // of errors of our own
	Method   string
	Path     string // escaped as it came, with the version, e.g. "/v1/files"
	Query    string
	Header   http.Header
	Body     io.Reader // bounded by whoever calls, not read once Pass has returned; nil = none
	Length   int64     // -1 = unknown
}

// Pass carries a request to its upstream and the answer back, both while they
// come. The event it returns was already given to Options.Observe. If cut, the
// answer broke off, and a part of a file must not look whole: whoever asked is
// to cut the caller's connection, by a panic with http.ErrAbortHandler.
func (d *Driver) Pass(ctx context.Context, w http.ResponseWriter, p *Passage) (ev *backstop.Event, cut bool) {
	d.works.add()
	defer d.works.done()
	began := time.Now()
	own := *p
	own.Upstream = d.issuer(p)
	s := &passing{d: d, p: &own, out: answer{w: w}}
	o := s.run(ctx)
	d.mask.cover(&o)
	ev = &backstop.Event{
		ID: s.p.ID, Time: began, Caller: s.p.Caller, Dialect: s.p.Dialect, Op: backstop.OpPass, TierIndex: -1, Upstream: s.p.Upstream,
		Outcome: o.Class, InputTokens: -1, OutputTokens: -1,
	}
	if !s.out.started {
		ev.Failure = s.fail(&o)
	}
	ev.Status, ev.Duration = s.out.status, time.Since(began)
	ev.Upstreamed = ev.Duration
	if d.options.Observe != nil {
		d.options.Observe(ev)
	}
	return ev, s.cut
}

// passing is a passage on its way.
type passing struct {
	d    *Driver
	p    *Passage
	u    *backstop.Upstream
	out  answer
	body *noticed // nil = none
	cut  bool     // the answer broke off
}

func (s *passing) run(ctx context.Context) (o backstop.Outcome) {
	if s.u = s.d.plan.Upstream(s.p.Upstream); s.u == nil || s.d.conns[s.p.Upstream] == nil {
		return *inexpressible("", "there is no such upstream")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.d.works.run(func() {
		select {
		case <-s.d.aborted:
			cancel()
		case <-ctx.Done():
		}
	})
	var late atomic.Bool
	end := func() { late.Store(true); cancel() }
	idle := time.AfterFunc(passageIdle, end)
	defer idle.Stop()
	o = s.exchange(ctx, func(next time.Duration) { idle.Reset(next) })
	switch {
	case late.Load() && o.Class == backstop.Canceled:
		o.Class, o.Kind = backstop.Hang, backstop.KindIdle
	case s.body.fault() != nil && (s.cut || !s.out.started):
		o = backstop.Outcome{Class: backstop.Rejected, InputTokens: -1, OutputTokens: -1} // whatever the transport made of it
	}
	return o
}

// exchange sends the request and passes the answer on. alive is called
// whenever something moves, with the longest silence that may follow.
func (s *passing) exchange(ctx context.Context, alive func(next time.Duration)) backstop.Outcome {
	began := time.Now()
	key, until := s.d.engine.PassKey(began, s.u.Name)
	if !until.IsZero() {
		return parked(until.Sub(began))
	}
	pass := upstream.Passage{Method: s.p.Method, Path: s.p.Path, Query: s.p.Query, Key: key, Header: s.p.Header, Length: s.p.Length}
	var answered atomic.Bool
	wait := passageWait
	if total := s.u.Timeouts.Total; total > 0 {
		wait = total
	}
	if s.p.Body == nil || s.p.Length == 0 {
		alive(wait)
	}
	if s.p.Body != nil {
		body := &noticed{from: s.p.Body}
		body.alive = func() {
			if body.whole.Load() && !answered.Load() {
				alive(wait)
			} else {
				alive(passageIdle)
			}
		}
		s.body = body
		defer body.end(s.out.w)
		defer context.AfterFunc(ctx, func() { body.end(s.out.w) })() // the transport waits for a read that waits
		pass.Body = body
	}
	resp, err := s.d.conns[s.u.Name].Pass(ctx, &pass)
	switch {
	case errors.Is(err, upstream.ErrPassage):
		return *inexpressible("", "the request cannot be passed on: its method, path or query is not plain")
	case err != nil:
		return upstream.Classify(err, false)
	}
	defer func() { _ = resp.Body.Close() }()
	answered.Store(true)
	alive(passageIdle)
	o := backstop.Outcome{Class: backstop.OK, Status: resp.StatusCode, InputTokens: -1, OutputTokens: -1}
	switch {
	case resp.StatusCode < 200 || 300 <= resp.StatusCode && resp.StatusCode < 400 && resp.StatusCode != http.StatusNotModified:
		o.Class, o.Kind = backstop.Garbled, backstop.KindProtocol // a redirect would lead elsewhere
		return o
	case resp.StatusCode >= 400:
		return s.refused(resp, o, key, began)
	}
	s.d.engine.Passed(time.Now(), s.u.Name, key, began, &o)
	return s.copy(resp, o, alive)
}

// parked is the outcome of a request for which no key is free.
func parked(wait time.Duration) backstop.Outcome {
	return backstop.Outcome{Class: backstop.Limited, Kind: backstop.KindRate, Hint: wait, HasHint: true, NotSent: true, InputTokens: -1, OutputTokens: -1}
}

// refused passes an error on, without our credentials in it. What it says of
// them is for the operator.
func (s *passing) refused(resp *http.Response, o backstop.Outcome, key int, began time.Time) backstop.Outcome {
	body, err := read(resp.Body, resp.ContentLength, maxError, nil)
	if err != nil && len(body) == 0 {
		return upstream.Classify(err, true)
	}
	now := time.Now()
	limits := wire.Judge(&wire.Reply{
		Vendor: s.u.Vendor, Dialect: s.u.Dialect, Caller: s.p.Dialect, Surface: wire.SurfaceHTTP,
		Status: resp.StatusCode, Header: resp.Header, Body: body, Now: now, Mask: s.d.mask.clean,
	})
	s.d.engine.Passed(now, s.u.Name, key, began, &limits)
	s.d.rekey(s.u, key, &limits)
	if resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden {
		o.Class, o.Kind = backstop.Limited, backstop.KindAuth
		return o
	}
	body = s.d.mask.clean(body)
	o.Class = backstop.Rejected
	if resp.StatusCode >= 500 {
		o.Class, o.Kind = backstop.Broken, backstop.KindServer
	}
	s.head(resp)
	s.out.w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
	s.out.begin(resp.StatusCode)
	_, _ = s.out.put(body, true)
	return o
}

// copy passes the answer on while it comes.
func (s *passing) copy(resp *http.Response, o backstop.Outcome, alive func(next time.Duration)) backstop.Outcome {
	s.head(resp)
	if resp.ContentLength > 0 {
		s.out.w.Header()["Content-Length"] = []string{strconv.FormatInt(resp.ContentLength, 10)}
	}
	s.out.begin(resp.StatusCode)
	buf, left := make([]byte, 32<<10), int64(maxPassage)
	for {
		n, err := resp.Body.Read(buf)
		if left -= int64(n); left < 0 {
			s.cut = true
			return garbled(backstop.KindTooLarge)
		}
		if n > 0 {
			alive(passageIdle)
			if _, werr := s.out.put(buf[:n], true); werr != nil {
				return backstop.Outcome{Class: backstop.Canceled, Kind: backstop.KindCaller, Status: o.Status, InputTokens: -1, OutputTokens: -1}
			}
		}
		switch {
		case err == io.EOF:
			s.out.close()
			return o
		case err != nil:
			s.cut = true
			return upstream.Classify(err, true)
		}
	}
}

// shownHeaders are the headers of an answer that a caller gets.
var shownHeaders = [...]string{
	"Content-Type", "Content-Encoding", "Content-Disposition", "Content-Range", "Accept-Ranges", "Etag", "Last-Modified", "Retry-After",
}

func (s *passing) head(resp *http.Response) {
	h := s.out.w.Header()
	for _, name := range shownHeaders {
		if v := resp.Header[name]; len(v) == 1 && len(v[0]) <= 1024 {
			h[name] = v
		}
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		h["X-Accel-Buffering"] = []string{"no"} // as streams of calls: what comes is to be seen
	}
	s.describe(h)
}

func (s *passing) describe(h http.Header) {
	h["X-Request-Id"], h["Request-Id"] = []string{s.p.ID}, []string{s.p.ID}
	h["X-Backstop-Upstream"] = []string{s.p.Upstream}
	h["Cache-Control"] = []string{"no-store"}
}
