package backstophttp

import (
	"bytes"
	"net/http"
	"sync"
	"time"

	"backstop"
	"backstop/jsonfix"
	"backstop/wire"
)

// crossing is what an attempt at an upstream of another dialect needs besides:
// the two rooms that share the words of the hub. What the upstream says is
// read, judged and mended in its own dialect; what goes out is the caller's.
type crossing struct {
	upstream, caller wire.HubRoom
	seen             *wire.Request // the call as the upstream's room knows it
	head             wire.Head     // of an answer that does not say it itself
	left             []string      // hints that the upstream's dialect has no words for
	lost             wire.Lost     // what of a whole answer the caller's has none for
}

// hubbed is the call in the words of the hub. It is made once, when the first
// upstream of another dialect is asked.
type hubbed struct {
	once sync.Once
	p    *wire.Prompt
	fail *backstop.Failure
}

// cross prepares an attempt at an upstream that does not speak the caller's
// dialect. A Responses call goes word for word to an upstream of the OpenAI
// dialect that serves such calls itself.
func (r *run) cross(a *attempt) {
	if r.native(a.step.Upstream) {
		a.room = r.room
		return
	}
	x := &crossing{head: wire.Head{ID: r.c.ID, Created: time.Now().Unix(), Model: a.step.Model, Asked: r.req.Body}}
	x.upstream, _ = a.room.(wire.HubRoom)
	x.caller, _ = r.room.(wire.HubRoom)
	seen := *r.whole
	seen.Dialect, seen.UsageOn = a.room.Dialect(), true
	if seen.Op == wire.Responses {
		seen.Op = wire.Chat
	}
	x.seen, a.cross = &seen, x
}

// native reports whether an upstream takes the caller's Responses call as it is.
func (r *run) native(u *backstop.Upstream) bool {
	if r.req.Dialect != backstop.Responses || u.Dialect != backstop.OpenAI {
		return false
	}
	vendor, _ := wire.Profile(u.Vendor)
	return vendor.Responses
}

// unstored takes it off a Responses call that it is to be stored, if no
// upstream of its route could: then its answer need not be asked for plainly.
func (r *run) unstored() {
	if !r.req.Stored || r.req.Dialect != backstop.Responses || r.route == nil {
		return
	}
	for i := range r.route.Tiers {
		if u := r.d.plan.Upstream(r.route.Tiers[i].Upstream); u != nil && r.native(u) {
			return
		}
	}
	own := *r.req
	own.Stored = false
	r.req = &own
}

// seen is the call as the upstream's room is to know it when it reads the
// answer.
func (r *run) seen(a *attempt) *wire.Request {
	if a.cross != nil {
		return a.cross.seen
	}
	return r.whole
}

// outbound makes the request that the attempt sends.
func (r *run) outbound(a *attempt) (wire.Outbound, *backstop.Outcome) {
	if o := r.elsewhere(a); o != nil {
		return wire.Outbound{}, o
	}
	req, refused := r.asked(a)
	switch {
	case refused != nil:
		return wire.Outbound{}, refused
	case a.cross != nil:
		return r.translated(a, req)
	}
	return a.room.Outbound(r.recollected(a, req), a.step.Upstream, &a.step)
}

// refuses implements backstop.Request.Refuses. The engine asks on any goroutine
// of the call, so a panic of a room is kept from those above which there is
// nobody: its own attempt finds out about it.
func (r *run) refuses(u *backstop.Upstream, model string) (refused *backstop.Outcome) {
	defer func() {
		if recover() != nil {
			refused = nil
		}
	}()
	a := &attempt{step: backstop.Step{Upstream: u, Model: model, Key: -1}, room: r.d.options.Rooms[u.Dialect]}
	if u.Dialect != r.req.Dialect {
		r.cross(a)
	}
	_, refused = r.outbound(a)
	return refused
}

