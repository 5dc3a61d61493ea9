package wire

import (
	"net/http"

	"backstop"
)

// Judge turns an error answer of an upstream into the outcome that the engine
// acts on. It is total: any bytes give a legal outcome.
//
// It expects what is not a good answer: a status other than 200, a 200 body
// or an event of a stream that a dialect room could not take for an answer.
// Code beats type, type beats words, words beat the status; the vendor's
// profile beats the general tables at each step.
//
// In the outcome, Status is the HTTP status of the upstream; an error inside
// a 200 gets the status that it stands for, so that callers never see 200
// with an error. Message is set only for what is the caller's business
// (refused, rejected): one line of at most 512 bytes. Passthrough and Body
// are set when the caller speaks the dialect that the body is written in.
// After the first token neither RetrySame nor NextTier is ever set. Token
// counts are -1.
func Judge(a *Reply) backstop.Outcome {
	if a.Mask != nil {
		own := *a
		own.Body = a.Mask(a.Body)
		a = &own
	}
	e := readEnvelope(a)
	return settle(a, e, rule(a, e))
}

// inBand reports whether the answer came with a 200.
func inBand(a *Reply) bool { return a.Surface != SurfaceHTTP || a.Status == http.StatusOK }

// rule finds the row of the outcome table.
func rule(a *Reply, e *envelope) ruling {
	if r, done := ruleShape(a, e); done {
		return r
	}
	status := a.Status
	if inBand(a) {
		status = e.status
	}
	h := habitOf(a.Vendor, e.vendor)
	if h.numbered {
		e.addCode(trailingNumber(e.text))
	}
	if status == http.StatusRequestEntityTooLarge {
		return ruleTooLarge(e)
	}
	if r := h.relayed[status]; r != unruled && e.has("bad_response_status_code") {
		return r
	}
	if r := ruleCodes(h, e, status); r != unruled {
		return refine(h, e, r)
	}
	if status == 0 {
		status = impliedStatus(e)
	}
	on := groupOf(status)
	r := findWords(h.words, on, e.text)
	if r == unruled {
		r = findWords(wordRules, on, e.text)
	}
	switch {
	case r != unruled:
	case status != 0:
		r = byStatus(status)
	default:
		r = server // an error in a 200 that does not say which
	}
	return refine(h, e, r)
}

// ruleShape decides where the form of the answer says enough.
func ruleShape(a *Reply, e *envelope) (ruling, bool) {
	if inBand(a) {
		switch {
		case e.shape == shapeEmpty:
			return empty, true
		case e.shape == shapeHTML:
			return html, true
		case a.Event == "error":
			return unruled, false
		case e.shape == shapeText, !e.found:
			return alien, true
		}
		return unruled, false
	}
	// A filter says so in the API's own form. A 451 in any other is a wall in
	// front of the upstream, as in a country that it may not serve.
	if a.Status == http.StatusUnavailableForLegalReasons && (e.shape == shapeText || e.shape == shapeEmpty || e.edge(a.Header)) {
		return edgeAuth, true
	}
	if e.edge(a.Header) {
		switch r := byStatus(a.Status); r {
		case rate:
			return edgeRate, true
		case auth:
			return edgeAuth, true
		default:
			return r, true
		}
	}
	if e.shape == shapeEmpty && a.Status < 300 {
		return empty, true
	}
	return unruled, false
}

// ruleTooLarge: a 413 stays rejected whatever its code says.
func ruleTooLarge(e *envelope) ruling {
	for _, c := range e.codes {
		if codes[c] == tooLong {
			return tooLong
		}
	}
	if findWords(wordRules, on400, e.text) == tooLong {
		return tooLong
	}
	return size
}

func ruleCodes(h habit, e *envelope, status int) ruling {
	for _, c := range e.codes {
		r := h.codes[c]
		if r == unruled {
			r = codes[c]
		}
		if r == unruled && implied[c] == 0 {
			r = findPart(c)
		}
		// A relay whose own upstreams are all down says so with this code.
		if r == model && status >= 500 {
			continue
		}
		if r != unruled {
			return r
		}
	}
	return unruled
}

func impliedStatus(e *envelope) int {
	for _, c := range e.codes {
		if s := implied[c]; s != 0 {
			return s
		}
	}
	return 0
}

func refine(h habit, e *envelope, r ruling) ruling {
	for _, list := range [2][]refinement{h.refine, refinements} {
		for _, f := range list {
			if f.from == r && hasWords(e.text, f.words) {
				return f.to
			}
		}
	}
	return r
}

func (e *envelope) has(code string) bool {
	for _, c := range e.codes {
		if c == code {
			return true
		}
	}
	return false
}

// habitOf picks the vendor's habits; the form of the body decides where the
// profile has no codes of its own.
func habitOf(vendor, form string) habit {
	if v, ok := Profile(vendor); ok {
		if h := habits[v.Name]; h.codes != nil || form == "" {
			return h
		}
	}
	return habits[form]
}

// trailingNumber returns the digits of a message that ends in "(1008)".
func trailingNumber(text string) string {
	if len(text) < 3 || text[len(text)-1] != ')' {
		return ""
	}
	i := len(text) - 1
	for i > 0 && text[i-1] >= '0' && text[i-1] <= '9' {
		i--
	}
	if i == 0 || text[i-1] != '(' {
		return ""
	}
	return text[i : len(text)-1]
}

// settle makes the outcome of a ruling.
func settle(a *Reply, e *envelope, r ruling) backstop.Outcome {
	v := &verdicts[r]
	o := backstop.Outcome{
		Class: v.class, Kind: v.kind, Status: a.Status, Counts: v.counts, Park: v.park,
		RetrySame: v.retry, NextTier: v.next, InputTokens: -1, OutputTokens: -1,
	}
	if inBand(a) {
		o.Status = standsFor(a, e, v)
	}
	if v.park != backstop.ParkNone || v.delayed {
		o.Hint, o.HasHint = RetryAfter(a.Header, e.json, a.Now)
	}
	if v.delayed && o.HasHint {
		o.Park, o.RetrySame = backstop.ParkUpstream, false
	}
	if a.Surface == SurfaceMid {
		o.RetrySame, o.NextTier = false, false
	}
	if v.class == backstop.Refused || v.class == backstop.Rejected {
		address(&o, a, e, r)
	}
	return o
}

// standsFor is the status of an error inside a 200.
func standsFor(a *Reply, e *envelope, v *verdict) int {
	switch {
	case v.status == 0:
		return a.Status
	case e.status >= 400 && (e.status >= 500) == (v.status >= 500):
		return e.status
	}
	return v.status
}

// address fills in what a caller is told about its own request.
func address(o *backstop.Outcome, a *Reply, e *envelope, r ruling) {
	o.Message = e.message
	if r == param {
		o.Param = e.param
		if o.Param == "" {
			o.Param = paramFrom(e.message)
		}
		o.OnlyStream = groupOf(o.Status) == on400 && demandsStreaming(e.text)
		o.NoStream = groupOf(o.Status) == on400 && rejectsStreaming(o.Param, e.text)
	}
	whole := a.Surface == SurfaceHTTP || a.Surface == SurfaceBody
	if whole && sameErrors(a.Caller, a.Dialect) && len(a.Body) <= maxPassed && e.native(a.Dialect) {
		o.Passthrough, o.Body = true, a.Body
	}
}

// sameErrors reports whether the errors of two dialects have one shape: those
// of chat and Responses do.
func sameErrors(a, b backstop.Dialect) bool {
	chat := func(d backstop.Dialect) bool { return d == backstop.OpenAI || d == backstop.Responses }
	return a == b || chat(a) && chat(b)
}
