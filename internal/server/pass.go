package server

import (
	"net/http"
	"strings"
	"time"

	"backstop"
	"backstop/backstophttp"
	"backstop/internal/upstream"
)

// maxUpload bounds the body of a request that is passed on as it is. It is not
// held in memory; the vendors' own bound for a file is the same.
const maxUpload = 512 << 20

// passes is the upstream that takes a request to a path that is none of ours,
// nil = there is none, and what would have to be for one to take it, "" =
// nothing could. Nobody looks for a model in such a request, so it is not for a
// caller who may use some models only.
func (v *visit) passes(r *http.Request) (u *backstop.Upstream, want string) {
	if path := r.URL.EscapedPath(); !strings.HasPrefix(path, "/v1/") && !strings.HasPrefix(path, "/v1beta/") || r.Method == http.MethodOptions {
		return nil, ""
	}
	if _, ok := v.plane.Runner.(Passer); !ok {
		return nil, ""
	}
	if u = v.passthrough(); u == nil {
		return nil, "; other paths need an upstream of their dialect with passthrough: true"
	}
	if !v.caller.unbound() {
		return nil, "; other paths are for callers that may use all models"
	}
	return u, ""
}

// passthrough is the first upstream with passthrough on a route that speaks the
// dialect of the path, nil = none does.
func (v *visit) passthrough() *backstop.Upstream {
	dialect := v.dialect
	if dialect == backstop.Responses {
		dialect = backstop.OpenAI
	}
	for i := range v.plane.Plan.Routes {
		route := &v.plane.Plan.Routes[i]
		for j := range route.Tiers {
			if u := v.plane.Plan.Upstream(route.Tiers[j].Upstream); u != nil && u.Passthrough && u.Dialect == dialect {
				return u
			}
		}
	}
	return nil
}

// pass lets the driver carry a request to its upstream.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, v *visit, u *backstop.Upstream) {
	if s.Phase() == Refusing {
		s.refuse(w, r, v, deny(backstop.CodeDraining, "the gateway is shutting down; send the request again, elsewhere or in a moment"))
		return
	}
	if r.ContentLength > maxUpload {
		s.refuse(w, r, v, deny(backstop.CodeTooLarge, "the body is larger than this gateway passes on ("+bytesText(maxUpload)+")"))
		return
	}
	if f := v.caller.enter(v.start); f != nil {
		s.refuse(w, r, v, f)
		return
	}
	defer v.caller.leave()
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{})
	p := backstophttp.Passage{
		Upstream: u.Name, ID: v.id, Caller: whoCalls(v.caller, r), Dialect: v.dialect,
		Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Header: passedOn(r.Header), Length: r.ContentLength,
	}
	if !v.eaten {
		source := &paced{from: http.MaxBytesReader(w, r.Body, maxUpload), rc: rc, start: v.start}
		defer source.leave()
		_ = rc.SetReadDeadline(v.start.Add(bodyGrace)) // for one that nobody reads
		_ = rc.EnableFullDuplex()                      // an answer may come before its end, and does not wait for it
		p.Body, w = source, &halfway{w, source}
	}
	e, cut := v.plane.Runner.(Passer).Pass(r.Context(), w, &p)
	if e != nil {
		s.observe(e)
	}
	if cut {
		panic(http.ErrAbortHandler)
	}
}

// leave gives net/http a moment for the rest of a body that was not read.
func (p *paced) leave() {
	if !p.ended.Load() {
		_ = p.rc.SetReadDeadline(time.Now().Add(drainTime))
	}
}

// halfway is the http.ResponseWriter of a request whose body may still be on
// its way: an answer that comes before its end is the last of its connection,
// where nobody could tell the rest of the body from the next request.
type halfway struct {
	http.ResponseWriter
	body *paced
}

// SetReadDeadline ends the reads of the body: see paced.stop.
func (h *halfway) SetReadDeadline(at time.Time) error { return h.body.stop(at) }

// Unwrap lets http.ResponseController reach the connection.
func (h *halfway) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (h *halfway) WriteHeader(status int) {
	if !h.body.ended.Load() {
		h.Header()["Connection"] = []string{"close"}
	}
	h.ResponseWriter.WriteHeader(status)
}

// passedOn are the headers of a request that is passed on: those of a call,
// and those of its body and its answer. Credentials stop here.
func passedOn(h http.Header) http.Header {
	out := http.Header{}
	for _, name := range passed {
		if v := h[name]; len(v) > 0 {
			out[name] = v
		}
	}
	for _, name := range upstream.PassedOn {
		if v := h[name]; len(v) > 0 {
			out[name] = v
		}
	}
	return out
}
