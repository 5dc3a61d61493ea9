package backstophttp

import (
	"bytes"
	"unicode/utf8"
)

// maxHeldBack bounds the text that a rescuer has to reproduce. A caller who has
// more of it keeps its stream only as long as the upstream does.
const maxHeldBack = 1 << 20

// seam says how far a rescuer is.
type seam uint8

const (
	held    seam = iota // nothing goes out yet
	reached             // the caller's text goes on with this piece
	apart               // it is another text
)

// joiner finds the place where a rescuer's text goes on from the caller's.
type joiner interface {
	// next takes a piece of the rescuer's text. Once the seam is reached it
	// returns what of the text so far is new to the caller. The last piece
	// decides in any case.
	next(piece []byte, last bool) ([]byte, seam)
}

// splice is the joiner of a text that must begin with all that the caller has.
// It keeps nothing of it: what equals the caller's text need not be kept, and
// anything else is the end.
type splice struct {
	have []byte // what the caller has
	at   int    // of it said again
}

func (s *splice) next(piece []byte, last bool) ([]byte, seam) {
	left := s.have[s.at:]
	n := min(len(left), len(piece))
	if !bytes.Equal(left[:n], piece[:n]) {
		return nil, apart
	}
	s.at += n
	switch {
	case s.at == len(s.have):
		return piece[n:], reached
	case last:
		return nil, apart
	}
	return nil, held
}

// whole reports whether a text ends with a whole character. One that does not
// cannot be gone on from: the caller's reader has made something else of it.
func whole(text []byte) bool {
	r, n := utf8.DecodeLastRune(text)
	return r != utf8.RuneError || n != 1
}

// halfAtEnd is the size of what a piece of text ends with and a later piece
// may change: half of a surrogate pair (see wire.TextReader).
func halfAtEnd(piece []byte) int {
	if n := len(piece) - 3; n >= 0 && piece[n] == 0xED && piece[n+1] >= 0xA0 && piece[n+1] < 0xB0 {
		return 3
	}
	return 0
}
