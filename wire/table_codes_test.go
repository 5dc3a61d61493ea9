package wire

import (
	"slices"
	"testing"
)

func TestAVendorsCodesAreAllListedOnceUnderWhatTheyMean(t *testing.T) {
	for _, name := range Vendors() {
		v, _ := Profile(name)
		seen := 0
		for _, m := range v.Codes() {
			if !slices.IsSorted(m.Codes) {
				t.Errorf("%s: codes of %s are not sorted: %v", name, m.Outcome, m.Codes)
			}
			for _, code := range m.Codes {
				r := habits[name].codes[code]
				if want := verdicts[r].class.String() + "/" + string(verdicts[r].kind); want != m.Outcome {
					t.Errorf("%s: %s stands under %s, want %s", name, code, m.Outcome, want)
				}
				seen++
			}
		}
		if want := len(habits[name].codes); seen != want {
			t.Errorf("%s: %d codes listed, want %d", name, seen, want)
		}
	}
	v, _ := Profile("zhipu")
	if i := slices.IndexFunc(v.Codes(), func(m Meaning) bool { return m.Outcome == "limited/quota" }); i < 0 || !slices.Contains(v.Codes()[i].Codes, "1113") {
		t.Errorf("zhipu's 1113 is an empty account, listed: %v", v.Codes())
	}
}
