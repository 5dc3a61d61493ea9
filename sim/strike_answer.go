package sim

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"backstop"
	"backstop/wire"
)

// The faults of answers: error statuses, and answers that are none.

func status(s *spec) (act, error) {
	word, opts := s.word, s.args
	if word == "status" {
		if len(opts) == 0 {
			return nil, fmt.Errorf("a status is wanted")
		}
		word, opts = opts[0], opts[1:]
	}
	code := statusOf(word)
	if code == 0 {
		return nil, fmt.Errorf("%q is no status from 400 to 599", word)
	}
	e := answerFor(code)
	e.header = http.Header{}
	for _, opt := range opts {
		if err := e.option(opt); err != nil {
			return nil, err
		}
	}
	return spoils(s.judge.outcome(e)), nil
}

// option changes an error answer, as the mock's options do.
func (e *errorAnswer) option(opt string) error {
	key, value, _ := strings.Cut(opt, "=")
	switch key {
	case "retry-after":
		e.header.Set("Retry-After", value)
	case "retry-after-ms":
		e.header.Set("Retry-After-Ms", value)
	case "code":
		e.code = value
	case "type":
		e.kind = value
	case "param":
		e.param = value
	case "message":
		e.message = value
	case "quota":
		e.kind, e.code = "insufficient_quota", "insufficient_quota"
		e.message = "The quota of this account is used up; add credit to go on."
	default:
		return fmt.Errorf("unknown option %q, known are retry-after= retry-after-ms= code= type= param= message= quota", key)
	}
	return nil
}

func busy(s *spec) (act, error) {
	e := answerFor(503)
	e.body = []byte(`{"error":"the server is busy, try again later"}`)
	return spoils(s.judge.outcome(e)), nil
}

func context(s *spec) (act, error) {
	e := answerFor(400)
	e.code, e.message = "context_length_exceeded", "This model's maximum context length is 8192 tokens."
	return spoils(s.judge.outcome(e)), nil
}

func param(s *spec) (act, error) {
	if len(s.args) != 1 {
		return nil, fmt.Errorf("the name of a parameter is wanted")
	}
	name := s.args[0]
	e := answerFor(400)
	e.code, e.param, e.message = "unsupported_parameter", name, "Unsupported parameter: '"+name+"'."
	bad := spoils(s.judge.outcome(e))
	return func(x *strike) bool { return !slices.Contains(x.without, name) && bad(x) }, nil
}

func noStream(s *spec) (act, error) {
	bad := spoils(s.rejectsStream())
	return func(x *strike) bool { return !x.plain && bad(x) }, nil
}

func streamOnly(s *spec) (act, error) {
	bad := spoils(s.rejectsStream())
	return func(x *strike) bool { return x.plain && bad(x) }, nil
}

func (s *spec) rejectsStream() backstop.Outcome {
	e := answerFor(400)
	e.code, e.param, e.message = "unsupported_value", "stream", "Unsupported value: 'stream' is not supported with this model."
	return s.judge.outcome(e)
}

func empty(s *spec) (act, error) {
	return spoils(s.judge.outcome(&errorAnswer{status: 200, surface: wire.SurfaceBody, body: []byte{}})), nil
}

func page(s *spec) (act, error) {
	e := &errorAnswer{status: 200, surface: wire.SurfaceBody, body: []byte("<!DOCTYPE html><html><body><h1>Bad gateway</h1></body></html>")}
	e.header = http.Header{"Content-Type": {"text/html"}}
	if len(s.args) == 1 {
		if e.status = statusOf(s.args[0]); e.status == 0 {
			return nil, fmt.Errorf("%q is no status from 400 to 599", s.args[0])
		}
		e.surface = wire.SurfaceHTTP
	}
	return spoils(s.judge.outcome(e)), nil
}

func errorIn200(s *spec) (act, error) {
	e := &errorAnswer{status: 200, surface: wire.SurfaceBody, kind: "server_error", message: "The server had an error."}
	if len(s.args) == 1 {
		e.kind, e.code = "", s.args[0]
	}
	return spoils(s.judge.outcome(e)), nil
}

func errorMid(s *spec) (act, error) {
	o := s.judge.outcome(&errorAnswer{status: 200, surface: wire.SurfaceMid, kind: "server_error", message: "The server had an error."})
	o.NextTier = true // for a call whose answer is held back
	return after(max(s.tokensOf(3), 1), o), nil
}

// whole makes an act of an answer that is complete and of no use.
func whole(o backstop.Outcome, bites func(*strike) bool) act {
	o.Status, o.InputTokens, o.OutputTokens = 200, -1, -1
	return func(x *strike) bool {
		if x.fate.end < 0 || !bites(x) {
			return false
		}
		x.fate.outcome = &o
		return true
	}
}

func always(*strike) bool { return true }

func blank(*spec) (act, error) {
	bad := whole(backstop.Outcome{Class: backstop.Garbled, Kind: backstop.KindBlank, NextTier: true}, always)
	return func(x *strike) bool {
		x.fate.token, x.fate.beat = -1, 0
		return bad(x)
	}, nil
}

// spoiled is an answer that is not the promised JSON.
func spoiled(kind backstop.Kind) backstop.Outcome {
	return failed(backstop.Garbled, kind, backstop.CountsQuality)
}

func mendable(*spec) (act, error) {
	return whole(spoiled(backstop.KindJSON), func(x *strike) bool { return x.json && !x.mends }), nil
}

func badJSON(s *spec) (act, error) {
	switch {
	case len(s.args) == 0, s.args[0] == "content":
		return mendable(s)
	case s.args[0] == "body":
		o := failed(backstop.Garbled, backstop.KindProtocol, backstop.CountsModel)
		o.RetrySame, o.Status = true, 200
		return spoils(o), nil
	}
	return nil, fmt.Errorf("argument %s is not body", strconv.Quote(s.args[0]))
}

func truncated(*spec) (act, error) {
	return whole(spoiled(backstop.KindTruncated), func(x *strike) bool { return x.json && !x.passes }), nil
}

func refusal(s *spec) (act, error) {
	if len(s.args) == 1 && s.args[0] == "400" {
		e := answerFor(400)
		e.code, e.message = "content_policy_violation", "The request was declined by the content policy."
		return spoils(s.judge.outcome(e)), nil
	}
	return whole(backstop.Outcome{Class: backstop.Refused, Kind: backstop.KindFilter}, always), nil
}
