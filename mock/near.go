package mock

import "strconv"

// didYouMean names the known word that is nearest to a wrong one.
func didYouMean(wrong string) string {
	best, word := 3, ""
	for i := range table {
		w := table[i].Word.Word
		if d := distance(wrong, w); d < best && d < len(w) {
			best, word = d, w
		}
	}
	if word == "" {
		return ": docs/faults.md lists the words, and so does GET /mock/faults of a mock"
	}
	return ": did you mean " + strconv.Quote(word) + "?"
}

// distance counts the edits between two words: insert, delete, exchange, and
// swap of neighbours (optimal string alignment). Long words are far from all.
func distance(a, b string) int {
	if len(a) > 32 || len(b) > 32 {
		return 99
	}
	var rows [3][33]int
	for j := range len(b) + 1 {
		rows[1][j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, prev, row := &rows[(i+2)%3], &rows[i%3], &rows[(i+1)%3]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return rows[(len(a)+1)%3][len(b)]
}
