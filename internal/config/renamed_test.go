package config

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// A file that an older release wrote: every key of it was renamed since.
const olderFile = `version: 1
listen_on: localhost:4000
defaults: {time_limits: {first: 3s}}
upstreams:
  a: {base_url: https://a.example/v1, credential: first-key}
  b: {base_url: https://b.example/v1, time_limits: {first: 2s}}
routes:
  - name: "*"
    tiers: [{upstream: a, model: m}, {upstream: b, model: n}]
`

var olderKeys = []renamedKey{
	{"", "listen_on", "listen", "1.4"},
	{"upstreams.*", "credential", "key", "1.4"},
	{"upstreams.*", "time_limits", "timeouts", "1.5"},
	{"upstreams.*.timeouts", "first", "first_token", "1.5"},
	{"routes.*", "name", "model", "1.4"},
}

func TestAnOlderFileWorksWithAWarningForEachRenamedKey(t *testing.T) {
	c, warnings, err := Parse("t.yaml", []byte(olderFile), Options{renamed: olderKeys})
	if err != nil {
		t.Fatal(err)
	}
	a, b := c.Plan.Upstream("a"), c.Plan.Upstream("b")
	if c.Listen[0] != "127.0.0.1:4000" || a.Keys[0].Reveal() != "first-key" || a.Timeouts.FirstToken != 3*time.Second || b.Timeouts.FirstToken != 2*time.Second {
		t.Errorf("listen %v, a %+v, b %+v", c.Listen, a.Timeouts, b.Timeouts)
	}
	for _, f := range olderKeys {
		at := func(w Warning) bool {
			return w.Line > 0 && strings.Contains(w.Message, f.name+" is called "+f.now+" now") && strings.Contains(w.Message, f.gone)
		}
		if !slices.ContainsFunc(warnings, at) {
			t.Errorf("no warning for %s: %v", f.name, warnings)
		}
	}
}

func TestAKeyUnderBothNamesIsThereTwice(t *testing.T) {
	text := strings.Replace(olderFile, "version: 1", "listen: localhost:5000", 1)
	_, _, err := Parse("t.yaml", []byte(text), Options{renamed: olderKeys})
	if err == nil || !strings.Contains(err.Error(), "appears twice") {
		t.Errorf("error = %v", err)
	}
}

func TestAFormerNameIsUnknownOnceItsTimeIsOver(t *testing.T) {
	_, _, err := Parse("t.yaml", []byte(olderFile), Options{})
	if err == nil || !strings.Contains(err.Error(), `unknown key "listen_on"`) {
		t.Errorf("error = %v", err)
	}
}

// A row names a key that is unknown today, in a mapping and with a new name
// that are known.
func TestTheTableOfFormerKeysIsSound(t *testing.T) {
	var paths []string
	for _, row := range rows() {
		paths = append(paths, strings.NewReplacer("[]", ".*", ".NAME", ".*").Replace(row.path))
	}
	for _, f := range renamedKeys() {
		prefix := f.path
		if prefix != "" {
			prefix += "."
		}
		if !slices.Contains(paths, prefix+f.now) || slices.Contains(paths, prefix+f.name) || f.gone == "" {
			t.Errorf("row %+v", f)
		}
	}
}
