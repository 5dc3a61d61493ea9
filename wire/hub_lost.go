package wire

import "slices"

// Lost names what of an answer the hub has no words for, as the upstream calls
// it: a kind of part, such as "inlineData", or what stands beside the text, such
// as "annotations". Those who ask for it are told (x-backstop-dropped).
type Lost []string

// lostPrefix tells what an answer lost from what a call did.
const lostPrefix = "answer."

// Note adds a name. It may be what an upstream made up, so it is bounded.
func (l *Lost) Note(name string) {
	if name = lostPrefix + name; len(*l) < maxLosses && len(name) <= maxLostName && !slices.Contains(*l, name) {
		*l = append(*l, name)
	}
}

// maxLostName is the longest name that is told.
const maxLostName = 64

// Loser is a StreamWriter whose upstream may say what its caller's dialect has
// no words for.
type Loser interface {
	// Lost is all of that so far. The slice is not changed later on.
	Lost() Lost
}
