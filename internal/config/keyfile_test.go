package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestAKeyThatIsOneFileReferenceRemembersIt(t *testing.T) {
	dir := t.TempDir()
	for name, key := range map[string]string{"one": "key-number-one-of-two\n", "two": "key-number-two-of-two"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "backstop.yaml")
	text := `upstreams:
  a: {base_url: "https://a.example/v1", keys: ["${KEY}", "${file:two}"]}
  b: {base_url: "https://b.example/v1", key: "${file:` + filepath.Join(dir, "one") + `}"}
  c: {base_url: "https://c.example/v1", key: "${KEY}"}
  d: {base_url: "https://d.example/v1", key: "x${file:one}"}
routes: [{model: "*", tiers: [{upstream: a}]}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(file, Options{Env: func(string) (string, bool) { return "a-key-of-the-environment", true }})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"a": {"", filepath.Join(dir, "two")}, "b": {filepath.Join(dir, "one")}, "c": nil, "d": nil}
	for i := range c.Plan.Upstreams {
		if u := &c.Plan.Upstreams[i]; !reflect.DeepEqual(u.KeyFiles, want[u.Name]) {
			t.Errorf("%s: %q", u.Name, u.KeyFiles)
		}
	}
	if key, err := ReadKey(filepath.Join(dir, "one")); err != nil || key.Reveal() != "key-number-one-of-two" {
		t.Error(err)
	}
	for name, text := range map[string]string{"empty": "\n", "broken": "a key\nand more"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadKey(path); err == nil {
			t.Errorf("%s: it is a key", name)
		}
	}
	if _, err := ReadKey(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there has a key")
	}
}
