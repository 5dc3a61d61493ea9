package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryShippedScenarioMeetsItsExpectations is the gate of the public
// post-mortems.
func TestEveryShippedScenarioMeetsItsExpectations(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil || len(files) < 14 {
		t.Fatalf("%d scenarios, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && strings.Contains(file, "p05") {
				t.Skip("half a million calls")
			}
			code, out := simulate("-f", file, "--verify")
			if code != exitFine {
				t.Errorf("exit %d\n%s", code, out)
			}
		})
	}
}

func simulate(args ...string) (int, string) {
	var out bytes.Buffer
	code := run(append([]string{"sim"}, args...), &streams{ctx: context.Background(), out: &out, err: &out,
		env: func(string) (string, bool) { return "", false }})
	return code, out.String()
}

func TestSimSaysWhatIsMissing(t *testing.T) {
	for args, want := range map[string]int{"": exitUsage, "-f missing.yaml": exitConfig, "--from-log missing.log": exitConfig} {
		if code, out := simulate(strings.Fields(args)...); code != want || out == "" {
			t.Errorf("%q: exit %d, want %d: %s", args, code, want, out)
		}
	}
}

func TestExplainNamesTheWorstCase(t *testing.T) {
	var out bytes.Buffer
	code := run([]string{"explain", "gpt-4o"}, &streams{ctx: context.Background(), out: &out, err: &out,
		env: func(string) (string, bool) { return "", false }})
	for _, want := range []string{"1. primary primary", "3. local template", "first token after 14s", "4 upstream requests"} {
		if code != exitFine || !strings.Contains(out.String(), want) {
			t.Errorf("exit %d, no %q in\n%s", code, want, out.String())
		}
	}
}
