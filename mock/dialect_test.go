package mock_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"backstop/internal/testkit"
	"backstop/mock"
)

// TestEveryFaultHasItsFormInEveryDialect asks for every fault in every
// dialect, plain and streamed, and compares what came with a table.
func TestEveryFaultHasItsFormInEveryDialect(t *testing.T) {
	faults := []string{
		"ok", "hang", "slow:5ms", "slowhead:5ms", "role-only", "keepalive:5ms", "blanklines:20ms", "stall@3", "stall@400", "drip:1ms",
		"cut@4", "reset", "halfclose:20ms", "nodone", "nofinish@2",
		"400", "401", "402", "403", "404", "408", "409", "413", "422", "429", "429:quota", "500", "503", "504", "529", "400:code=c", "400:type=t",
		"busy", "context", "param:top_k", "nostream", "streamonly",
		"empty", "html", "error-in-200", "error-in-200:1305", "error-first", "error-mid@3", "malformed@2", "malformed:all@2",
		"bigevent:20KiB", "usage-none", "thinking@3", "blank",
		"fenced", "prose", "truncated", "truncated:stop", "badjson", "badjson:body",
		"refusal", "refusal:filter", "refusal:400", "toolcall", "toolcall:truncated", "flap:1h", "p:1:503", "slow:soon",
	}
	rows := make([]string, len(faults))
	for i, fault := range faults {
		if falls := strings.FieldsFunc(fault, func(r rune) bool { return r == ':' || r == '@' }); slices.Contains([]string{"hang", "role-only", "keepalive", "stall"}, falls[0]) {
			synctest.Test(t, func(t *testing.T) { // silence is waited for
				_, p := overPipes(t, mock.Options{Tokens: 12})
				rows[i] = row(p, fault)
			})
			continue
		}
		_, p := overSockets(t, mock.Options{Tokens: 12}) // halfclose leaves traps in its pool
		rows[i] = row(p, fault)
	}
	testkit.Golden(t, "dialects.txt", []byte(strings.Join(rows, "\n")))
}

// row describes a fault: one line a dialect, shorter where plain and stream
// are the same.
func row(p peer, fault string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", fault)
	for _, l := range fixtures {
		plain, stream := l.tell(p, fault, false), l.tell(p, fault, true)
		if plain == stream {
			fmt.Fprintf(&b, "  %-12s both   %s\n", l.name, plain)
			continue
		}
		fmt.Fprintf(&b, "  %-12s plain  %s\n  %-12s stream %s\n", l.name, plain, "", stream)
	}
	return b.String()
}

// tell asks and says what came, without what differs from run to run.
func (l fixture) tell(p peer, fault string, stream bool) string {
	defer p.forget()
	asJSON := strings.HasPrefix(fault, "truncated") || strings.HasPrefix(fault, "badjson") || fault == "fenced" || fault == "prose"
	g := p.post(l.path(fault, stream), l.body(fault, stream, asJSON), patient)
	s := l.read(g.body, stream)
	switch {
	case errors.Is(g.err, syscall.ECONNRESET):
		return "reset"
	case g.err != nil && g.status == 0:
		return "silence"
	case g.err != nil && strings.TrimSpace(g.body) == "":
		return fmt.Sprintf("%d, then no token%s", g.status, warmth(g))
	case g.err != nil && s.tokens == 0 && s.pings > 2:
		return fmt.Sprintf("%d, then no token, warm: pings", g.status)
	case g.err != nil && !stream:
		return fmt.Sprintf("%d, then part of a body", g.status)
	case g.err != nil && s.tokens == 0 && strings.Contains(g.body, ": keep-alive"):
		return fmt.Sprintf("%d, then no token, warm: comments", g.status)
	case strings.HasPrefix(g.header.Get("Content-Type"), "text/html"):
		return fmt.Sprintf("%d, a web page", g.status)
	case g.body == "":
		return fmt.Sprintf("%d, nothing", g.status)
	}
	return fmt.Sprintf("%d%s", g.status, s.story(g.err != nil))
}

func warmth(g got) string {
	if strings.Contains(g.body, "\n") {
		return ", warm: blank lines"
	}
	return ""
}

func (s said) story(broken bool) string {
	var b strings.Builder
	say := func(form string, args ...any) { fmt.Fprintf(&b, ", "+form, args...) }
	if s.thought != "" {
		say("%d thoughts", len(strings.Fields(s.thought)))
	}
	switch text := s.text; {
	case text == healthyText:
		say("whole text")
	case isFenced(text):
		say("fenced JSON")
	case isProse(text):
		say("prose around JSON")
	case isCareless(text):
		say("careless JSON")
	case strings.HasPrefix(healthyText, text) && text != "":
		say("part of the text")
	case strings.HasPrefix(text, "{"):
		say("part of JSON")
	case len(text) > 10_000:
		say("%d bytes of text", len(text))
	case text != "":
		say("%q", text)
	}
	if s.refusal != "" {
		say("refusal %q", s.refusal)
	}
	if s.args != "" {
		say("call, arguments valid %v", json.Valid([]byte(s.args)))
	}
	if s.tokens > 0 {
		say("%d tokens", s.tokens)
	}
	if s.broken > 0 {
		say("%d events broken", s.broken)
	}
	if s.errorCode != "" {
		say("error %s", s.errorCode)
	}
	if s.finish != "" {
		say("finish %s", s.finish)
	}
	if s.done {
		say("end mark")
	}
	if s.finish != "" && s.usage == nil {
		say("no usage")
	}
	if s.gaps > 0 && s.broken == 0 {
		say("%d gaps in the sequence", s.gaps)
	}
	if broken {
		say("broken off")
	}
	return b.String()
}

const healthyText = "On what is a lighthouse for: birch coral spruce ember delta glacier."

func TestTheSamePromptGetsTheSameTextInEveryDialect(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	texts := map[string]bool{}
	for _, l := range fixtures {
		for _, stream := range []bool{false, true} {
			g := p.post(l.path("m", stream), l.body("m", stream, false), patient)
			texts[l.read(g.body, stream).text] = true
		}
	}
	if len(texts) != 1 || texts[""] {
		t.Errorf("%v", texts)
	}
}

func TestTimesToWaitStandWhereTheDialectHasThem(t *testing.T) {
	_, p := overSockets(t, mock.Options{})
	for _, c := range []struct{ fault, header, inBody string }{
		{"429:retry-after=2", "2", `"retryDelay":"2s"`},
		{"503:retry-after-ms=1500", "", `"retryDelay":"1.5s"`},
		{"429:retry-after-date=60s", "a date", `"retryDelay":"60s"`},
		{"429:retry-after=soon", "soon", `"retryDelay":"soons"`},
		{"429:quota", "", `PerDay`},
		{"429", "", `PerMinute`},
	} {
		for _, l := range fixtures {
			g := p.post(l.path(c.fault, false), l.body(c.fault, false, false), patient)
			header := g.header.Get("Retry-After")
			if _, err := http.ParseTime(header); err == nil {
				header = "a date"
			}
			if strings.HasPrefix(l.name, "gemini") {
				if header != "" || !strings.Contains(g.body, c.inBody) {
					t.Errorf("%s in %s: header %q, %s", c.fault, l.name, header, g.body)
				}
			} else if header != c.header {
				t.Errorf("%s in %s: header %q, want %q", c.fault, l.name, header, c.header)
			}
		}
	}
	g := p.post("/v1/messages", messageAsks("429:quota", false, false), patient)
	if !strings.Contains(g.body, `"error_code":"enforced_spend_limit_reached"`) {
		t.Error(g.body)
	}
}
