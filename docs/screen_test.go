package docs_test

import (
	"regexp"
	"strings"
	"testing"
)

// What the dashboard's page quotes from the screen stands there, in either
// language: the sentences of its table and the names of the five screens.
func TestTheDashboardSaysWhatItsPageQuotes(t *testing.T) {
	for file, words := range map[string]string{"docs/dashboard.md": "english.js", "docs/zh/dashboard.md": "chinese.js"} {
		page, screen := read(t, file), read(t, "internal/admin/web/"+words).text
		for _, row := range rows(page)[2:] {
			quoted, _, _ := strings.Cut(strings.Trim(row, "| "), " | ")
			said := strings.ReplaceAll(regexp.QuoteMeta(strings.ReplaceAll(quoted, "……", "…")), "…", `\{[a-z]+\}`)
			if !regexp.MustCompile(`: "[^"]*` + said).MatchString(screen) {
				t.Errorf("%s: the screen does not say %q", file, quoted)
			}
		}
		titles := sections(page)[2:7]
		for i, key := range []string{"now", "upstreams", "calls", "config", "drill"} {
			if name := strings.TrimPrefix(titles[i].title, "## "); !strings.Contains(screen, `"nav.`+key+`": "`+name+`"`) {
				t.Errorf("%s: no screen is called %s", file, name)
			}
		}
	}
}
