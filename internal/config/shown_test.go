package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestSettingsNameEverythingAndShowNoSecret(t *testing.T) {
	const canary = "canary-0123456789"
	text := `admin: {token: "` + canary + `"}
callers: [{name: web, key: "` + canary + `-web"}]
upstreams:
  one: {dialect: openai, base_url: "https://api.example.com/v1", keys: ["` + canary + `-a", "` + canary + `-b"], headers: {x-org: "` + canary + `"}, query: {k: "` + canary + `"},
        proxy: "http://name:` + canary + `@127.0.0.1:1/"}
routes:
  - model: "*"
    tiers: [{upstream: one}, {local: {template: {text: "busy"}}}]
`
	c, _, err := Parse("f.yaml", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]Setting{}
	for _, s := range c.Settings() {
		paths[s.Path] = s
		if strings.Contains(fmt.Sprintf("%#v", s), canary) {
			t.Errorf("a secret is shown: %#v", s)
		}
	}
	if s := paths["upstreams.one.timeouts.first_token"]; s.Value != "4.5s" && s.Value != "4500ms" || s.Group != "upstreams.one" {
		t.Errorf("a default: %+v", s)
	}
	for _, p := range []string{"admin.token", "upstreams.one.keys", "upstreams.one.headers.x-org"} {
		if s, ok := paths[p]; !ok || !s.Hidden || s.Value != "" {
			t.Errorf("%s: %+v", p, s)
		}
	}
}
