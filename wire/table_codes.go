package wire

import (
	"slices"
	"strings"
)

// Meaning is what some of a vendor's own error codes stand for.
type Meaning struct {
	Outcome string   // class and kind, e.g. "limited/quota"
	Codes   []string // sorted
}

// Codes returns what the vendor's own error codes mean where the code alone
// says it, sorted by outcome; nil for a vendor whose codes mean what they mean
// everywhere.
func (v *Vendor) Codes() []Meaning {
	var list []Meaning
	for code, r := range habits[v.Name].codes {
		outcome := verdicts[r].class.String() + "/" + string(verdicts[r].kind)
		i := slices.IndexFunc(list, func(m Meaning) bool { return m.Outcome == outcome })
		if i < 0 {
			i, list = len(list), append(list, Meaning{Outcome: outcome})
		}
		list[i].Codes = append(list[i].Codes, code)
	}
	for i := range list {
		slices.Sort(list[i].Codes)
	}
	slices.SortFunc(list, func(a, b Meaning) int { return strings.Compare(a.Outcome, b.Outcome) })
	return list
}
