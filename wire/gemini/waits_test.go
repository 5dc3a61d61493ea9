package gemini

import (
	"fmt"
	"strings"
	"testing"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

func says(index int, text, reason string) string {
	if reason != "" {
		reason = `,"finishReason":"` + reason + `"`
	}
	return fmt.Sprintf(`{"candidates":[{"content":{"parts":[{"text":%q}],"role":"model"}%s,"index":%d}]}`, text, reason, index)
}

// Only what may be the last event waits: a candidate that has ended holds no
// other one up.
func TestOnlyAnEventThatMayBeTheLastOneWaits(t *testing.T) {
	const usage, blocked = `{"usageMetadata":{"promptTokenCount":3}}`, `{"promptFeedback":{"blockReason":"SAFETY"}}`
	for name, c := range map[string]struct {
		events []string
		late   string // by event: + at once, - with the next one
	}{
		"one candidate":                      {[]string{says(0, "a", ""), says(0, "b", "STOP"), usage}, "+--"},
		"two, of which one has ended":        {[]string{says(0, "a", ""), says(1, "b", ""), says(0, "c", "STOP"), says(1, "d", ""), says(1, "e", ""), says(1, "f", "STOP"), usage}, "++-++--"},
		"two, the second after the first":    {[]string{says(0, "a", "STOP"), says(1, "b", ""), says(1, "c", "STOP")}, "-+-"},
		"a finish reason in every event":     {[]string{says(0, "a", "STOP"), says(0, "b", "STOP"), says(0, "", "")}, "---"},
		"a finish reason that proved no end": {[]string{says(0, "a", "STOP"), says(0, "b", ""), says(0, "c", "STOP")}, "-+-"},
		"a refused prompt":                   {[]string{blocked, usage}, "--"},
	} {
		t.Run(name, func(t *testing.T) {
			w, out, waits := Room{}.Writer(nil), "", ""
			for _, data := range c.events {
				got := string(w.Event(&sse.Event{Data: []byte(data)}, &wire.Signal{Kind: wire.Token}))
				if out += got; strings.HasSuffix(got, data+"\n\n") {
					waits += "+"
				} else {
					waits += "-"
				}
			}
			out += string(w.Close(&wire.Note{Tier: "backup"}))
			if waits != c.late || strings.Count(out, "data: ") != len(c.events) || strings.Count(out, `"x_backstop":{"tier":"backup"}}`+"\n\n") != 1 {
				t.Errorf("%s, want %s\n%s", waits, c.late, out)
			}
		})
	}
}

// What was said in the event that waits is the caller's, also where an error
// ends the stream: only its finish reason is not true.
func TestAnErrorLosesNoneOfTheText(t *testing.T) {
	for name, c := range map[string]struct {
		events []string
		text   string
	}{
		"a finish reason in every event": {[]string{says(0, "a", "STOP"), says(0, "b", "STOP")}, "ab"},
		"one that says nothing":          {[]string{says(0, "a", ""), says(0, "", "STOP")}, "a"},
	} {
		w, out := Room{}.Writer(nil), ""
		for _, data := range c.events {
			out += string(w.Event(&sse.Event{Data: []byte(data)}, &wire.Signal{Kind: wire.Token}))
		}
		last := string(w.Failure(&backstop.Failure{Code: backstop.CodeStreamIncomplete, Message: "cut"}, "req_1"))
		out += last
		for i, r := range c.text {
			if at := strings.Index(out, fmt.Sprintf(`"text":"%c"`, r)); at < 0 || i > 0 && at < strings.Index(out, `"text":"a"`) {
				t.Errorf("%s: %s", name, out)
			}
		}
		if strings.Contains(last, "STOP") || strings.Count(out, `"error"`) != 1 || !strings.HasSuffix(out, "}\n\n") || strings.LastIndex(out, "data: ") > strings.Index(out, `"error"`) {
			t.Errorf("%s: %s", name, out)
		}
	}
}
