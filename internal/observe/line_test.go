package observe

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"time"

	"backstop"
)

// slogged is the line of slog's own handler for the same fields.
func slogged(text bool, at time.Time, value string, n float64) string {
	var b bytes.Buffer
	var h slog.Handler = slog.NewJSONHandler(&b, nil)
	if text {
		h = slog.NewTextHandler(&b, nil)
	}
	r := slog.NewRecord(at, slog.LevelWarn, "call", 0)
	r.AddAttrs(slog.String("word", value), slog.Int("whole", -7), slog.Float64("number", n), slog.Bool("flag", true))
	_ = h.Handle(context.Background(), r)
	return b.String()
}

func TestALineIsWhatSlogWouldWrite(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 60_700_800, time.FixedZone("", 3600))
	for _, value := range []string{
		"", "plain", "two words", "a=b", `quote"`, `back\slash`, "line\nend\r\t", "\x00\x1b[31m", "模型", "é", "a\u2028b\u2029c", "\u202e", "\u00a0", "\u3000", "<&>", "/v1/*?",
	} {
		for _, n := range []float64{0, 0.35, 12.5, 4600, 1234567.89} {
			for _, text := range []bool{true, false} {
				l := line{text: text}
				l.begin(at, slog.LevelWarn, "call")
				l.word("word", value)
				l.whole("whole", -7)
				l.number("number", n)
				l.flag("flag", true)
				// slog has short escapes for some control characters.
				want := strings.NewReplacer(`\n`, `\u000a`, `\r`, `\u000d`, `\t`, `\u0009`).Replace(slogged(text, at, value, n))
				got := string(l.end())
				if text {
					want = slogged(text, at, value, n)
				}
				if got != want {
					t.Errorf("got  %swant %s", got, want)
				}
			}
		}
	}
}

func TestALineOfACallHasItsFieldsInOrder(t *testing.T) {
	e := hung("id-1")
	e.JSON, e.Truncated, e.Stale, e.Rescued = true, true, 90*time.Second, "spliced"
	e.Repaired, e.Dropped, e.InputTokens, e.OutputTokens = []string{"fence", "comma"}, []string{"top_k"}, 7, 11
	e.Failure = &backstop.Failure{Code: backstop.CodeOverloaded, Message: "PROMPT"}
	for format, want := range map[string]string{
		"json": `{"time":"T","level":"INFO","msg":"call","id":"id-1","op":"chat","dialect":"openai","stream":false,"json":true,"outcome":"ok","status":200,"attempts":2,"ms":4700,` +
			`"caller":"web","route":"gpt-4o","asked":"gpt-4o","tier":"backup","upstream":"two","model":"n","reason":"hang/first_token","code":"overloaded","first_token_ms":4600,` +
			`"rescued":"spliced","repaired":"fence,comma","dropped":"top_k","truncated":true,"stale_s":90,"input_tokens":7,"output_tokens":11,"tries":[{"upstream":"one","outcome":"hang/first_token","ms":4500},{"upstream":"two","outcome":"ok","first_token_ms":100}]}`,
		"text": `time=T level=INFO msg=call id=id-1 op=chat dialect=openai stream=false json=true outcome=ok status=200 attempts=2 ms=4700 caller=web route=gpt-4o asked=gpt-4o ` +
			`tier=backup upstream=two model=n reason=hang/first_token code=overloaded first_token_ms=4600 rescued=spliced repaired=fence,comma dropped=top_k truncated=true ` +
			`stale_s=90 input_tokens=7 output_tokens=11`,
	} {
		out := &sink{}
		o := New(Options{Out: out, Format: format})
		o.Call(e)
		o.Close()
		line := regexp.MustCompile(`\d{4}-\d\d-\d\dT[^" ]+`).ReplaceAllString(out.lines()[0], "T")
		if line != want {
			t.Errorf("got  %s\nwant %s", line, want)
		}
	}
}

func TestTokensThatWereNotReportedAreNotInTheLine(t *testing.T) {
	for _, c := range []struct {
		input, output int
		want          string
	}{
		{7, 11, "input_tokens=7 output_tokens=11"}, {7, 0, "input_tokens=7 output_tokens=0"}, {7, -1, "input_tokens=7"},
		{-1, 11, "output_tokens=11"}, {-1, -1, ""}, {0, 0, ""},
	} {
		e := hung("id-1")
		e.InputTokens, e.OutputTokens = c.input, c.output
		out := &sink{}
		o := New(Options{Out: out, Format: "text"})
		o.Call(e)
		o.Close()
		if got := strings.Join(regexp.MustCompile(`\S+_tokens=\S+`).FindAllString(out.lines()[0], -1), " "); got != c.want {
			t.Errorf("%d and %d tokens: %q, want %q", c.input, c.output, got, c.want)
		}
	}
}
