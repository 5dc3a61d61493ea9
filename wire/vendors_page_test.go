package wire

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"backstop"
	"backstop/internal/testkit"
)

// vendorsPages are the page in its languages, with the words for those that the
// table is written in.
var vendorsPages = map[string]*strings.Replacer{
	"../docs/upstreams.md": strings.NewReplacer(),
	"../docs/zh/upstreams.md": strings.NewReplacer(
		"| vendor | address | dialect | key goes as | `/responses` | model names of its own |", "| 厂商 | 地址 | 协议 | 密钥放在 | `/responses` | 自家的模型名 |",
		"| translated |", "| 翻译 |", "| native |", "| 原生 |",
		"| vendor | models | what is done |", "| 厂商 | 模型 | 怎么改 |", "| all |", "| 全部 |", ", not `", "，除了 `",
		"left out: `", "去掉 `", "` is sent as `", "` 改名为 `", "tool-call ids are at most 40 long", "工具调用 id 最长 40",
		"reasoning of earlier turns is sent back", "之前各轮的推理要送回", " are taken for faults of what is behind it: no key of ours is parked", " 算它背后的问题：不搁置我们的密钥", "; ", "；",
		"| names that begin with | but not |", "| 以此开头的名字 | 除了 |", "Not at the vendors that stream all reasoning: ", "推理过程全都输出的厂商不算：", "`.\n", "`。\n",
		"| vendor | outcome | codes |", "| 厂商 | 结果 | 代码 |"),
}

// TestThePageOfUpstreamsIsMadeFromTheTable keeps docs/upstreams.md true: what
// stands between its marks is made here, with -update.
func TestThePageOfUpstreamsIsMadeFromTheTable(t *testing.T) {
	for path, words := range vendorsPages {
		t.Run(path, func(t *testing.T) { pageIsMade(t, path, words) })
	}
}

func pageIsMade(t *testing.T, path string, words *strings.Replacer) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for mark, made := range map[string]string{"profiles": profileRows(), "habits": habitRows(), "silent": silentRows(), "codes": codeRows()} {
		begin, end := "<!-- "+mark+":begin -->\n", "<!-- "+mark+":end -->"
		head, rest, ok := strings.Cut(page, begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no marks for %s", path, mark)
		}
		made = words.Replace(made)
		if rest := untranslated(made); path != "../docs/upstreams.md" && rest != "" {
			t.Errorf("%s: no words for %q", path, rest)
		}
		page = head + begin + made + end + tail
	}
	testkit.Golden(t, "../"+path, []byte(page))
}

var (
	inCode  = regexp.MustCompile("`[^`]*`")
	english = regexp.MustCompile(`[A-Za-z]{3,}`)
)

// untranslated is what a table says in English words that are no names.
func untranslated(made string) string {
	var rest []string
	for _, word := range english.FindAllString(inCode.ReplaceAllString(made, ""), -1) {
		if !slices.Contains([]string{"openai", "anthropic", "gemini", "bearer", "api", "key", "goog"}, word) {
			rest = append(rest, word)
		}
	}
	return strings.Join(rest, " ")
}

// spans writes words as code, one behind the other.
func spans(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "` `") + "`"
}

func profileRows() string {
	var b strings.Builder
	b.WriteString("| vendor | address | dialect | key goes as | `/responses` | model names of its own |\n| --- | --- | --- | --- | --- | --- |\n")
	for i := range vendors {
		v := &vendors[i]
		address := spans(v.Hosts)
		if v.BaseURL != "" {
			address = "`" + v.BaseURL + "`"
		}
		responses := "translated"
		if v.Responses {
			responses = "native"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", v.Name, address, v.Dialect, v.Auth, responses, spans(v.Owns))
	}
	return b.String()
}

func habitRows() string {
	var b strings.Builder
	b.WriteString("| vendor | models | what is done |\n| --- | --- | --- |\n")
	for i := range vendors {
		v := &vendors[i]
		if words := bent(&v.Quirks); words != "" {
			fmt.Fprintf(&b, "| `%s` | all | %s |\n", v.Name, words)
		}
		for _, m := range v.ByModel {
			models := spans(m.Prefixes)
			if len(m.Except) > 0 {
				models += ", not " + spans(m.Except)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name, models, bent(&m.Quirks))
		}
		if h, ok := habits[v.Name]; ok && h.relayed != nil {
			statuses := make([]string, 0, len(h.relayed))
			for _, status := range slices.Sorted(maps.Keys(h.relayed)) {
				statuses = append(statuses, fmt.Sprint(status))
			}
			fmt.Fprintf(&b, "| `%s` | all | %s are taken for faults of what is behind it: no key of ours is parked |\n", v.Name, spans(statuses))
		}
	}
	return b.String()
}

// bent says in words what quirks do to a request; a tool id of 64 characters
// is what everybody takes.
func bent(q *backstop.Quirks) string {
	var words []string
	say := func(form string, args ...any) { words = append(words, fmt.Sprintf(form, args...)) }
	if len(q.DropParams) > 0 {
		say("left out: %s", spans(q.DropParams))
	}
	for _, from := range slices.Sorted(maps.Keys(q.RenameParams)) {
		say("`%s` is sent as `%s`", from, q.RenameParams[from])
	}
	if q.ToolIDMax != 0 && q.ToolIDMax != plainQuirks.ToolIDMax {
		say("tool-call ids are at most %d long", q.ToolIDMax)
	}
	if q.ReasoningContent == "required" {
		say("reasoning of earlier turns is sent back")
	}
	return strings.Join(words, "; ")
}

func silentRows() string {
	var b strings.Builder
	b.WriteString("| names that begin with | but not |\n| --- | --- |\n")
	for _, s := range silentModels {
		fmt.Fprintf(&b, "| %s | %s |\n", spans(s.prefixes), spans(s.except))
	}
	fmt.Fprintf(&b, "\nNot at the vendors that stream all reasoning: %s.\n", spans(streamers))
	return b.String()
}

func codeRows() string {
	var b strings.Builder
	b.WriteString("| vendor | outcome | codes |\n| --- | --- | --- |\n")
	for i := range vendors {
		for _, m := range vendors[i].Codes() {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", vendors[i].Name, m.Outcome, spans(m.Codes))
		}
	}
	return b.String()
}
