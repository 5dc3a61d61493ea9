package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

func TestLinksLeadSomewhere(t *testing.T) {
	for _, p := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(p.text, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") {
				t.Errorf("%s: a link out of the repository cannot be checked: %s", p.path, to)
				continue
			}
			file := p.path
			if to != "" {
				file = filepath.ToSlash(filepath.Join(filepath.Dir(p.path), to))
				if _, err := os.Stat(filepath.Join(root, file)); err != nil {
					t.Errorf("%s: %s: %v", p.path, m[1], err)
					continue
				}
			}
			if anchor != "" && !anchors(t, file)[anchor] {
				t.Errorf("%s: %s has no heading #%s", p.path, file, anchor)
			}
		}
	}
}

// anchors are the headings of a page as links write them.
func anchors(t *testing.T, file string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(read(t, file).text) {
		if words, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && strings.HasPrefix(line, "#") {
			words = strings.ToLower(strings.TrimSpace(words))
			words = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(words, "")
			out[strings.ReplaceAll(words, " ", "-")] = true
		}
	}
	return out
}

// Both first pages are the same in what can be run.
func TestTheFirstPagesHaveTheSameSnippets(t *testing.T) {
	english, chinese := read(t, "README.md"), read(t, "README.zh-CN.md")
	if len(english.blocks) != len(chinese.blocks) {
		t.Fatalf("%d blocks and %d", len(english.blocks), len(chinese.blocks))
	}
	for i, b := range english.blocks {
		c := chinese.blocks[i]
		if b.lang != c.lang || b.lang != "yaml" && b.text != c.text {
			t.Errorf("README.md:%d and README.zh-CN.md:%d differ", b.line, c.line)
		}
	}
	if n := strings.Count(english.blocks[2].text, "\n"); english.blocks[2].lang != "yaml" || n != 6 {
		t.Errorf("the configuration of the first screen has %d lines", n)
	}
}
