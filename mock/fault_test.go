package mock_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"backstop/mock"
)

const (
	patient   = 10 * time.Second
	impatient = 400 * time.Millisecond // long enough for loopback on a busy machine, too short for a hang
	jsonAsked = `,"response_format":{"type":"json_object"}`
)

// faultCase is one fault over real sockets, in both ways of asking.
type faultCase struct {
	model    string
	extra    string
	patience time.Duration
	plain    func(t *testing.T, g got, s said)
	stream   func(t *testing.T, g got, s said)
	ended    string // in the log, both ways; "" = done
}

func whole(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || g.status != 200 || s.finish != "stop" || s.text == "" || s.broken > 0 {
		t.Errorf("want a healthy answer, got %d %v %+v", g.status, g.err, s)
	}
}

func wholeStream(t *testing.T, g got, s said) {
	t.Helper()
	whole(t, g, s)
	if !s.done {
		t.Error("want [DONE] at the end")
	}
}

func status(code int, errorCode string) func(*testing.T, got, said) {
	return func(t *testing.T, g got, s said) {
		t.Helper()
		if g.err != nil || g.status != code || s.errorCode != errorCode {
			t.Errorf("want %d %q, got %d %q (%v) %s", code, errorCode, g.status, s.errorCode, g.err, g.body)
		}
	}
}

func silent(t *testing.T, g got, _ said) {
	t.Helper()
	if g.err == nil || g.status != 0 {
		t.Errorf("want silence without a header, got %d %v", g.status, g.err)
	}
}

// broke wants a stream that broke off after n tokens, without a finish.
func broke(n int) func(*testing.T, got, said) {
	return func(t *testing.T, g got, s said) {
		t.Helper()
		if g.err == nil || g.status != 200 || s.tokens != n || s.finish != "" || s.done {
			t.Errorf("want a break after %d tokens, got %d %v %+v", n, g.status, g.err, s)
		}
	}
}

// brokeBody wants a plain body that never became whole.
func brokeBody(t *testing.T, g got, s said) {
	t.Helper()
	if g.err == nil || g.status != 200 || s.broken != 1 {
		t.Errorf("want part of a body, got %d %v %q", g.status, g.err, g.body)
	}
}

func text(want func(string) bool) func(*testing.T, got, said) {
	return func(t *testing.T, g got, s said) {
		t.Helper()
		if g.err != nil || g.status != 200 || !want(s.text) {
			t.Errorf("got %d %v %q", g.status, g.err, s.text)
		}
	}
}