// lacks reports whether what the attempt sent would have been the same without
// a parameter.
func (r *run) lacks(a *attempt, param string) bool {
	sent, refused := r.outbound(a)
	if refused != nil {
		return false
	}
	less := &attempt{step: a.step, room: a.room}
	if a.cross != nil {
		x := *a.cross
		less.cross = &x
	}
	less.step.Without = append(less.step.Without[:len(less.step.Without):len(less.step.Without)], param)
	again, refused := r.outbound(less)
	return refused == nil && bytes.Equal(again.Body, sent.Body)
}

// translated is the request in the upstream's dialect, or why there is none:
// what it cannot express is never left out silently.
func (r *run) translated(a *attempt, req *wire.Request) (wire.Outbound, *backstop.Outcome) {
	x, name := a.cross, a.step.Upstream.Name
	switch {
	case x.upstream == nil || x.caller == nil:
		return wire.Outbound{}, inexpressible("", "upstream "+name+" speaks another dialect than the call")
	case req.Op == wire.CountTokens:
		o := inexpressible("", "upstream "+name+" counts no tokens for this dialect")
		o.Status = http.StatusNotFound
		return wire.Outbound{}, o
	}
	p, fail := r.told(req)
	if fail != nil {
		return wire.Outbound{}, inexpressible(fail.Param, fail.Message)
	}
	out, losses := x.upstream.FromHub(p, a.step.Upstream, &a.step)
	if len(losses.Cannot) > 0 {
		param := losses.Cannot[0]
		return wire.Outbound{}, inexpressible(param, "upstream "+name+" cannot express "+quotedName(param))
	}
	x.left = losses.Left
	return out, nil
}

// told is a request in the words of the hub.
func (r *run) told(req *wire.Request) (*wire.Prompt, *backstop.Failure) {
	caller := r.room.(wire.HubRoom)
	if req != r.req {
		return caller.ToHub(req)
	}
	h := &r.hub
	h.once.Do(func() { h.p, h.fail = caller.ToHub(req) })
	return h.p, h.fail
}

// inexpressible is the outcome of a call that an upstream cannot be asked.
func inexpressible(param, message string) *backstop.Outcome {
	return &backstop.Outcome{
		Class: backstop.Rejected, Kind: backstop.KindParam, Status: http.StatusBadRequest, NotSent: true, NextTier: true,
		Param: param, Message: message, InputTokens: -1, OutputTokens: -1,
	}
}

// quotedName is a parameter's name as a message shows it.
func quotedName(param string) string {
	if param == "" {
		return "the call"
	}
	return printable(param)
}

// comesHome gives an answer that is there as a whole the caller's dialect. One
// for which that dialect has no form is not what was asked for.
func (r *run) comesHome(a *attempt, o backstop.Outcome) backstop.Outcome {
	answers := o.Class == backstop.OK || o.Class == backstop.Refused && o.Status == http.StatusOK
	if a.cross == nil || a.whole == nil || !answers && !o.Spare {
		return o
	}
	body, lost, ok := wire.Translate(a.cross.upstream, a.cross.caller, a.whole, a.cross.head)
	switch {
	case ok:
		a.whole, a.cross.lost = body, lost
		return o
	case a.writer != nil:
		a.whole = nil // the stream went out; only the cache misses it
		return o
	}
	if a.whole, o.Spare = nil, false; !answers {
		return o
	}
	// What a tool is called with is the one thing that may have no form.
	a.wrong = append(a.wrong, breach{0, jsonfix.Violation{Reason: "type"}})
	return notJSON(o)
}

// begun is the caller's stream from its begin. Its last event may have to say
// what of the answer had no form, so it waits: no longer than its upstream
// takes to end.
func (r *run) begun(a *attempt) wire.StreamWriter {
	w := a.view(r.room.Writer(r.req))
	if g, ok := w.(wire.Grafter); ok && a.cross != nil {
		g.Hold()
	}
	return w
}

// view is the caller's stream as the attempt writes to it: with the upstream's
// events. Base is the caller's stream itself, which one attempt may take over
// from another.
func (a *attempt) view(base wire.StreamWriter) wire.StreamWriter {
	a.base = base
	if a.cross == nil {
		return base
	}
	return wire.NewBridge(a.cross.upstream, a.cross.caller, a.cross.head).Writer(base)
}
