package docs_test

import (
	"strings"
	"testing"
)

// outcomes are the words of the made cells of docs/faults.md.
var outcomes = strings.NewReplacer(
	"primary, taken over by backup", "主模型，由备用模型接管", "primary", "主模型", "backup", "备用", ": ", "：", ", ", "，", " attempts", " 次请求",
	"repaired", "修复", "dropped", "去掉", "marked as truncated", "标为截断", "then nothing", "然后什么都没有", "then", "然后",
)

// What comes of a fault is made by running it, on the English page; the Chinese
// page says the same.
func TestTheChineseFaultTableSaysWhatComesOfEachFault(t *testing.T) {
	english, chinese := faultRow.FindAllStringSubmatch(read(t, "docs/faults.md").text, -1), faultRow.FindAllStringSubmatch(read(t, "docs/zh/faults.md").text, -1)
	if len(english) < 40 || len(english) != len(chinese) {
		t.Fatalf("%d faults in English and %d in Chinese", len(english), len(chinese))
	}
	for i, e := range english {
		for cell := 2; cell <= 3; cell++ {
			if want, got := outcomes.Replace(e[cell]), chinese[i][cell]; want != got {
				t.Errorf("docs/zh/faults.md: %s: %q, want %q", e[1], got, want)
			}
		}
	}
}