var faultCases = map[string]faultCase{
	"ok is whole":                       {model: "ok", plain: whole, stream: wholeStream},
	"a name that is no fault is whole":  {model: "gpt-lighthouse", plain: whole, stream: wholeStream},
	"a name with a colon is whole":      {model: "llama:8b", plain: whole, stream: wholeStream},
	"hang says nothing":                 {model: "hang", patience: impatient, plain: silent, stream: silent, ended: "canceled"},
	"slow is late":                      {model: "slow:5ms", plain: whole, stream: wholeStream},
	"slowhead is late":                  {model: "slowhead:5ms", plain: whole, stream: wholeStream},
	"role-only has no token":            {model: "role-only", patience: impatient, plain: headOnly, stream: broke(0), ended: "canceled"},
	"keepalive has no token":            {model: "keepalive:5ms", patience: impatient, plain: blankOnly, stream: commentsOnly, ended: "canceled"},
	"blanklines ends well":              {model: "blanklines:20ms", plain: whole, stream: wholeStream},
	"stall stops":                       {model: "stall@3", patience: impatient, plain: brokeBody, stream: broke(3), ended: "canceled"},
	"stall at none is role only":        {model: "stall@0", patience: impatient, plain: headOnly, stream: broke(0), ended: "canceled"},
	"stall past the end has no finish":  {model: "stall@4000", patience: impatient, plain: brokeBody, stream: broke(48), ended: "canceled"},
	"drip ends well":                    {model: "drip:1ms", extra: `,"max_tokens":5`, plain: short, stream: short},
	"cut breaks off":                    {model: "cut@4", plain: brokeBody, stream: broke(4), ended: "cut"},
	"reset resets":                      {model: "reset", plain: wasReset, stream: wasReset, ended: "reset"},
	"reset after some tokens":           {model: "reset@2", plain: brokeOff, stream: brokeOff, ended: "reset"},
	"halfclose answers":                 {model: "halfclose:20ms", plain: whole, stream: wholeStream},
	"nodone lacks the mark":             {model: "nodone", plain: whole, stream: noMark},
	"nofinish ends cleanly":             {model: "nofinish@2", plain: noFinish, stream: noFinish},
	"status":                            {model: "status:500", plain: status(500, ""), stream: status(500, "")},
	"a bare status":                     {model: "504", plain: status(504, ""), stream: status(504, "")},
	"429":                               {model: "429", plain: status(429, "rate_limit_exceeded"), stream: status(429, "rate_limit_exceeded")},
	"429 with a time":                   {model: "429:retry-after=2", plain: retryAfter("2"), stream: retryAfter("2")},
	"503 with a time":                   {model: "status:503:retry-after=2", plain: retryAfter("2"), stream: retryAfter("2")},
	"429 with nonsense for a time":      {model: "429:retry-after=abc:retry-after-ms=-1", plain: retryAfter("abc"), stream: retryAfter("abc")},
	"429 with a date":                   {model: "429:retry-after-date=60s", plain: retryDate, stream: retryDate},
	"429 without quota":                 {model: "429:quota", plain: status(429, "insufficient_quota"), stream: status(429, "insufficient_quota")},
	"529":                               {model: "529", plain: status(529, "overloaded"), stream: status(529, "overloaded")},
	"401":                               {model: "401", plain: status(401, "invalid_api_key"), stream: status(401, "invalid_api_key")},
	"402":                               {model: "402", plain: status(402, "insufficient_balance"), stream: status(402, "insufficient_balance")},
	"403":                               {model: "403", plain: status(403, "permission_denied"), stream: status(403, "permission_denied")},
	"404":                               {model: "404", plain: status(404, "model_not_found"), stream: status(404, "model_not_found")},
	"408":                               {model: "408", plain: status(408, ""), stream: status(408, "")},
	"413":                               {model: "413", plain: status(413, "request_too_large"), stream: status(413, "request_too_large")},
	"every option of status":            {model: "400:code=c:type=t:param=p:message=m", plain: status(400, "c"), stream: status(400, "c")},
	"busy is a string":                  {model: "busy", plain: busy, stream: busy},
	"context":                           {model: "context", plain: status(400, "context_length_exceeded"), stream: status(400, "context_length_exceeded")},
	"param refuses":                     {model: "param:top_k", extra: `,"top_k":1`, plain: status(400, "unsupported_parameter"), stream: status(400, "unsupported_parameter")},
	"param without it is whole":         {model: "param:top_k", plain: whole, stream: wholeStream},
	"nostream":                          {model: "nostream", plain: whole, stream: status(400, "unsupported_parameter")},
	"streamonly":                        {model: "streamonly", plain: status(400, "unsupported_parameter"), stream: wholeStream},
	"empty":                             {model: "empty", plain: nothing, stream: nothing},
	"html":                              {model: "html", plain: webPage(200), stream: webPage(200)},
	"html with a status":                {model: "html:502", plain: webPage(502), stream: webPage(502)},
	"error-in-200":                      {model: "error-in-200", plain: status(200, "server_is_overloaded"), stream: status(200, "server_is_overloaded")},
	"error-in-200 with a code":          {model: "error-in-200:1305", plain: status(200, "1305"), stream: status(200, "1305")},
	"error-first":                       {model: "error-first", plain: status(200, "server_is_overloaded"), stream: inBand(0)},
	"error-mid":                         {model: "error-mid@3", plain: status(200, "server_is_overloaded"), stream: inBand(3)},
	"malformed goes on":                 {model: "malformed@2", plain: brokenBody, stream: malformedOnce},
	"malformed to the end":              {model: "malformed:all@2", plain: brokenBody, stream: malformedAll},
	"bigevent":                          {model: "bigevent:100KiB", plain: big, stream: big},
	"usage-none":                        {model: "usage-none", extra: `,"stream_options":{"include_usage":true}`, plain: noUsage, stream: noUsage},
	"thinking":                          {model: "thinking@3", plain: whole, stream: wholeStream},
	"blank":                             {model: "blank", plain: blank, stream: blank},
	"fenced":                            {model: "fenced", extra: jsonAsked, plain: text(isFenced), stream: text(isFenced)},
	"fenced without a promise":          {model: "fenced", plain: text(isFenced), stream: text(isFenced)},
	"prose":                             {model: "prose", extra: jsonAsked, plain: text(isProse), stream: text(isProse)},
	"truncated":                         {model: "truncated", extra: jsonAsked, plain: truncated("length"), stream: truncated("length")},
	"truncated that claims to be whole": {model: "truncated:stop", extra: jsonAsked, plain: truncated("stop"), stream: truncated("stop")},
	"badjson":                           {model: "badjson", extra: jsonAsked, plain: text(isCareless), stream: text(isCareless)},
	"badjson body":                      {model: "badjson:body", plain: brokenBody, stream: allBroken},
	"refusal":                           {model: "refusal", plain: refused, stream: refused},
	"refusal by a filter":               {model: "refusal:filter", plain: filtered, stream: filtered},
	"refusal as an error":               {model: "refusal:400", plain: status(400, "content_policy_violation"), stream: status(400, "content_policy_violation")},
	"toolcall":                          {model: "toolcall", plain: called("tool_calls", true), stream: called("tool_calls", true)},
	"toolcall that stops":               {model: "toolcall:truncated", plain: called("length", false), stream: called("length", false)},
	"flap starts good":                  {model: "flap:1h", plain: whole, stream: wholeStream},
	"p of one":                          {model: "p:1:503", plain: status(503, ""), stream: status(503, "")},
	"p of nothing":                      {model: "p:0:hang", plain: whole, stream: wholeStream},
	"a fault in a fault":                {model: "p:1:cut@2", plain: brokeBody, stream: broke(2), ended: "cut"},
	"a fault with a typo":               {model: "slow:soon", plain: status(400, "invalid_fault"), stream: status(400, "invalid_fault")},
}

