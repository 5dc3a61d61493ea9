package backstophttp

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

const (
	// maxOverlap is how far back the beginning of a continuation is looked
	// for in the caller's text, besides at its very beginning.
	maxOverlap = 4 << 10
	// sureOverlap is from how many bytes on equal text is no coincidence.
	sureOverlap = 8
	// wordOverlap is the same for text that begins with a word.
	wordOverlap = 3
)

// overlap is the joiner of a text that is meant to be the rest of the
// caller's. Models repeat the last words, or begin anew: the longest end of
// the caller's text that the rest begins with is cut off it.
type overlap struct {
	have  []byte // what the caller has
	text  []byte // the rest so far
	alive []int  // places in have from which everything equals text so far
	best  int    // longest overlap that is complete
}

func newOverlap(have []byte) *overlap {
	o := &overlap{have: have}
	if len(have) > maxOverlap {
		o.alive = append(o.alive, 0)
	}
	for i := max(0, len(have)-maxOverlap); i < len(have); i++ {
		if utf8.RuneStart(have[i]) {
			o.alive = append(o.alive, i)
		}
	}
	return o
}

func (o *overlap) next(piece []byte, last bool) ([]byte, seam) {
	was := len(o.text)
	o.text = append(o.text, piece...)
	still := o.alive[:0]
	for _, from := range o.alive {
		rest := o.have[from:]
		n := min(len(rest), len(o.text))
		switch {
		case was < n && !bytes.Equal(rest[was:n], o.text[was:n]):
		case n < len(rest):
			still = append(still, from)
		case o.sure(from):
			o.best = max(o.best, n)
		}
	}
	o.alive = still
	if !last && (len(o.text) == 0 || len(still) > 0) {
		return nil, held
	}
	return o.text[o.best:], reached
}

// sure tells an overlap from a coincidence.
func (o *overlap) sure(from int) bool {
	n := len(o.have) - from
	switch {
	case from == 0 || n >= sureOverlap:
		return true
	case n < wordOverlap:
		return false
	}
	before, _ := utf8.DecodeLastRune(o.have[:from])
	first, _ := utf8.DecodeRune(o.have[from:])
	return letter(first) && !letter(before) || unicode.IsSpace(first)
}

// letter reports whether a character is part of a word in a script that puts
// spaces between its words.
func letter(r rune) bool {
	const firstOfEast = 0x2E80
	return r < firstOfEast && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
