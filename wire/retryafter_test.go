package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRetryAfterFromHeaders(t *testing.T) {
	const none = -1 * time.Millisecond
	for name, c := range map[string]struct {
		headers string
		want    time.Duration
	}{
		"milliseconds come first":                 {"retry-after-ms: 820\nretry-after: 5", 820 * time.Millisecond},
		"bad milliseconds are skipped":            {"retry-after-ms: x\nretry-after: 5", 5 * time.Second},
		"whole seconds":                           {"retry-after: 60", time.Minute},
		"zero is a delay":                         {"retry-after: 0", 0},
		"seconds with a point":                    {"retry-after: 1.5", 1500 * time.Millisecond},
		"parts of a millisecond round up":         {"retry-after: 0.0001", time.Millisecond},
		"a duration":                              {"retry-after: 1m30s", 90 * time.Second},
		"a date counts from the answer's date":    {"retry-after: Sun, 29 Nov 2026 10:01:00 GMT\ndate: Sun, 29 Nov 2026 10:00:00 GMT", time.Minute},
		"a date without Date counts from now":     {"retry-after: Sun, 29 Nov 2026 12:01:00 GMT", time.Minute},
		"a date in the past is now":               {"retry-after: Sun, 29 Nov 2026 09:00:00 GMT\ndate: Sun, 29 Nov 2026 10:00:00 GMT", 0},
		"more than a day is a day":                {"retry-after: 105340", 24 * time.Hour},
		"an absurd number is none":                {"retry-after: 99999999999999999999", none},
		"a negative number is none":               {"retry-after: -1", none},
		"words are none":                          {"retry-after: abc", none},
		"nothing is none":                         {"retry-after: ", none},
		"hex is none":                             {"retry-after: 0x10", none},
		"infinity is none":                        {"retry-after: Inf", none},
		"an exponent is none":                     {"retry-after: 1e3", none},
		"a used-up bucket":                        {"x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 6m0s", 6 * time.Minute},
		"a bucket with something left is none":    {"x-ratelimit-remaining-tokens: 1\nx-ratelimit-reset-tokens: 6m0s", none},
		"the latest of two used-up buckets":       {"x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 120ms\nx-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 1.57s", 1570 * time.Millisecond},
		"a bucket that is overdrawn":              {"x-ratelimit-remaining-tokens: -3\nx-ratelimit-reset-tokens: 2", 2 * time.Second},
		"a bucket reset at a Unix time":           {"x-ratelimit-remaining: 0\nx-ratelimit-reset: 1795953630", 30 * time.Second},
		"a bucket reset at Unix milliseconds":     {"x-ratelimit-remaining: 0\nx-ratelimit-reset: 1795953630500", 30500 * time.Millisecond},
		"a bucket reset at RFC 3339":              {"anthropic-ratelimit-input-tokens-remaining: 0\nanthropic-ratelimit-input-tokens-reset: 2026-11-29T12:00:25Z", 25 * time.Second},
		"a bucket without reset is none":          {"x-ratelimit-remaining-requests: 0", none},
		"a used-up bucket comes after the header": {"retry-after: 1\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 40s", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for _, line := range strings.Split(c.headers, "\n") {
				k, v, _ := strings.Cut(line, ":")
				h.Set(k, strings.TrimSpace(v))
			}
			checkDelay(t, c.want, h, "")
		})
	}
}

