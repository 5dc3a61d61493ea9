package wire

import "slices"

// ResultsFirst are turns with the results of tools right behind the calls that
// they answer. Some dialects let their asker speak before the last of them, or
// between two; others refuse a talk in that order. The given list stays as it
// is.
func ResultsFirst(turns []Turn) []Turn {
	late := func(i int) bool {
		return i > 0 && turns[i].Role == ByTool && turns[i-1].Role != ByTool && turns[i-1].Role != ByModel
	}
	for i := range turns {
		if late(i) {
			return sorted(slices.Clone(turns))
		}
	}
	return turns
}

// sorted sorts what was said between two turns of the model.
func sorted(turns []Turn) []Turn {
	rank := func(t Turn) int {
		if t.Role == ByTool {
			return 0
		}
		return 1
	}
	for rest := turns; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(t Turn) bool { return t.Role == ByModel })
		if n < 0 {
			n = len(rest)
		}
		slices.SortStableFunc(rest[:n], func(a, b Turn) int { return rank(a) - rank(b) })
		rest = rest[min(n+1, len(rest)):]
	}
	return turns
}
