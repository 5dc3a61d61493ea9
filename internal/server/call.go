package server

import (
	"context"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"backstop"
	"backstop/backstophttp"
	"backstop/wire"
)

// call takes one call in: content type, overrides, the caller's limits, the
// body, the model; and hands it to the driver.
func (s *Server) call(w http.ResponseWriter, r *http.Request, v *visit) {
	if s.trace != nil {
		v.trace = s.trace(r.Header.Get("Traceparent"))
	}
	c := &backstophttp.Call{ID: v.id, Trace: v.trace, Caller: whoCalls(v.caller, r), Op: opOf(&v.at), Agent: v.at.kind == agentPlace, Array: v.array}
	if f := s.early(r, v, c); f != nil {
		s.refuse(w, r, v, f)
		return
	}
	if f := v.caller.enter(v.start); f != nil {
		s.refuse(w, r, v, f)
		return
	}
	rc := http.NewResponseController(w)
	in := intake{source: &paced{from: r.Body, rc: rc, start: v.start}, max: s.maxBody, budget: &s.budget}
	handed := false
	defer func() {
		if !handed {
			in.release()
			v.caller.leave()
		}
	}()
	f := in.read(r)
	if f == nil {
		v.eaten = true
		c.Request, f = s.read(v, in.body)
	}
	if f != nil {
		s.refuse(w, r, v, f)
		return
	}
	if c.Request.Stream {
		if h, ctx := s.hijack(w, r); h != nil {
			handed = true
			go s.stream(ctx, h, *v, c, in.held)
			return
		}
	}
	// A deadline of an earlier answer on this connection must not end this one.
	_ = rc.SetWriteDeadline(time.Time{})
	s.run(r.Context(), w, v, c)
}

// stream answers a call whose connection was taken over, on a goroutine of its
// own. It has what the call holds of its caller's limits, and that much of the
// memory of bodies, and gives both back before the end of the answer goes out:
// with that a caller may send its next request.
func (s *Server) stream(ctx context.Context, h *hijacked, v visit, c *backstophttp.Call, held int64) {
	defer func() {
		if recover() != nil {
			h.abort()
		}
	}()
	defer s.contain(&v)
	func() {
		defer v.caller.leave()
		defer s.budget.give(held)
		s.run(ctx, h, &v, c)
	}()
	h.finish()
}

// early is everything that can be refused before a byte of the body is read.
func (s *Server) early(r *http.Request, v *visit, c *backstophttp.Call) *backstop.Failure {
	if s.Phase() == Refusing {
		return deny(backstop.CodeDraining, "the gateway is shutting down; send the call again, elsewhere or in a moment")
	}
	if s.rooms[v.at.spoken()] == nil || v.plane.Runner == nil {
		return deny(backstop.CodeConfigError, "no dialect room or driver is configured")
	}
	if !isJSON(r.Header.Get("Content-Type")) {
		return deny(backstop.CodeUnsupportedMedia, "the body must be JSON: send content-type: application/json")
	}
	if f := turn(r.Header, c); f != nil {
		return f
	}
	if v.plane.Adaptive {
		c.Hint = family(r.Header.Get("User-Agent"))
	}
	c.NoLocal = c.NoLocal || v.caller != nil && !v.caller.Local
	return nil
}

// isJSON wants JSON to be said: a page can post a form or plain text to any
// address without asking, but not this.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}

// read turns a body into a checked request for a model that the caller may use
// and a route is there for.
func (s *Server) read(v *visit, body []byte) (*wire.Request, *backstop.Failure) {
	if v.at.kind == agentPlace {
		var f *backstop.Failure
		if body, f = agentBody(body, v.plane); f != nil {
			return nil, f
		}
	}
	req, f := s.rooms[v.at.spoken()].Read(v.at.op, body)
	if f != nil {
		return nil, f
	}
	if v.at.model != "" {
		if f := v.at.complete(req); f != nil {
			return nil, f
		}
	}
	v.asked = req.Model
	switch {
	case !v.caller.allows(req.Model):
		return nil, deny(backstop.CodeForbidden, "this caller may not use this model; see GET /v1/models for those it may")
	case v.plane.Plan.Route(req.Model) == nil:
		return nil, deny(backstop.CodeNotFound, "no route is there for the model "+strconv.QuoteToASCII(clipped(req.Model))+"; see GET /v1/models, or add a route")
	}
	return req, nil
}

// run lets the driver answer and reports the call. An agent call is a chat call
// whose answer is told in the agent's words.
func (s *Server) run(ctx context.Context, w http.ResponseWriter, v *visit, c *backstophttp.Call) {
	var e *backstop.Event
	if c.Agent {
		route := v.plane.Plan.Route(c.Request.Model)
		promised := c.Request.Promise.Kind != wire.PromiseNone || route.JSON.Always
		a := newAgentWriter(w, s.rooms[backstop.OpenAI], c.ID, promised)
		e = v.plane.Runner.Serve(ctx, a, c)
		a.finish(e)
	} else {
		e = v.plane.Runner.Serve(ctx, w, c)
	}
	if e != nil {
		s.observe(e)
	}
}

// whoCalls is the name that the engine knows a caller by: its own, else the
// address of its machine.
func whoCalls(c *caller, r *http.Request) string {
	if c != nil {
		return c.Name
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
