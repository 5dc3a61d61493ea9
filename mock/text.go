package mock

import (
	"strings"
	"unicode/utf8"
)

// vocabulary is what healthy answers are made of; its length is a power of two.
var vocabulary = [...]string{
	"amber", "anchor", "autumn", "basin", "beacon", "birch", "breeze", "bridge",
	"candle", "canyon", "cedar", "cloud", "copper", "coral", "cotton", "crystal",
	"delta", "ember", "falcon", "fern", "field", "flint", "forest", "garden",
	"glacier", "granite", "harbor", "hazel", "heron", "island", "ivory", "jasper",
	"juniper", "lantern", "lagoon", "laurel", "linen", "lumen", "maple", "marble",
	"meadow", "mirror", "moss", "nectar", "north", "oasis", "ocean", "olive",
	"orchard", "pebble", "pine", "prairie", "quartz", "raven", "reef", "river",
	"saffron", "slate", "spruce", "summit", "thistle", "tide", "timber", "willow",
}

// echoed is how many words of the prompt an answer repeats, so that a reader
// sees which question was answered.
const echoed = 6

// sentence makes the n pieces of an answer: a few words of the prompt, then
// words that follow from its hash.
func sentence(prompt string, h uint64, n int) []string {
	pieces := make([]string, 0, n)
	pieces = append(pieces, "On")
	for _, w := range firstWords(prompt, echoed) {
		pieces = append(pieces, " "+w)
	}
	pieces[len(pieces)-1] += ":"
	for len(pieces) < n {
		h = stir(h + 0x9e3779b97f4a7c15)
		pieces = append(pieces, " "+vocabulary[h%uint64(len(vocabulary))])
	}
	pieces = pieces[:n]
	pieces[n-1] += "."
	return pieces
}

// firstWords returns at most n words of s, each of at most 24 bytes, without
// looking at all of a long prompt.
func firstWords(s string, n int) []string {
	const look, longest = 256, 24
	words := strings.Fields(head(s, look))
	words = words[:min(n, len(words))]
	for i, w := range words {
		words[i] = head(strings.ToValidUTF8(w, "?"), longest)
	}
	return words
}

// head cuts s at a rune boundary at or before n bytes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.Clone(s[:n]) // the log would keep all of it
}

// split cuts a text into pieces of a token's size, at rune boundaries.
func split(text string) []string {
	const size = 6
	var pieces []string
	for text != "" {
		piece := head(text, size)
		if piece == "" {
			piece = text[:1] // not UTF-8: bytes will do
		}
		pieces, text = append(pieces, piece), text[len(piece):]
	}
	return pieces
}

// word picks a word by a number.
func word(h uint64) string { return vocabulary[stir(h)%uint64(len(vocabulary))] }