func TestRetryAfterFromBodies(t *testing.T) {
	const none = -1 * time.Millisecond
	for name, c := range map[string]struct {
		body string
		want time.Duration
	}{
		"RetryInfo":                       {`{"error":{"details":[{"@type":"x"},{"retryDelay":"37s"}],"message":"retry in 5s"}}`, 37 * time.Second},
		"nine decimals round up":          {`[{"error":{"message":"Please retry in 45.578569677s."}}]`, 45579 * time.Millisecond},
		"try again in 20s":                {`{"error":{"message":"Please try again in 20s."}}`, 20 * time.Second},
		"minutes and seconds":             {`{"error":{"message":"Please try again in 7m12.5s."}}`, 432500 * time.Millisecond},
		"milliseconds":                    {`{"error":{"message":"Please try again in 120ms."}}`, 120 * time.Millisecond},
		"after 1 seconds":                 {`{"error":{"message":"please try again after 1 seconds"}}`, time.Second},
		"two units in words":              {`{"message":"Try again in 1 hour and 2 minutes"}`, 62 * time.Minute},
		"minutes in Chinese":              {`{"error":{"message":"请 5 分钟后重试"}}`, 5 * time.Minute},
		"an error that is text":           {`{"error":"wait for 3 seconds"}`, 3 * time.Second},
		"plain text":                      {"retry after 9 seconds", 9 * time.Second},
		"a JSON text":                     {`"retry after 9 seconds"`, 9 * time.Second},
		"a field in seconds":              {`{"error":{"message":"m","retry_after":12}}`, 12 * time.Second},
		"a point in time":                 {`{"error":{"metadata":{"resets_at":"2026-11-29T12:10:00Z"}}}`, 10 * time.Minute},
		"a relay's headers":               {`{"error":{"metadata":{"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1795953630000"}}}}`, 30 * time.Second},
		"what the relayed answer said":    {`{"error":{"message":"m","metadata":{"raw":"try again in 4s"}}}`, 4 * time.Second},
		"a local time without zone":       {`{"error":{"message":"您的限额将在 2026-11-29 23:00:00 重置。"}}`, none},
		"a date in words":                 {`{"error":{"message":"You will regain access on 2026-12-01 at 00:00 UTC."}}`, none},
		"a limit is no delay":             {`{"error":{"message":"Limit: 3 / min. Used 5034 in 60s"}}`, none},
		"a number without unit":           {`{"error":{"message":"retry after 5"}}`, none},
		"later is no delay":               {`{"error":{"message":"try again in a minute"}}`, none},
		"words of a prompt are no delay":  {`{"error":{"message":"bad"},"input":"try again in 20s"}`, none},
		"a page is no delay":              {`<html>retry after 5 seconds</html>`, none},
		"a number that overflows is none": {`{"error":{"retry_after":1e400,"message":"try again in 99999999999999999999999s"}}`, none},
	} {
		t.Run(name, func(t *testing.T) { checkDelay(t, c.want, nil, c.body) })
	}
}

func checkDelay(t *testing.T, want time.Duration, h http.Header, body string) {
	t.Helper()
	d, ok := RetryAfter(h, []byte(body), testNow)
	if ok != (want >= 0) || ok && d != want {
		t.Errorf("got %v %v, want %v", d, ok, want)
	}
}

func FuzzRetryAfterIsADelayOrNone(f *testing.F) {
	f.Add("5", "100", "6m0s", "0", `{"error":{"message":"try again in 5s"}}`)
	f.Add("Sun, 29 Nov 2026 12:01:00 GMT", "", "1795953630", "0", `[{"error":{"details":[{"retryDelay":"1.5s"}]}}]`)
	f.Add("-1", "NaN", "2026-11-29T12:00:25Z", "-1", `{"error":{"metadata":{"headers":{"x-ratelimit-reset":1e300}}}}`)
	f.Fuzz(func(t *testing.T, after, ms, reset, remaining, body string) {
		h := http.Header{"Retry-After": {after}, "Retry-After-Ms": {ms}, "X-Ratelimit-Reset-Tokens": {reset}, "X-Ratelimit-Remaining-Tokens": {remaining}, "Date": {reset}}
		for _, now := range []time.Time{testNow, {}} {
			d, ok := RetryAfter(h, []byte(body), now)
			if d < 0 || d > 24*time.Hour || !ok && d != 0 || d%time.Millisecond != 0 {
				t.Fatalf("got %v %v", d, ok)
			}
		}
	})
}
