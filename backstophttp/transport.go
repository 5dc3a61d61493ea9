package backstophttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"

	"backstop"
)

// maxRequest bounds the body of a request that the Transport takes.
const maxRequest = 20 << 20

// Transport is an http.RoundTripper that sends model calls the way of a plan:
// to the primary, a backup or the local tier, whichever answers. Scheme, host
// and credential of a request mean nothing to it; its path says which call in
// which dialect it is, and its body must be that call:
//
//	…/chat/completions, …/completions, …/embeddings     OpenAI
//	…/responses                                         OpenAI's Responses form
//	…/messages, …/messages/count_tokens                 Anthropic
//	…/models/{model}:generateContent, :streamGenerateContent, :countTokens   Gemini
//
// Answers carry the x-backstop-*
// headers; when no tier may answer, the answer is an HTTP error in the
// dialect's shape, as from any API. RoundTrip itself fails only on requests
// that are no model calls, and when the request's context ends.
//
// It is safe for concurrent use. Close it to end its probe loop.
type Transport struct {
	driver *Driver
}

// New returns a Transport for a plan.
func New(p *backstop.Plan, o Options) (*Transport, error) {
	d, err := NewDriver(p, o)
	if err != nil {
		return nil, err
	}
	return &Transport{driver: d}, nil
}

// Driver is the driver behind the transport.
func (t *Transport) Driver() *Driver { return t.driver }

// Close waits for running calls and gives connections back, see [Driver.Close].
func (t *Transport) Close(ctx context.Context) error { return t.driver.Close(ctx) }

// RoundTrip implements http.RoundTripper. A streamed answer is returned at its
// first token; closing its body cancels the call.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	at, ok := operation(req.URL.Path)
	if !ok || req.Method != http.MethodPost {
		closeBody(req)
		return nil, fmt.Errorf("backstop: %s %s is no model call: use POST with a path such as /v1/chat/completions, /v1/responses, /v1/messages or /v1beta/models/NAME:generateContent", req.Method, req.URL.Path)
	}
	room := t.driver.options.Rooms[at.dialect]
	if room == nil {
		closeBody(req)
		return nil, fmt.Errorf("backstop: the %s dialect is not spoken by this transport", at.dialect)
	}
	body, err := readRequest(req)
	if err != nil {
		return nil, err
	}
	id := requestID(req.Header)
	call, failure := room.Read(at.op, body)
	if failure != nil {
		return refusal(req, failure, room.Failure(failure, id)), nil
	}
	if at.model != "" { // this dialect says it in the path
		call.Model, call.Stream = at.model, at.stream
	}
	return t.serve(req, &Call{Array: at.stream && !saysEvents(req.URL.RawQuery), Request: call, ID: id, Caller: "library", Header: req.Header.Clone(), Retrying: retries(req.Header)})
}

// errBug ends a call on which we failed ourselves.
var errBug = errors.New("backstop: internal fault: please report it")

// serve runs a call in the background until its body is closed or read to the end.
func (t *Transport) serve(req *http.Request, c *Call) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	p := newPipe(func() { cancel(nil) })
	t.driver.works.run(func() {
		stop := context.AfterFunc(ctx, func() { _ = p.w.CloseWithError(context.Cause(ctx)) })
		fault := t.contained(ctx, p, c)
		stop()
		_ = p.w.CloseWithError(fault)
		cancel(fault)
	})
	select {
	case <-p.begun:
		return response(req, p.status, p.header, p), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// contained runs a call and keeps a panic to it: no server stands above that
// would, and it is not the program's fault.
func (t *Transport) contained(ctx context.Context, p *pipe, c *Call) (fault error) {
	defer func() {
		if recover() != nil {
			fault = errBug
		}
	}()
	t.driver.Serve(ctx, p, c)
	return nil
}

// refusal answers a request that is no valid call.
func refusal(req *http.Request, f *backstop.Failure, body []byte) *http.Response {
	h := http.Header{
		"Content-Type":   {"application/json"},
		"Content-Length": {strconv.Itoa(len(body))},
		"X-Should-Retry": {"false"},
	}
	status := f.Status
	if status < 400 {
		status = f.Code.Status()
	}
	return response(req, status, h, io.NopCloser(bytes.NewReader(body)))
}

func response(req *http.Request, status int, h http.Header, body io.ReadCloser) *http.Response {
	length, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Body: body, ContentLength: length, Request: req,
	}
}

func readRequest(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, errors.New("backstop: the request has no body: send the call as JSON")
	}
	defer closeBody(req)
	body, err := read(req.Body, req.ContentLength, maxRequest, nil)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, fmt.Errorf("backstop: the request body is over %d bytes", maxRequest)
	case err != nil:
		return nil, fmt.Errorf("backstop: reading the request body: %w", err)
	}
	return body, nil
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

func requestID(h http.Header) string {
	if id := h.Get("X-Request-Id"); id != "" && len(id) <= 128 && printable(id) == id {
		return id
	}
	const digits = 16
	s := strconv.FormatUint(rand.Uint64(), 16)
	return "req_" + strings.Repeat("0", digits-len(s)) + s
}

func retries(h http.Header) bool {
	n, err := strconv.Atoi(h.Get("X-Stainless-Retry-Count"))
	return err == nil && n > 0
}
