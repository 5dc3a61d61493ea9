package main

import (
	"bytes"
	"context"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// output is what a command line prints.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	s := &streams{ctx: context.Background(), in: strings.NewReader(""), out: &out, err: &errs, env: func(string) (string, bool) { return "", false }}
	if code := run(args, s); code != exitFine {
		t.Fatalf("%v: exit %d: %s", args, code, errs.String())
	}
	return out.String()
}

func TestEveryShellKnowsEveryCommandAndFlag(t *testing.T) {
	commands := regexp.MustCompile(`(?m)^  ([a-z]+) {2,}`).FindAllStringSubmatch(output(t, "help"), -1)
	if len(commands) < 10 {
		t.Fatalf("commands %v", commands)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		script := output(t, "completion", shell)
		for _, c := range commands {
			if !strings.Contains(script, c[1]) {
				t.Errorf("%s does not know %s", shell, c[1])
			}
		}
		for _, flag := range []string{"primary-key-env", "from-log", "lenient", "jsonl", "seed"} {
			if !strings.Contains(script, flag) {
				t.Errorf("%s does not know --%s", shell, flag)
			}
		}
		for i, line := range strings.Split(script, "\n") {
			if strings.Count(line, "'")%2 != 0 {
				t.Errorf("%s, line %d: a quote is open: %s", shell, i+1, line)
			}
		}
	}
}

func TestBashCompletesAsTyped(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	script := output(t, "completion", "bash")
	for typed, want := range map[string]string{
		"backstop se":                               "serve",
		"backstop serve --pri":                      "--primary --primary-key-env --primary-model",
		"backstop import por":                       "portkey",
		"backstop help doc":                         "doctor",
		"backstop completion ":                      "--help bash fish powershell zsh",
		"backstop check -c completion_test.g":       "completion_test.go",
		"backstop import litellm completion_test.g": "completion_test.go",
	} {
		words := strings.Split(typed, " ")
		quoted := "'" + strings.Join(words, "' '") + "'"
		program := script + "\nCOMP_WORDS=(" + quoted + ")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_backstop\nprintf '%s\\n' \"${COMPREPLY[@]}\" | sort\n"
		out, err := exec.Command(bash, "--norc", "-c", program).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got := strings.Join(strings.Fields(string(out)), " "); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