func TestFaultsOverSockets(t *testing.T) {
	for name, c := range faultCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, p := overSockets(t, mock.Options{})
			patience := c.patience
			if patience == 0 {
				patience = patient
			}
			g := p.chat(c.model, false, c.extra, patience)
			c.plain(t, g, read(g.body))
			p.forget() // halfclose leaves a trap in the pool
			g = p.chat(c.model, true, c.extra, patience)
			c.stream(t, g, read(g.body))
			want := c.ended
			if want == "" {
				want = mock.EndDone
			}
			waitFor(t, func() bool { return m.Counts().Open == 0 })
			for _, a := range m.Log() {
				if a.Ended != want || a.Model != c.model {
					t.Errorf("the log says %+v, want ended %q", a, want)
				}
			}
		})
	}
}

func TestEveryFaultWordHasACase(t *testing.T) {
	for _, w := range mock.Words() {
		found := false
		for _, c := range faultCases {
			word, _, _ := strings.Cut(c.model, ":")
			word, _, _ = strings.Cut(word, "@")
			found = found || word == w.Word
		}
		if !found {
			t.Errorf("fault %q has no row in faultCases", w.Word)
		}
	}
}

// headOnly wants a header and not one byte of body.
func headOnly(t *testing.T, g got, _ said) {
	t.Helper()
	if g.err == nil || g.status != 200 || g.body != "" {
		t.Errorf("got %d %v %q", g.status, g.err, g.body)
	}
}

// waitFor polls: the log is written after the last byte has reached the peer.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			t.Fatal("waited for 5 s in vain")
		}
		<-time.After(time.Millisecond)
	}
}

func blankOnly(t *testing.T, g got, _ said) {
	t.Helper()
	if g.status != 200 || g.err == nil || len(g.body) < 3 || strings.Trim(g.body, "\n") != "" {
		t.Errorf("got %d %q", g.status, g.body)
	}
}

func commentsOnly(t *testing.T, g got, _ said) {
	t.Helper()
	if g.status != 200 || g.err == nil || strings.Count(g.body, ": keep-alive\n\n") < 3 || strings.Contains(g.body, "data:") {
		t.Errorf("got %d %q", g.status, g.body)
	}
}

func short(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || s.finish != "length" || s.text == "" {
		t.Errorf("got %d %v %+v", g.status, g.err, s)
	}
}

func wasReset(t *testing.T, g got, _ said) {
	t.Helper()
	if !errors.Is(g.err, syscall.ECONNRESET) {
		t.Errorf("want a reset, got %d %v", g.status, g.err)
	}
}

// brokeOff does not say after how many tokens: a RST may overtake them.
func brokeOff(t *testing.T, g got, s said) {
	t.Helper()
	if g.err == nil || s.finish != "" || s.done {
		t.Errorf("got %d %v %+v", g.status, g.err, s)
	}
}

func noMark(t *testing.T, g got, s said) {
	t.Helper()
	whole(t, g, s)
	if s.done {
		t.Error("[DONE] was sent")
	}
}

func noFinish(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || s.finish != "" || s.done || s.text == "" {
		t.Errorf("got %v %+v", g.err, s)
	}
}

