package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"backstop"
	"backstop/backstophttp"
)

// longest bounds a timeout that a caller names, so that sums cannot overflow.
const longest = 24 * time.Hour

// passed are the request headers that the driver gets. A caller's credentials
// stop here.
var passed = [...]string{"Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "Idempotency-Key", "Traceparent"}

// turn reads what a caller's headers ask for. Overrides only tighten. Junk in
// our own headers is the caller's mistake; the SDKs' are hints.
func turn(h http.Header, c *backstophttp.Call) *backstop.Failure {
	if v := h.Get("X-Backstop-Timeout-Ms"); v != "" {
		ms, err := strconv.ParseInt(v, 10, 64)
		if err != nil || ms <= 0 {
			return badHeader("x-backstop-timeout-ms", "whole milliseconds above zero")
		}
		c.Timeout = time.Duration(min(ms, longest.Milliseconds())) * time.Millisecond
	}
	for _, f := range [...]struct {
		name string
		to   *bool
	}{{"X-Backstop-No-Fallback", &c.NoFallback}, {"X-Backstop-No-Local", &c.NoLocal}} {
		switch h.Get(f.name) {
		case "", "0", "false":
		case "1", "true":
			*f.to = true
		default:
			return badHeader(http.CanonicalHeaderKey(f.name), "1 or 0")
		}
	}
	for _, name := range [...]string{"X-Stainless-Timeout", "X-Stainless-Read-Timeout"} {
		if d, ok := seconds(h.Get(name)); ok && (c.Timeout == 0 || d < c.Timeout) {
			c.Timeout = d
		}
	}
	if v := h.Get("X-Stainless-Retry-Count"); v != "" {
		n, err := strconv.Atoi(v)
		c.Retrying = err == nil && n > 0
	}
	for _, name := range passed {
		if v := h[name]; len(v) > 0 {
			if c.Header == nil {
				c.Header = http.Header{}
			}
			c.Header[name] = v
		}
	}
	return nil
}

func badHeader(name, want string) *backstop.Failure {
	f := deny(backstop.CodeInvalidRequest, "the header "+name+" takes "+want)
	f.Param = name
	return f
}

// seconds reads the SDKs' timeouts, which may have a fraction.
func seconds(v string) (time.Duration, bool) {
	if v == "" {
		return 0, false
	}
	s, err := strconv.ParseFloat(v, 64)
	if err != nil || !(s > 0) {
		return 0, false
	}
	return max(time.Duration(min(s, longest.Seconds())*float64(time.Second)), time.Millisecond), true
}

// family names the SDKs that repeat a call unless its error is dressed for
// them; all others believe the real status.
func family(agent string) string {
	switch {
	case strings.HasPrefix(agent, "ai/"), strings.HasPrefix(agent, "ai-sdk"):
		return "ai"
	case strings.HasPrefix(agent, "langchainjs-"):
		return "langchain"
	}
	return ""
}
