package wire

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"backstop"
	"backstop/internal/testkit"
)

const vendorsPage = "../docs/upstreams.md"

// TestThePageOfUpstreamsIsMadeFromTheTable keeps docs/upstreams.md true: what
// stands between its marks is made here, with -update.
func TestThePageOfUpstreamsIsMadeFromTheTable(t *testing.T) {
	data, err := os.ReadFile(vendorsPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for mark, made := range map[string]string{"profiles": profileRows(), "habits": habitRows(), "silent": silentRows(), "codes": codeRows()} {
		begin, end := "<!-- "+mark+":begin -->\n", "<!-- "+mark+":end -->"
		head, rest, ok := strings.Cut(page, begin)
		_, tail, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf("%s has no marks for %s", vendorsPage, mark)
		}
		page = head + begin + made + end + tail
	}
	testkit.Golden(t, "../"+vendorsPage, []byte(page))
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
