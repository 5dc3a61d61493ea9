package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// The patterns are put together from halves, for this file is searched too.
var unfinished = regexp.MustCompile(`\b(` + "TO" + `DO|` + "FIX" + `ME)\b`)

var machinePath = regexp.MustCompile(`(^|[^\w.~$}/-])/(` + "wo" + `rk|` + "tm" + `p)/`)

var registries = []*regexp.Regexp{
	regexp.MustCompile(`(proxy|sum)\.golang` + `\.org|goproxy` + `\.(cn|io)`),
	regexp.MustCompile(`registry\.(npmjs|npmmirror|yarnpkg)` + `\.`),
	regexp.MustCompile(`(^|[^\w])pypi\.org|files\.pythonhosted` + `\.`),
	regexp.MustCompile(`(deb|security|archive)\.(debian|ubuntu)` + `\.|deb ` + `https?:`),
	regexp.MustCompile(`GOPROXY=` + `h|registry *= *"?` + `h|"resolved": *"` + `h`),
}

// code are the files whose unfinished words count; prose may speak of them.
var code = []string{".go", ".sh", ".js", ".mjs", ".ts", ".css", ".html", ".yaml", ".yml", ".json"}

// Clean: nothing unfinished, and nothing that is true on one machine only.
func Clean(t Text) (problems []Problem) {
	if strings.Contains(t.Body, "\x00") {
		return nil
	}
	isCode := slices.Contains(code, path.Ext(t.Path)) || path.Base(t.Path) == "Makefile" || strings.HasPrefix(t.Path, ".ci/")
	sums := path.Base(t.Path) == "go.sum"
	n := 0
	for line := range strings.Lines(t.Body) {
		n++
		if isCode && unfinished.MatchString(line) {
			problems = append(problems, Problem{t.Path, n, "an unfinished word: finish it, or write down what is not there in the docs"})
		}
		if machinePath.MatchString(line) {
			problems = append(problems, Problem{t.Path, n, "an absolute path of one machine: make a temporary folder, or take the path as an argument"})
		}
		if !sums && slices.ContainsFunc(registries, func(r *regexp.Regexp) bool { return r.MatchString(line) }) {
			problems = append(problems, Problem{t.Path, n, "the address of a package registry: leave it to the tool's own configuration"})
		}
	}
	return problems
}
