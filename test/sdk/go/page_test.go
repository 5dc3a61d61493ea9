package sdk

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePageListsTheseScenarios compares the table of docs/sdks.md;
// BACKSTOP_SDK_UPDATE=1 writes it.
func TestThePageListsTheseScenarios(t *testing.T) {
	const begin, end = "<!-- go:begin -->\n", "<!-- go:end -->"
	name := filepath.Join("..", "..", "..", "docs", "sdks.md")
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	there, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("docs/sdks.md has no place for the table: %q and %q", begin, end)
	}
	want := table(t)
	if there == want {
		return
	}
	if os.Getenv("BACKSTOP_SDK_UPDATE") == "" {
		t.Fatalf("the table of docs/sdks.md is not that of the suite; BACKSTOP_SDK_UPDATE=1 writes it:\n%s", want)
	}
	if err := os.WriteFile(name, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table has a row for each scenario, a column for each SDK, and in it the
// upstreams that they were run with.
func table(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| scenario | what it shows |")
	for i := range sdks {
		fmt.Fprintf(&b, " %s %s |", sdks[i].name, version(t, sdks[i].module))
	}
	b.WriteString("\n| --- | --- |" + strings.Repeat(" --- |", len(sdks)) + "\n")
	for _, sc := range scenarios {
		fmt.Fprintf(&b, "| %s | %s |", sc.name, sc.shows)
		for i := range sdks {
			fmt.Fprintf(&b, " %s |", letters(sc.with.kinds(&sdks[i])))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func letters(kinds []kind) string {
	var b strings.Builder
	for _, of := range []struct {
		kind   kind
		letter string
	}{{aChat, "C"}, {aResponse, "R"}, {aMessage, "A"}, {aGemini, "G"}} {
		for _, k := range kinds {
			if k == of.kind {
				b.WriteString(of.letter)
			}
		}
	}
	return b.String()
}

// version is the one that go.mod pins.
func version(t *testing.T, module string) string {
	t.Helper()
	file, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(module) + ` v(\S+)`).FindSubmatch(file)
	if found == nil {
		t.Fatalf("go.mod does not require %s", module)
	}
	return string(found[1])
}
