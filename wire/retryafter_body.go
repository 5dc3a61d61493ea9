package wire

import (
	"net/http"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// bodyDelay finds the delay that an error body states.
func bodyDelay(body []byte, base time.Time) (time.Duration, bool) {
	if len(body) == 0 || len(body) > maxParsed || body[0] == '<' {
		return 0, false
	}
	if !ValidJSON(body) {
		return textDelay(string(body[:min(len(body), maxText)]))
	}
	root := gjson.ParseBytes(body)
	if root.IsArray() {
		root = root.Get("0")
	}
	if !root.IsObject() {
		return textDelay(root.Str)
	}
	inner := root
	for _, path := range []string{"error", "response.error", "Response.Error"} {
		if v := root.Get(path); v.IsObject() {
			inner = v
			break
		}
	}
	if d, ok := retryInfo(inner.Get("details")); ok {
		return d, true
	}
	for _, o := range []gjson.Result{inner, inner.Get("metadata"), root} {
		if d, ok := fieldDelay(o, base); ok {
			return d, true
		}
	}
	return messageDelay(root, inner)
}

// retryInfo reads Google's RetryInfo: "37s", "0.5s".
func retryInfo(details gjson.Result) (d time.Duration, ok bool) {
	if !details.IsArray() {
		return 0, false
	}
	count := 0
	details.ForEach(func(_, v gjson.Result) bool {
		if s := v.Get("retryDelay").Str; s != "" {
			if seconds, rest, good := parseSpan(strings.ToLower(s)); good && rest == "" {
				d, ok = bound(seconds)
			}
		}
		count++
		return !ok && count < maxElements
	})
	return d, ok
}

// delayFields are the names under which delays and points in time were seen,
// with what one unit of a plain number is in seconds; 0 = tell by its size.
var delayFields = []struct {
	name string
	unit float64
}{
	{"retry_after_ms", 0.001}, {"retryAfterMs", 0.001},
	{"retry_after", 1}, {"retryAfter", 1}, {"retry_after_seconds", 1}, {"resets_in_seconds", 1}, {"reset_after", 1},
	{"resets_at", 0}, {"reset_at", 0}, {"resetsAt", 0}, {"resetAt", 0}, {"reset_time", 0},
}

func fieldDelay(o gjson.Result, base time.Time) (time.Duration, bool) {
	if !o.IsObject() {
		return 0, false
	}
	for _, f := range delayFields {
		v := o.Get(f.name)
		if v.Type != gjson.Number && v.Type != gjson.String {
			continue
		}
		if n, ok := parseNumber(v.String()); ok && f.unit != 0 {
			return bound(n * f.unit)
		}
		if d, ok := parseReset(v.String(), base); ok {
			return d, true
		}
	}
	return relayedHeaders(o.Get("headers"), base)
}

// relayedHeaders reads headers that a relay copied into the body.
func relayedHeaders(o gjson.Result, base time.Time) (time.Duration, bool) {
	if !o.IsObject() {
		return 0, false
	}
	h := http.Header{}
	count := 0
	o.ForEach(func(k, v gjson.Result) bool {
		h.Set(k.String(), v.String())
		count++
		return count < 4*maxElements
	})
	if d, ok := headerDelay(h, base); ok {
		return d, true
	}
	return bucketDelay(h, base)
}

func messageDelay(root, inner gjson.Result) (time.Duration, bool) {
	for _, v := range []gjson.Result{
		inner.Get("message"), inner.Get("metadata.raw"), inner.Get("Message"), inner.Get("msg"), root.Get("message"), root.Get("error"), root.Get("detail"),
		root.Get("error_msg"), root.Get("base_resp.status_msg"),
	} {
		if v.Type != gjson.String {
			continue
		}
		if d, ok := textDelay(v.Str[:min(len(v.Str), maxText)]); ok {
			return d, true
		}
	}
	return 0, false
}
