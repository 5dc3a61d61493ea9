package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files, the JSON Schema and the reference")

// testEnv is the environment of all golden files.
func testEnv(name string) (string, bool) {
	v, ok := map[string]string{
		"DEEPSEEK_API_KEY": "sk-deepseek-secret", "DASHSCOPE_API_KEY": "sk-dashscope-secret", "OPENAI_API_KEY": "sk-openai-secret",
		"WEB_KEY": "web-secret-0123456789", "K": "k-secret", "EMPTY": "",
	}[name]
	return v, ok
}

// render is what a golden file holds: warnings, then problems or the plan.
func render(c *Config, warnings []Warning, err error) string {
	var b strings.Builder
	for _, w := range warnings {
		fmt.Fprintf(&b, "warning, line %d: %s\n", w.Line, w.Message)
	}
	if err != nil {
		b.WriteString(err.Error() + "\n")
		return b.String()
	}
	b.WriteString(c.Describe())
	for _, e := range effectsOf(c) {
		if !e.hidden {
			fmt.Fprintf(&b, "%s = %s\n", e.path, e.value)
		}
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestEveryExampleFileGivesTheExpectedPlanOrProblems(t *testing.T) {
	for _, kind := range []string{"good", "bad"} {
		files, err := filepath.Glob(filepath.Join("testdata", kind, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files: %v", err)
		}
		for _, file := range files {
			t.Run(kind+"/"+filepath.Base(file), func(t *testing.T) {
				c, warnings, err := Load(file, Options{Env: testEnv})
				if (err != nil) != (kind == "bad") {
					t.Errorf("error = %v", err)
				}
				var ps Problems
				if err != nil && (!errors.As(err, &ps) || c != nil) {
					t.Errorf("error is %T and the configuration %v, want Problems and nil", err, c)
				}
				got := render(c, warnings, err)
				if strings.Contains(got, "secret") && kind == "bad" && strings.Contains(strings.ReplaceAll(got, "secret-looking", ""), "-secret") {
					t.Errorf("a credential is shown:\n%s", got)
				}
				golden(t, strings.TrimSuffix(file, ".yaml")+".txt", got)
			})
		}
	}
}
