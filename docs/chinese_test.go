package docs_test

import (
	"fmt"
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
// the other does not follow is seen. The first pages may say more to a reader
// in one country than in another.
func TestChinesePagesAreBuiltLikeTheEnglishOnes(t *testing.T) {
	for _, pair := range translated(t) {
		sameBlocks(t, pair[0], pair[1])
		sameSections(t, pair, false)
	}
	sameSections(t, firstPages(t), true)
}

func firstPages(t *testing.T) [2]page {
	t.Helper()
	return [2]page{read(t, "README.md"), read(t, "README.zh-CN.md")}
}

func sameSections(t *testing.T, pair [2]page, more bool) {
	t.Helper()
	english, chinese := sections(pair[0]), sections(pair[1])
	if len(english) != len(chinese) {
		t.Errorf("%s has %d headings and %s %d", pair[0].path, len(english)-1, pair[1].path, len(chinese)-1)
		return
	}
	for i, e := range english {
		c := chinese[i]
		where := pair[1].path + ", " + c.title + " (" + e.title + ")"
		if e.depth != c.depth {
			t.Errorf("%s: the headings have not one depth", where)
		}
		if e.title == "### Node" || e.title == "### Go" {
			continue // what the suites tried, see below
		}
		if more {
			samePiece(t, where, piece{pair[0], e.text}, piece{pair[1], c.text}, more)
			continue
		}
		a, b := pieces(pair[0], e), pieces(pair[1], c)
		if len(a) != len(b) {
			t.Errorf("%s: %d paragraphs, points and rows in English and %d in Chinese", where, len(a), len(b))
			continue
		}
		for j := range a {
			samePiece(t, where, a[j], b[j], more)
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

// piece is a paragraph, a point of a list or a row of a table.
type piece struct {
	of   page
	text string
}

func pieces(p page, s section) (list []piece) {
	apart := true
	for line := range strings.Lines(s.text) {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "<!--"):
			apart = true
		case apart || strings.HasPrefix(line, "|") || point.MatchString(line):
			list = append(list, piece{p, line})
			apart = false
		default:
			list[len(list)-1].text += line
		}
	}
	return list
}

// samePiece compares what two languages have in common: points and cells, the
// names and numbers that the text has, and where its links lead.
func samePiece(t *testing.T, where string, english, chinese piece, more bool) {
	t.Helper()
	if e, c := cell.FindAllString(english.text, -1), cell.FindAllString(chinese.text, -1); len(e) != len(c) {
		t.Errorf("%s: not as many points or cells:\n%s\n%s", where, english.text, chinese.text)
	}
	for what, of := range map[string]func(piece) []string{
		"code":              func(p piece) []string { return code(p.text) },
		"numbers and names": func(p piece) []string { return untranslated(p.text) },
		"links":             links,
	} {
		a, b := of(english), of(chinese)
		if more {
			b = slices.DeleteFunc(b, func(one string) bool { return !slices.Contains(a, one) })
			a, b = slices.Compact(a), slices.Compact(b)
		}
		if !slices.Equal(a, b) {
			t.Errorf("%s: the %s differ (-English +Chinese):\n%s\n%s\n%s", where, what, cmp.Diff(a, b), english.text, chinese.text)
		}
	}
}

// links are the pages that a text leads to, as a Chinese reader wants them: the
// Chinese one where there is one.
func links(p piece) (list []string) {
	for _, m := range labelled.FindAllStringSubmatch(p.text, -1) {
		to, _, _ := strings.Cut(m[2], "#")
		if to == "" || m[1] == "English" || m[1] == "简体中文" {
			continue
		}
		to = path.Join(path.Dir(p.of.path), to)
		chinese := path.Dir(p.of.path) == "docs/zh" || p.of.path == "README.zh-CN.md"
		if path.Dir(to) == "docs" && path.Ext(to) == ".md" && !chinese && !slices.Contains(onlyEnglish, path.Base(to)) {
			to = "docs/zh/" + path.Base(to)
		}
		list = append(list, to)
	}
	slices.Sort(list)
	return list
}

// onlyEnglish are the pages of docs/ that have no Chinese one.
var onlyEnglish = []string{"checklist.md", "glossary.md", "proof.md", "tour.md"}

// A new page has a Chinese one, or is named above; links to it say which.
func TestChineseReadersAreToldWhichPagesAreEnglish(t *testing.T) {
	there := map[string]bool{}
	chinese := []page{firstPages(t)[1]}
	for _, pair := range translated(t) {
		there[path.Base(pair[1].path)] = true
		chinese = append(chinese, pair[1])
	}
	for _, p := range pages(t) {
		if name := path.Base(p.path); path.Dir(p.path) == "docs" && there[name] == slices.Contains(onlyEnglish, name) {
			t.Errorf("%s: a Chinese page, or a name in the list of this test: one of them", p.path)
		}
	}
	for _, p := range chinese {
		for _, m := range labelled.FindAllStringSubmatch(p.text, -1) {
			to, _, _ := strings.Cut(path.Join(path.Dir(p.path), m[2]), "#")
			says := strings.Contains(m[1], "英文") || m[1] == "English"
			if path.Ext(to) == ".md" && says != (path.Dir(to) == "docs" || to == "README.md") && path.Dir(to) != "docs/adr" {
				t.Errorf("%s: [%s] leads to %s", p.path, m[1], to)
			}
		}
	}
}

var (
	point    = regexp.MustCompile(`(?m)^(?:- |[0-9]+\. )`)
	cell     = regexp.MustCompile(`(?m)^(?:- |[0-9]+\. )|\|`)
	labelled = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	apart    = regexp.MustCompile("`[^`\n]+`|\\]\\([^)]*\\)")
	plain    = regexp.MustCompile(`[0-9](?:[0-9.,]*[0-9])?|\b[A-Z][a-z]+[A-Z][A-Za-z]*`)
)

// untranslated is what a text has outside of code and links that is the same in
// every language: times, sizes, counts, and names such as BackstopDown.
func untranslated(text string) []string {
	list := plain.FindAllString(apart.ReplaceAllString(text, ""), -1)
	slices.Sort(list)
	return slices.Compact(list)
}

// tried are the tables of docs/sdks.md that the suites with real SDKs write; a
// Chinese reader is sent there.
var tried = regexp.MustCompile(`(?s)<!-- (?:callers|scenarios|grid|go):begin -->.*?:end -->`)

// The Chinese page says how much was tried, and as much as the tables hold.
func TestTheChinesePageCountsWhatWasTried(t *testing.T) {
	english, chinese := read(t, "docs/sdks.md").text, read(t, "docs/zh/sdks.md").text
	for mark, counted := range map[string]string{"callers": "%d 种用法：", "scenarios": "%d 个场景：聊天", "go": "跑 %d 个场景"} {
		_, table, _ := strings.Cut(english, "<!-- "+mark+":begin -->")
		table, _, _ = strings.Cut(table, "<!-- "+mark+":end -->")
		if says := fmt.Sprintf(counted, strings.Count(table, "\n|")-2); !strings.Contains(chinese, says) {
			t.Errorf("docs/zh/sdks.md does not say %s", says)
		}
	}
}

// prose is a page without its blocks and without what suites write.
func prose(p page) string {
	text := tried.ReplaceAllString(p.text, "")
	for _, b := range p.blocks {
		text = strings.Replace(text, "```"+b.lang+"\n"+b.text, "", 1)
	}
	return text
}

// drawn is what a line of a drawing has in every language: the names at its
// beginning.
var drawn = regexp.MustCompile(`(?m)^ *(?:[0-9]+|side|旁)? *([a-z/]*(?: [a-z/]+)*).*$`)

func drawing(text string) (names []string) {
	for _, m := range drawn.FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	return names
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
			same = slices.Equal(drawing(e.text), drawing(c.text))
		}
		if e.lang != c.lang || !same {
			t.Errorf("%s:%d and %s:%d differ", english.path, e.line, chinese.path, c.line)
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
	texts := []page{firstPages(t)[1], read(t, "internal/admin/web/chinese.js"), read(t, "internal/admin/web/chinese_faults.js")}
	for _, pair := range translated(t) {
		texts = append(texts, pair[1])
	}
	for _, p := range texts {
		for other, usual := range map[string]string{
			"备份": "备用", "停用": "搁置", "冷却": "搁置", "供应商": "厂商", "降级": "去下一层", "下一级": "下一层", "每一级": "每一层", "各级": "各层", "方言": "协议", "账号": "账户",
		} {
			if strings.Contains(p.text, other) {
				t.Errorf("%s: %s is called %s elsewhere", p.path, other, usual)
			}
		}
	}
}
