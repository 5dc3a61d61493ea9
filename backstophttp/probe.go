package backstophttp

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"backstop"
	"backstop/internal/upstream"
	"backstop/jsonfix"
	"backstop/sse"
	"backstop/wire"
)

// maxProbes bounds how many probes run at a time. Open upstreams are few; if
// they are many, later ones wait their turn.
const maxProbes = 8

// probes is the loop of the background probes: one goroutine, one timer. It
// sleeps until the engine's next time, or until a breaker changes.
func (d *Driver) probes(ctx context.Context) {
	slots := make(chan struct{}, maxProbes)
	timer := time.NewTimer(idle)
	defer timer.Stop()
	for {
		next := d.start(ctx, slots)
		wait := idle
		if !next.IsZero() {
			wait = time.Until(next)
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
			if late(next) {
				d.engine.Paused(time.Now())
			}
		case <-d.poke:
		case <-ctx.Done():
			return
		}
	}
}

// start starts the probes that are due and returns when to look again.
func (d *Driver) start(ctx context.Context, slots chan struct{}) time.Time {
	for {
		select {
		case slots <- struct{}{}: // first: a probe's lease begins when it is due
		case <-ctx.Done():
			return time.Time{}
		}
		p, ok, next := d.engine.Due(time.Now())
		if !ok {
			<-slots
			return next
		}
		d.works.run(func() {
			d.probe(ctx, p)
			<-slots
			d.look()
		})
	}
}

// look asks the probe loop to look at the engine again.
func (d *Driver) look() {
	select {
	case d.poke <- struct{}{}:
	default:
	}
}

// probe runs one background probe. Its lease bounds it; after that the engine
// has given it up.
func (d *Driver) probe(ctx context.Context, p backstop.Probe) {
	ctx, cancel := context.WithTimeout(ctx, p.Lease)
	defer cancel()
	o := d.tryProbe(ctx, &p)
	d.rekey(p.Upstream, p.Key, &o)
	d.mask.cover(&o)
	d.engine.Probed(time.Now(), p, o)
	if d.options.ProbeDone != nil {
		d.options.ProbeDone(p, o)
	}
}

func (d *Driver) tryProbe(ctx context.Context, p *backstop.Probe) (o backstop.Outcome) {
	call := &upstream.Call{Key: p.Key}
	defer func() {
		if recover() != nil {
			o = bug()
		}
		o.Replayed = call.Replayed()
		if o.Class == backstop.Canceled && ctx.Err() == context.DeadlineExceeded {
			o.Class, o.Kind, o.Counts = backstop.Hang, backstop.KindTotal, backstop.CountsModel
		}
	}()
	room, conn := d.options.Rooms[p.Upstream.Dialect], d.conns[p.Upstream.Name]
	call.Outbound = room.Probe(p)
	copied, shadows := d.shadows.take(p, &call.Outbound, time.Now())
	if shadows {
		call.Outbound = copied
		defer func() {
			if o.Class == backstop.Rejected || o.Class == backstop.Refused {
				d.shadows.forget(p)
			}
		}()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var silent atomic.Bool
	first := time.AfterFunc(p.Limit, func() { silent.Store(true); cancel() })
	defer func() {
		if first.Stop(); silent.Load() {
			o = backstop.Outcome{Class: backstop.Hang, Kind: backstop.KindFirstToken, Counts: backstop.CountsModel, InputTokens: -1, OutputTokens: -1}
		}
	}()
	resp, err := conn.Do(ctx, call)
	if err != nil {
		return upstream.Classify(err, false)
	}
	defer func() { _ = resp.Body.Close() }()
	return d.judgeProbe(p, room, resp, func() { first.Stop(); d.engine.ProbeToken(time.Now(), *p) })
}

// judgeProbe reads a probe's answer to its clean end. token is called at the
// first meaningful token.
func (d *Driver) judgeProbe(p *backstop.Probe, room wire.Room, resp *http.Response, token func()) backstop.Outcome {
	req := &wire.Request{Dialect: p.Upstream.Dialect, Op: wire.Chat, Model: p.Model, Stream: p.Stream, Choices: 1}
	if p.Embed {
		req.Op = wire.Embedding
	}
	reply := &wire.Reply{Vendor: p.Upstream.Vendor, Dialect: p.Upstream.Dialect, Caller: p.Upstream.Dialect,
		Status: resp.StatusCode, Header: resp.Header, Now: time.Now(), Surface: wire.SurfaceHTTP, Mask: d.mask.clean}
	if resp.StatusCode != http.StatusOK {
		reply.Body, _ = read(resp.Body, resp.ContentLength, maxError, nil)
		return wire.Judge(reply)
	}
	src := &sniffer{src: resp.Body}
	if p.Stream {
		if events, err := src.events(resp.Header.Get("Content-Type")); err != nil {
			return upstream.Classify(err, true)
		} else if events {
			reply.Surface = wire.SurfaceFirst
			whole := room.Aggregator(req)
			o := judgeEvents(room.Reader(req, reply), whole, sse.NewReader(src, maxAnswer), token)
			return judgePromise(p, room, whole.Body, o)
		}
	}
	body, err := read(src, resp.ContentLength, maxAnswer, token)
	if err != nil {
		return upstream.Classify(err, true)
	}
	reply.Surface, reply.Body = wire.SurfaceBody, body
	return judgePromise(p, room, func() []byte { return body }, room.JudgeBody(req, reply))
}

// judgePromise checks what a probe of the quality scope was made for.
func judgePromise(p *backstop.Probe, room wire.Room, body func() []byte, o backstop.Outcome) backstop.Outcome {
	if !p.JSON || o.Class != backstop.OK {
		return o
	}
	text, finish, ok := room.Content(body())
	if !ok || wire.FinishOf(finish).Kind == wire.FinishLength { // a probe's own limit is tight
		return o
	}
	if res, _ := jsonfix.Repair([]byte(text), jsonfix.Options{}); res.JSON == nil && !res.Truncated {
		return notJSON(o)
	}
	return o
}

// judgeEvents follows a probe's stream.
func judgeEvents(stream wire.StreamReader, whole wire.Aggregator, events *sse.Reader, token func()) backstop.Outcome {
	malformed, size := 0, 0
	for {
		ev, err := events.Next()
		if err != nil {
			o := stream.End(ev == nil)
			if c := upstream.Classify(err, true); c.Class == backstop.Canceled && o.Class != backstop.OK {
				return c
			}
			return o
		}
		if ev.Comment {
			continue
		}
		if size += len(ev.Data); size > maxAnswer {
			return garbled(backstop.KindTooLarge)
		}
		switch sig := stream.Event(ev); sig.Kind {
		case wire.Token:
			token()
			whole.Add(ev.Data)
		case wire.Terminal:
			return stream.End(true)
		case wire.Fault:
			return *sig.Outcome
		case wire.Malformed:
			if malformed++; malformed > maxMalformed {
				return garbled(backstop.KindProtocol)
			}
		}
	}
}
