package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"backstop"
	"backstop/internal/upstream"
)

const smallest = `upstreams:
  a: {base_url: https://a.example/v1, key: first-key}
  b: {base_url: https://b.example/v1}
routes:
  - model: "*"
    tiers:
      - {upstream: a, model: m}
      - {upstream: b, model: n}
      - local: {template: {text: Busy.}}
`

func parsed(t *testing.T, text string, o Options) *Config {
	t.Helper()
	c, _, err := Parse("t.yaml", []byte(text), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheSmallestFileHasTheCardsValues(t *testing.T) {
	c := parsed(t, smallest, Options{})
	u, want := c.Plan.Upstreams[0], backstop.DefaultUpstream()
	if u.Timeouts != want.Timeouts || u.Breaker != want.Breaker || u.Retry != want.Retry || u.Limits != want.Limits || u.Unary != want.Unary {
		t.Errorf("upstream = %+v", u)
	}
	tiers := c.Plan.Routes[0].Tiers
	if tiers[0].Rate != 0 || tiers[1].Rate != backstop.DefaultFallbackRate || tiers[1].Burst != backstop.DefaultBurst {
		t.Errorf("tiers = %+v", tiers)
	}
	if got := c.Plan.Routes[0].Deadline; got != backstop.AutoDeadline(c.Plan, &c.Plan.Routes[0]) || got != 14*time.Second {
		t.Errorf("deadline = %s", got)
	}
	if c.Log.Format != "json" || parsed(t, smallest, Options{Terminal: true}).Log.Format != "text" {
		t.Error("log.format auto does not follow the terminal")
	}
}

// What a proxy may be is said in two places: when a file is read, and when the
// way to an upstream is made, which the environment's proxies come to alone.
func TestAProxyThatAnUpstreamCanUseIsOneThatAFileMayName(t *testing.T) {
	for proxy, good := range map[string]bool{
		"env": true, "off": true, "http://127.0.0.1:7890": true, "https://u:p@proxy.example": true, "socks5://127.0.0.1:7891": true,
		"socks5h://127.0.0.1:7891": true, "socks4://127.0.0.1:7891": false, "ftp://127.0.0.1": false, "127.0.0.1:7890": false, "http://": false,
	} {
		_, _, err := Parse("t.yaml", []byte(strings.Replace(smallest, "a: {", "a: {proxy: '"+proxy+"', ", 1)), Options{})
		u := backstop.DefaultUpstream()
		u.Name, u.BaseURL, u.Proxy = "a", "https://a.example/v1", proxy
		_, made := upstream.New(&u, upstream.Options{})
		if (err == nil) != good || (made == nil) != good {
			t.Errorf("%s: a file says %v, an upstream %v", proxy, err, made)
		}
	}
}

func TestTheExampleOfThePageIsAccepted(t *testing.T) {
	page, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "The smallest useful file:\n\n```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	c := parsed(t, example, Options{Env: testEnv})
	if c.Plan.Upstream("deepseek").Keys[0].Reveal() != "sk-deepseek-secret" {
		t.Error("the key was not expanded")
	}
}

func TestLenientMakesUnknownKeysWarnings(t *testing.T) {
	text := "unknown: 1\n" + smallest
	if _, _, err := Parse("t.yaml", []byte(text), Options{}); err == nil {
		t.Error("an unknown key is accepted")
	}
	_, warnings, err := Parse("t.yaml", []byte(text), Options{Lenient: true})
	if err != nil || len(warnings) == 0 || warnings[0].Line != 1 {
		t.Errorf("warnings = %v, error = %v", warnings, err)
	}
}

func TestAValueCannotInjectYAML(t *testing.T) {
	text := strings.Replace(smallest, "first-key", `"${X}"`, 1)
	c, _, err := Parse("t.yaml", []byte(text), Options{Env: env("X=k, vendor: openai")})
	if err == nil {
		t.Fatalf("a key with a blank is accepted: %v", c.Plan.Upstreams[0])
	}
	text = strings.Replace(smallest, "Busy.", `"${X}"`, 1)
	c = parsed(t, text, Options{Env: env("X=a}}\nlisten: 0.0.0.0:1 ${Y}")})
	if got := c.Plan.Routes[0].Tiers[2].Local.Template.Text; got != "a}}\nlisten: 0.0.0.0:1 ${Y}" {
		t.Errorf("text = %q", got)
	}
}

func TestAMissingFileIsAProblemThatNamesIt(t *testing.T) {
	_, _, err := Load("testdata/none.yaml", Options{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "testdata/none.yaml: cannot be read") {
		t.Errorf("error = %v", err)
	}
}

func TestFlagsTakeThePlaceOfTheFilesAddresses(t *testing.T) {
	c := parsed(t, "listen: 127.0.0.1:1\n"+smallest, Options{Listen: "localhost:2", Admin: "127.0.0.1:3"})
	if !slices.Equal(c.Listen, []string{"127.0.0.1:2", "[::1]:2"}) || !slices.Equal(c.Admin.Listen, []string{"127.0.0.1:3"}) {
		t.Errorf("listen = %v, admin = %v", c.Listen, c.Admin.Listen)
	}
	if _, _, err := Parse("t.yaml", []byte(smallest), Options{Listen: "3000"}); err == nil {
		t.Error("a bad address is accepted")
	}
}

func TestDiffNamesWhatChangesInEffectAndNoSecret(t *testing.T) {
	old := parsed(t, smallest+"callers: [{name: web, key: 0123456789abcdef}]\n", Options{})
	next := strings.NewReplacer("first-key", "second-key", "upstream: b, model: n", "upstream: b, model: o",
		"b: {", "c: {base_url: https://c.example/v1}\n  b: {timeouts: {first_token: 9s}, ").Replace(smallest) + "profile: default\n"
	got := Diff(old, parsed(t, next, Options{}))
	want := []string{
		"upstreams.a.keys: changed",
		"upstreams.c: added",
		"upstreams.b.timeouts.first_token: 4500ms -> 9s",
		"routes[*].tiers[2]: b (n, at most 100/s) -> b (o, at most 100/s)",
		"routes[*].deadline: 14s -> 18.5s",
		"callers.web: removed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("diff:\n%s", strings.Join(got, "\n"))
	}
	if lines := Diff(old, old); len(lines) != 0 {
		t.Errorf("no change gives %v", lines)
	}
}

func TestSilentThinkersGetTimeUnlessItWasSet(t *testing.T) {
	base := strings.Replace(smallest, "https://a.example/v1", "https://api.openai.com/v1", 1)
	for name, tt := range map[string]struct {
		from, to string
		want     time.Duration
	}{
		"by the tier's model":      {"model: m", "model: o3-mini", backstop.SilentFirstToken},
		"not for others":           {"model: m", "model: gpt-4o", backstop.DefaultFirstToken},
		"not against the file":     {"first-key}", "first-key, timeouts: {first_token: 9s}}", 9 * time.Second},
		"not against the defaults": {"routes:", "defaults: {timeouts: {first_token: 8s}}\nroutes:", 8 * time.Second},
		"not beyond total":         {"first-key}", "first-key, timeouts: {total: 60s}}", 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(base, tt.from, tt.to, 1)
			if tt.from != "model: m" {
				text = strings.Replace(text, "model: m", "model: o3-mini", 1)
			}
			if got := parsed(t, text, Options{}).Plan.Upstreams[0].Timeouts.FirstToken; got != tt.want {
				t.Errorf("first_token = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestHostileFilesAreRefusedInBoundedTime(t *testing.T) {
	var keys, routes strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&keys, "k%d: v\n", i)
	}
	for i := range 1001 {
		fmt.Fprintf(&routes, "  - {model: m%d, tiers: [{upstream: a}]}\n", i)
	}
	for name, text := range map[string]string{
		"too large":         strings.Repeat("#", 1<<20+1),
		"many keys":         keys.String(),
		"deep brackets":     strings.Repeat("[", 1<<20),
		"deep braces":       strings.Repeat("{a: ", 1<<17),
		"deep lists":        strings.Repeat("- ", 1<<19),
		"deep keys":         strings.Repeat("? ", 1<<19),
		"many tags":         "a: " + strings.Repeat("!!str ", 1<<16) + "x",
		"many anchors":      "a: " + strings.Repeat("&a ", 1<<16) + "x",
		"colons":            strings.Repeat(":", 1<<20),
		"colons and blanks": strings.Repeat(": ", 1<<19),
		"a long value":      "a: " + strings.Repeat("x", 1<<20-3),
		"an open quote":     "a: \"" + strings.Repeat("x", 1<<19),
		"too many routes":   "upstreams: {a: {base_url: https://a.example}}\nroutes:\n" + routes.String(),
		"one long list":     "listen: [" + strings.Repeat("1,", 1<<18) + "]",
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := Parse("t.yaml", []byte(text), Options{}); err == nil {
				t.Error("accepted")
			} else if len(err.Error()) > 64<<10 {
				t.Errorf("the message has %d bytes", len(err.Error()))
			}
		})
	}
}

func TestAKeyIsNeverPrinted(t *testing.T) {
	c := parsed(t, smallest, Options{})
	text := fmt.Sprintf("%v %+v %#v", c, c.Plan, c.Plan.Upstreams) + c.Describe()
	if strings.Contains(text, "first-key") {
		t.Error("a key is printed")
	}
}

func FuzzParse(f *testing.F) {
	for _, dir := range []string{"testdata/good", "testdata/bad"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			if data, err := os.ReadFile(dir + "/" + e.Name()); err == nil && strings.HasSuffix(e.Name(), ".yaml") {
				f.Add(data)
			}
		}
	}
	missing := func(string) ([]byte, error) { return nil, fs.ErrNotExist }
	f.Fuzz(func(t *testing.T, data []byte) {
		c, _, err := Parse("f.yaml", data, Options{Env: testEnv, ReadFile: missing, Lenient: len(data)%2 == 0})
		var ps Problems
		if err != nil && (c != nil || !errors.As(err, &ps) || err.Error() == "") {
			t.Fatalf("c = %v, error = %v", c, err)
		}
		if err != nil {
			return
		}
		_ = c.Describe()
		if len(Diff(c, c)) != 0 {
			t.Fatal("a configuration differs from itself")
		}
		checkPlan(t, c)
	})
}

// checkPlan holds what the engine may rely on.
func checkPlan(t *testing.T, c *Config) {
	for i := range c.Plan.Routes {
		rt := &c.Plan.Routes[i]
		if rt.Deadline <= 0 || len(rt.Tiers) == 0 || rt.Model == "" {
			t.Fatalf("route = %+v", rt)
		}
		for j := range rt.Tiers {
			if tier := &rt.Tiers[j]; tier.Local == nil && c.Plan.Upstream(tier.Upstream) == nil {
				t.Fatalf("tier %d of %q has no upstream", j, rt.Model)
			}
		}
	}
	for i := range c.Plan.Upstreams {
		u := &c.Plan.Upstreams[i]
		if u.Timeouts.Connect <= 0 || u.Timeouts.FirstToken <= 0 || u.Breaker.Failures < 1 || u.Vendor == "auto" || u.Auth == "auto" {
			t.Fatalf("upstream = %+v", u)
		}
	}
	if c.Plan.Route(c.Agent.Model) == nil || len(c.Listen) == 0 || len(c.Admin.Listen) == 0 {
		t.Fatalf("agent = %+v, listen = %v", c.Agent, c.Listen)
	}
}
