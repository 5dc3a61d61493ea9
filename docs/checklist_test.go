package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	checklistRow = regexp.MustCompile(`(?m)^\| ([RAESL]\d+) \| .+ \| (.+) \|$`)
	quotedWords  = regexp.MustCompile(`“([^”]+)”`)
)

// Every line of the checklist has its row and every row a test; that the tests
// exist is checked for all pages, that scenarios exist is checked here.
func TestTheChecklistIsWhole(t *testing.T) {
	text := read(t, "docs/checklist.md").text
	tests := map[string]string{}
	for _, m := range checklistRow.FindAllStringSubmatch(text, -1) {
		tests[m[1]] += m[2]
	}
	for kind, n := range map[string]int{"R": 6, "A": 8, "E": 4, "S": 10, "L": 5} {
		for i := 1; i <= n; i++ {
			line := fmt.Sprint(kind, i)
			if named := tests[line]; !testName.MatchString(named) && !quotedWords.MatchString(named) && line != "L5" {
				t.Errorf("no test is named for %s: %q", line, named)
			}
		}
	}
	scenarios, err := os.ReadFile(filepath.Join(root, "test/sdk/node/matrix/scenarios.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range tests {
		for _, m := range quotedWords.FindAllStringSubmatch(named, -1) {
			if !strings.Contains(string(scenarios), `name: "`+m[1]+`",`) {
				t.Errorf("no SDK goes through a scenario “%s”", m[1])
			}
		}
	}
	for path, code := range sources(t, true) {
		for _, m := range regexp.MustCompile(`func (TestChecklist([RAESL]\d+)[A-Z]\w*)\(`).FindAllStringSubmatch(code, -1) {
			if !strings.Contains(tests[m[2]], "`"+m[1]+"`") {
				t.Errorf("%s: %s is not named in its line", path, m[1])
			}
		}
	}
}
