package docs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// manual knows the commands and flags of the binary, from its own help.
type manual struct {
	t      *testing.T
	binary string
	flags  map[string][]string
}

var (
	commandLine = regexp.MustCompile(`(?m)^  ([a-z]+) {2,}`)
	flagName    = regexp.MustCompile(`(?m)^\s+(?:(-[a-z]), )?(--[a-z-]+)`)
)

func newManual(t *testing.T) *manual {
	m := &manual{t: t, binary: command(t), flags: map[string][]string{}}
	for _, c := range commandLine.FindAllStringSubmatch(m.help(), -1) {
		m.flags[c[1]] = nil
	}
	for name := range m.flags {
		for _, f := range flagName.FindAllStringSubmatch(m.help(name), -1) {
			m.flags[name] = append(m.flags[name], f[1], f[2])
		}
	}
	if len(m.flags) < 5 {
		t.Fatalf("backstop help lists %v", m.flags)
	}
	return m
}

func (m *manual) help(args ...string) string {
	out, err := exec.Command(m.binary, append([]string{"help"}, args...)...).Output()
	if err != nil {
		m.t.Fatal(err)
	}
	return string(out)
}

// wrong says what is wrong with arguments of backstop, "" = nothing.
func (m *manual) wrong(args []string) string {
	if len(args) == 0 {
		return ""
	}
	flags, ok := m.flags[args[0]]
	if !ok {
		return "there is no command " + args[0]
	}
	for _, a := range args[1:] {
		name, _, _ := strings.Cut(a, "=")
		if strings.HasPrefix(name, "-") && !slices.Contains(flags, name) {
			return args[0] + " has no flag " + name
		}
	}
	return ""
}

func TestCommandsExist(t *testing.T) {
	m := newManual(t)
	check := func(where string, line string) {
		list, err := words(strings.ReplaceAll(line, "…", "x"), environment)
		if err != nil {
			t.Errorf("%s: %s: %v", where, line, err)
			return
		}
		if why := wrongCommand(m, list); why != "" {
			t.Errorf("%s: %s: %s", where, line, why)
		}
	}
	each(t, "sh", func(_ *testing.T, b block) {
		for _, line := range joined(b.text) {
			check(b.page, line)
		}
	})
	inline := regexp.MustCompile("`((?:backstop|make|go run|go test|\\.ci/run) [^`]*)`")
	for _, p := range pages(t) {
		for _, match := range inline.FindAllStringSubmatch(p.text, -1) {
			check(p.path, match[1])
		}
	}
}

// wrongCommand looks a command line up.
func wrongCommand(m *manual, list []string) string {
	switch list[0] {
	case "export":
		return ""
	case "curl": // run by TestRequestsAreAnsweredAsShown
		return ""
	case "backstop":
		return m.wrong(list[1:])
	case "make":
		return wrongTarget(list[1])
	case ".ci/run":
		return wrongStep(list[1:])
	case "go":
		switch {
		case list[1] == "run" && list[2] == "./cmd/backstop":
			return m.wrong(list[3:])
		case list[1] == "test" && strings.HasPrefix(list[2], "./"):
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(list[2], "/..."))); err != nil {
				return err.Error()
			}
			return ""
		}
	}
	return "this test does not know the command"
}

func wrongTarget(name string) string {
	text, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		return err.Error()
	}
	if !regexp.MustCompile(`(?m)^` + name + `:`).Match(text) {
		return "the Makefile has no " + name
	}
	return ""
}

func wrongStep(names []string) string {
	text, err := os.ReadFile(filepath.Join(root, ".ci/run"))
	if err != nil {
		return err.Error()
	}
	for _, n := range names {
		if !strings.Contains(string(text), "step_"+n+"()") {
			return ".ci/run has no step " + n
		}
	}
	return ""
}

// What the status page calls missing is really missing: otherwise the page is
// out of date.
func TestCommandsThatAreCalledMissingAre(t *testing.T) {
	m := newManual(t)
	_, list, ok := strings.Cut(read(t, "docs/status.md").text, "the commands ")
	if !ok {
		return // nothing is missing any more
	}
	list, _, _ = strings.Cut(list, " do not exist")
	for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(list, -1) {
		if _, there := m.flags[name[1]]; there {
			t.Errorf("docs/status.md says that backstop %s does not exist", name[1])
		}
	}
}

func TestEveryCommandIsOnThePage(t *testing.T) {
	text := read(t, "docs/operations.md").text
	for name := range newManual(t).flags {
		if !strings.Contains(text, "`backstop "+name+"`") {
			t.Errorf("docs/operations.md does not list backstop %s", name)
		}
	}
}
