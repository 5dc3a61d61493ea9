package backstophttp

import (
	"errors"
	"net/http"
	"os"
	"strconv"

	"backstop"
)

// fail answers in the place of an upstream that did not, and returns what it
// said.
func (s *passing) fail(o *backstop.Outcome) *backstop.Failure {
	f := s.failure(o)
	room := s.d.options.Rooms[s.p.Dialect]
	if room == nil {
		return f
	}
	h := s.out.w.Header()
	s.describe(h)
	h["X-Should-Retry"] = []string{"false"}
	comeAgain(h, f.RetryAfter)
	h["Content-Type"] = []string{"application/json"}
	s.out.begin(f.Status)
	_, _ = s.out.put(room.Failure(f, s.p.ID), true)
	return f
}

func (s *passing) failure(o *backstop.Outcome) *backstop.Failure {
	if err := s.body.fault(); err != nil {
		return halfSent(err)
	}
	f := &backstop.Failure{Code: backstop.CodeUpstreamUnavailable, Message: "upstream " + s.p.Upstream + ": " + o.Reason()}
	switch {
	case o.NotSent && o.Class == backstop.Limited:
		f.Code, f.Message, f.RetryAfter = backstop.CodeRateLimited, "upstream "+s.p.Upstream+": all its keys are parked", o.Hint
	case o.NotSent:
		f.Code, f.Message = backstop.CodeInvalidRequest, o.Message
	case o.Class == backstop.Garbled && 300 <= o.Status && o.Status < 400:
		f.Message = "upstream " + s.p.Upstream + ": it answers " + strconv.Itoa(o.Status) + ", and redirects are not followed"
	case o.Class == backstop.Hang:
		f.Code = backstop.CodeUpstreamTimeout
	case o.Class == backstop.Limited:
		f.Code, f.Message = backstop.CodeUpstreamAuth, "upstream "+s.p.Upstream+": our credential was refused"
	case o.Class == backstop.Canceled && s.d.isAborted():
		f.Code, f.Message = backstop.CodeDraining, "the gateway is shutting down; send the request again, elsewhere or in a moment"
	case o.Class == backstop.Canceled:
		f.Code, f.Message = backstop.CodeCanceled, "the caller left"
	}
	f.Status = f.Code.Status()
	return f
}

// halfSent is what a caller is told whose body could not be read to its end: the
// upstream is not to blame.
func halfSent(err error) *backstop.Failure {
	f := &backstop.Failure{Code: backstop.CodeInvalidRequest, Message: "the body broke off"}
	f.Status = f.Code.Status()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		f.Code, f.Message = backstop.CodeTooLarge, "the body is larger than this gateway passes on"
		f.Status = f.Code.Status()
	case errors.Is(err, os.ErrDeadlineExceeded):
		f.Status, f.Message = http.StatusRequestTimeout, "the body came too slowly"
	}
	return f
}