func retryAfter(want string) func(*testing.T, got, said) {
	return func(t *testing.T, g got, _ said) {
		t.Helper()
		if g.status < 429 || g.header.Get("Retry-After") != want {
			t.Errorf("got %d %v", g.status, g.header)
		}
	}
}

func retryDate(t *testing.T, g got, _ said) {
	t.Helper()
	at, err := http.ParseTime(g.header.Get("Retry-After"))
	if left := time.Until(at); err != nil || left < 50*time.Second || left > 61*time.Second {
		t.Errorf("got %v, %v left (%v)", g.header, left, err)
	}
}

func busy(t *testing.T, g got, _ said) {
	t.Helper()
	if g.status != 503 || g.body != `{"error":"server busy"}` {
		t.Errorf("got %d %q", g.status, g.body)
	}
}

func nothing(t *testing.T, g got, _ said) {
	t.Helper()
	if g.err != nil || g.status != 200 || g.body != "" {
		t.Errorf("got %d %v %q", g.status, g.err, g.body)
	}
}

func webPage(code int) func(*testing.T, got, said) {
	return func(t *testing.T, g got, _ said) {
		t.Helper()
		if g.status != code || !strings.HasPrefix(g.header.Get("Content-Type"), "text/html") || !strings.HasPrefix(g.body, "<!DOCTYPE html>") {
			t.Errorf("got %d %v %q", g.status, g.header, g.body)
		}
	}
}

func inBand(n int) func(*testing.T, got, said) {
	return func(t *testing.T, g got, s said) {
		t.Helper()
		if g.err != nil || g.status != 200 || s.tokens != n || s.errorCode != "server_is_overloaded" || s.finish != "" || s.done {
			t.Errorf("got %d %v %+v", g.status, g.err, s)
		}
	}
}

func brokenBody(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || g.status != 200 || s.broken != 1 || g.header.Get("Content-Type") != "application/json" {
		t.Errorf("want a whole answer of broken JSON, got %d %v %q", g.status, g.err, g.body)
	}
}

func malformedOnce(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || s.broken != 1 || s.tokens != 48 || s.finish != "stop" || !s.done {
		t.Errorf("got %v %+v", g.err, s)
	}
}

func malformedAll(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || s.broken < 40 || s.tokens != 2 || s.done {
		t.Errorf("got %v %+v", g.err, s)
	}
}

func allBroken(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || s.broken != s.events || s.events < 48 {
		t.Errorf("got %v %+v", g.err, s)
	}
}

func big(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || len(s.text) != 100<<10 || s.tokens != 1 || s.finish != "stop" {
		t.Errorf("got %v, %d bytes of text in %d tokens", g.err, len(s.text), s.tokens)
	}
}

func noUsage(t *testing.T, g got, s said) {
	t.Helper()
	whole(t, g, s)
	if s.usage != nil || strings.Contains(g.body, `"usage":`) {
		t.Errorf("usage: %v", s.usage)
	}
}

func blank(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || g.status != 200 || s.text != "" || s.finish != "stop" {
		t.Errorf("got %v %+v", g.err, s)
	}
}

func isFenced(s string) bool {
	inner, ok := strings.CutPrefix(s, "```json\n")
	inner, ok2 := strings.CutSuffix(inner, "\n```")
	return ok && ok2 && json.Valid([]byte(inner))
}

func isProse(s string) bool {
	from, to := strings.IndexByte(s, '{'), strings.LastIndexByte(s, '}')
	return from > 0 && to < len(s)-1 && json.Valid([]byte(s[from:to+1]))
}

func isCareless(s string) bool { return !json.Valid([]byte(s)) && strings.HasSuffix(s, ",}") }

func truncated(finish string) func(*testing.T, got, said) {
	return func(t *testing.T, g got, s said) {
		t.Helper()
		if g.err != nil || s.finish != finish || s.text == "" || json.Valid([]byte(s.text)) || s.text[0] != '{' {
			t.Errorf("got %v %+v", g.err, s)
		}
	}
}

func refused(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || s.text != "" || s.refusal == "" || s.finish != "stop" {
		t.Errorf("got %v %+v", g.err, s)
	}
}

func filtered(t *testing.T, g got, s said) {
	t.Helper()
	if g.err != nil || s.text != "" || s.finish != "content_filter" {
		t.Errorf("got %v %+v", g.err, s)
	}
}

func called(finish string, valid bool) func(*testing.T, got, said) {
	return func(t *testing.T, g got, s said) {
		t.Helper()
		if g.err != nil || s.finish != finish || s.args == "" || json.Valid([]byte(s.args)) != valid {
			t.Errorf("got %v %+v", g.err, s)
		}
	}
}
