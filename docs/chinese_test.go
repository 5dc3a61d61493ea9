package docs_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// translated gives the Chinese pages, each with its English one.
func translated(t *testing.T) (pairs [][2]page) {
	t.Helper()
	for _, p := range pages(t) {
		if path.Dir(p.path) == "docs/zh" {
			pairs = append(pairs, [2]page{read(t, "docs/"+path.Base(p.path)), p})
		}
	}
	if len(pairs) < 10 {
		t.Errorf("only %d Chinese pages were found", len(pairs))
	}
	return pairs
}

// A Chinese page is built like its English one, so that a change of one that
// the other does not follow is seen.
func TestChinesePagesAreBuiltLikeTheEnglishOnes(t *testing.T) {
	for _, pair := range translated(t) {
		english, chinese := sections(pair[0]), sections(pair[1])
		sameBlocks(t, pair[0], pair[1])
		sameTables(t, pair[0], pair[1])
		if len(english) != len(chinese) {
			t.Errorf("%s has %d headings and %s %d", pair[0].path, len(english)-1, pair[1].path, len(chinese)-1)
			continue
		}
		for i := range english {
			sameSection(t, pair[1].path, english[i], chinese[i])
		}
	}
}

// section is a heading and what follows up to the next one.
type section struct {
	depth       int
	title, text string
}

// sections splits a page; what stands above its first heading is one as well.
func sections(p page) []section {
	list := []section{{}}
	for line := range strings.Lines(prose(p)) {
		if hashes := len(line) - len(strings.TrimLeft(line, "#")); hashes > 0 && strings.HasPrefix(line[hashes:], " ") {
			list = append(list, section{depth: hashes, title: strings.TrimSpace(line)})
			continue
		}
		list[len(list)-1].text += line
	}
	return list
}

// sameSection compares what two languages have in common: the depth of the
// heading, the number of points, and the names and numbers that the text has.
func sameSection(t *testing.T, file string, english, chinese section) {
	t.Helper()
	where := file + ", " + chinese.title + " (" + english.title + ")"
	if english.depth != chinese.depth {
		t.Errorf("%s: the headings have not one depth", where)
	}
	if english.title == "### Node" || english.title == "### Go" {
		return // what the suites tried, see below
	}
	if a, b := len(point.FindAllString(english.text, -1)), len(point.FindAllString(chinese.text, -1)); a != b {
		t.Errorf("%s: %d points in English and %d in Chinese", where, a, b)
	}
	if a, b := slices.Compact(code(english.text)), slices.Compact(code(chinese.text)); !slices.Equal(a, b) {
		t.Errorf("%s: the code in the text differs (-English +Chinese):\n%s", where, cmp.Diff(a, b))
	}
	if a, b := numbers(english.text), numbers(chinese.text); !slices.Equal(a, b) {
		t.Errorf("%s: the numbers in the text differ (-English +Chinese):\n%s", where, cmp.Diff(a, b))
	}
}

var (
	point  = regexp.MustCompile(`(?m)^(?:- |[0-9]+\. )`)
	apart  = regexp.MustCompile("`[^`\n]+`|\\]\\([^)]*\\)")
	number = regexp.MustCompile(`[0-9](?:[0-9.,]*[0-9])?`)
)

// numbers are those of a text that stand neither in code nor in a link: times,
// sizes, counts.
func numbers(text string) []string {
	list := number.FindAllString(apart.ReplaceAllString(text, ""), -1)
	slices.Sort(list)
	return slices.Compact(list)
}

// tried are the tables of docs/sdks.md that the suites with real SDKs write; a
// Chinese reader is sent there.
var tried = regexp.MustCompile(`(?s)<!-- (?:callers|scenarios|grid|go):begin -->.*?:end -->`)

// prose is a page without its blocks and without what suites write.
func prose(p page) string {
	text := tried.ReplaceAllString(p.text, "")
	for _, b := range p.blocks {
		text = strings.Replace(text, "```"+b.lang+"\n"+b.text, "", 1)
	}
	return text
}

// sameBlocks compares what can be run. A drawing is text and may be translated.
func sameBlocks(t *testing.T, english, chinese page) {
	t.Helper()
	if len(english.blocks) != len(chinese.blocks) {
		t.Errorf("%s has %d blocks and %s %d", english.path, len(english.blocks), chinese.path, len(chinese.blocks))
		return
	}
	for i, e := range english.blocks {
		c := chinese.blocks[i]
		same := e.text == c.text
		if e.lang == "" {
			same = strings.Count(e.text, "\n") == strings.Count(c.text, "\n")
		}
		if e.lang != c.lang || !same {
			t.Errorf("%s:%d and %s:%d differ", english.path, e.line, chinese.path, c.line)
		}
	}
}

// sameTables compares the code in each row: names, values, defaults.
func sameTables(t *testing.T, english, chinese page) {
	t.Helper()
	a, b := rows(english), rows(chinese)
	if len(a) != len(b) {
		t.Errorf("%s has %d rows in its tables and %s %d", english.path, len(a), chinese.path, len(b))
	}
	for i := range min(len(a), len(b)) {
		if x, y := code(a[i]), code(b[i]); !slices.Equal(x, y) {
			t.Errorf("%s and %s: the rows %d differ in their code: %v and %v\n%s\n%s", english.path, chinese.path, i+1, x, y, a[i], b[i])
		}
	}
}

// rows are the rows of a page's tables, heads included.
func rows(p page) (list []string) {
	for line := range strings.Lines(prose(p)) {
		if strings.HasPrefix(line, "|") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// code are the pieces of code in a line, sorted: two languages have their own
// order.
func code(line string) (list []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
		list = append(list, m[1])
	}
	slices.Sort(list)
	return list
}

// One word a thing, as in the glossary: a reader looks for another thing behind
// another word.
func TestChinesePagesHaveOneWordAThing(t *testing.T) {
	for _, pair := range append(translated(t), [2]page{read(t, "README.md"), read(t, "README.zh-CN.md")}) {
		for other, usual := range map[string]string{"备份": "备用", "停用": "搁置", "冷却": "搁置", "供应商": "厂商", "降级": "去下一层"} {
			if strings.Contains(pair[1].text, other) {
				t.Errorf("%s: %s is called %s elsewhere", pair[1].path, other, usual)
			}
		}
	}
}
