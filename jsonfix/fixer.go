package jsonfix

import (
	"bytes"
	"errors"
	"math"
)

// errTooLarge ends a stream that is longer than Options.MaxBytes.
var errTooLarge = errors.New("the stream is longer than allowed; close it or raise MaxBytes")

// Fixer repairs a document that comes in pieces and shows what is there so
// far. Whatever the pieces, [Fixer.Close] gives what [Repair] gives for the
// whole. It holds the whole input; Write takes time in proportion to its
// piece, and so do Write and Snapshot together. A Fixer is for one goroutine.
type Fixer struct {
	options Options
	buf     []byte
	m       machine
	stage   stage
	at      int // offset up to which the root was looked for
	look    int // offset from which the end of a think block is looked for
	shown   int // length of the last body
	due     int // length of buf from which an undecided text is read again
	changed bool
	over    bool
	rest    []byte // what Close found behind the last body
}

// stage is how far the view on a stream is.
type stage uint8

const (
	seeking stage = iota // the root did not begin yet
	running
	ended   // the root closed
	stopped // the text went over to something else
	blind   // nothing can be shown before the end
)

// NewFixer begins a stream.
func NewFixer(o Options) *Fixer {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	return &Fixer{options: o}
}

// Write takes the next piece, cut anywhere. It fails only when the stream is
// longer than Options.MaxBytes.
func (f *Fixer) Write(piece []byte) (int, error) {
	if f.over || len(f.buf)+len(piece) > f.options.MaxBytes {
		f.over = true
		return 0, errTooLarge
	}
	f.buf = append(f.buf, piece...)
	return len(piece), nil
}

// Snapshot shows the document so far: body, and the delimiters that make it
// valid JSON if it ended here. Body holds back what is undecided: all before
// the root began, a key without its value, a number, literal, escape or quote
// that may go on. It grows by appending only, unless [Fixer.Changed] says
// otherwise. Both slices are valid until the next call. Empty means that
// there is nothing to show yet.
func (f *Fixer) Snapshot() (body, closers []byte) {
	if f.stage == seeking {
		f.seek()
	}
	if f.stage == running {
		f.advance()
	}
	if f.stage == seeking || f.stage == blind {
		return nil, nil
	}
	body, closers = f.view()
	f.changed = f.changed || f.m.low < f.shown
	f.m.low = math.MaxInt
	f.shown = len(body)
	return body, closers
}

// Complete reports whether the root closed in what the last Snapshot saw.
// What follows can only make the answer ambiguous.
func (f *Fixer) Complete() bool { return f.stage == ended }

// Changed reports whether the bytes of an earlier body are not what the
// document begins with: a later part showed them in another light, or Close
// decided otherwise. A stream that was passed on cannot be mended then.
func (f *Fixer) Changed() bool { return f.changed }

// Close gives the result for the whole input. Blanks in front of a document
// that was valid belong to it, and to no body.
func (f *Fixer) Close() Result {
	if f.over {
		r, _ := refuse(TooLarge, true)
		return r
	}
	r, _ := Repair(f.buf, f.options)
	doc := r.JSON[skipBlanks(r.JSON, 0):]
	shown := f.m.buf[:min(f.shown, len(f.m.buf))]
	if !bytes.HasPrefix(doc, shown) {
		f.changed = true
	}
	if r.JSON != nil && !f.changed {
		f.rest = doc[len(shown):]
	}
	return r
}

// Rest is, after Close, what is to follow the last body to make it the
// document; nil if there is no document, or it does not begin with that body.
func (f *Fixer) Rest() []byte { return f.rest }

// advance lets the machine read what has come.
func (f *Fixer) advance() {
	for f.stage == running && len(f.buf) >= f.due {
		m := &f.m
		m.src = f.buf
		switch m.run() {
		case more:
			// A long text that is undecided is not read again for every byte.
			f.due = len(f.buf) + max(1, (len(f.buf)-m.pos)/8)
		case whole:
			f.stage = ended
			m.flush(m.pos)
		case cut:
			m.flush(m.from)
			f.stage = stopped
		case failed:
			f.changed = f.changed || f.shown > 0
			if m.hard {
				f.stage = blind
				return
			}
			f.at, f.stage, f.shown, f.due = max(m.start+1, m.pos), seeking, 0, 0
			f.seek()
		}
	}
}

// view is the settled part of the output and what it owes.
func (f *Fixer) view() (body, closers []byte) {
	m := &f.m
	switch f.stage {
	case ended:
		return m.buf, nil
	case stopped:
		return m.buf, m.nest.closers(nil)
	}
	if m.phase == inText && m.text.role != roleKey {
		at := m.pos
		if t := &m.text; t.high >= 0 && at == t.low {
			at = t.high
		}
		if at >= m.from {
			m.flush(at)
			return m.buf, m.nest.closers([]byte{'"'})
		}
	}
	s := &m.safe
	if len(m.buf) == s.size && m.from == s.from {
		m.flush(s.at)
		s.size, s.from = len(m.buf), m.from
		return m.buf, m.nest.closers(nil)
	}
	return m.buf[:s.size+max(0, s.at-s.from)], m.nest.closers(nil)
}

// seek looks for the beginning of the root.
func (f *Fixer) seek() {
	for f.at < len(f.buf) {
		i := f.at
		g, n := glyphAt(f.buf, i)
		switch {
		case g == gSplit:
			return
		case g == '<':
			if !f.passTag() {
				return
			}
		case g == '{' || g == '[' && f.lineStart(i):
			f.begin()
			return
		default:
			f.at += n
		}
	}
}

// begin starts the machine at a bracket, once it is plain that the document
// is not escaped as a whole.
func (f *Fixer) begin() {
	i := f.at + 1
	for i < len(f.buf) && (isBlank(f.buf[i]) || f.buf[i] == '{' || f.buf[i] == '[') && i-f.at < maxKey {
		i++
	}
	if i >= len(f.buf) && i-f.at < maxKey && !isBlank(f.buf[len(f.buf)-1]) && f.buf[len(f.buf)-1] != '{' && f.buf[len(f.buf)-1] != '[' {
		return
	}
	if i < len(f.buf) && (f.buf[i] == '\\' || f.buf[i] == '&') {
		f.stage = blind
		return
	}
	prose := false
	for _, c := range f.buf[:f.at] {
		prose = prose || !isBlank(c)
	}
	f.m.reset(f.buf, f.at, false)
	f.m.prose = prose
	f.m.low = math.MaxInt
	f.stage = running
}

func (f *Fixer) lineStart(i int) bool {
	for i--; i >= 0 && f.buf[i] != '\n'; i-- {
		if !isBlank(f.buf[i]) {
			return false
		}
	}
	return true
}

// passTag goes behind the tag at f.at, and behind the block of a tag of
// reasoning; false if its end has not come.
func (f *Fixer) passTag() bool {
	rest := f.buf[f.at:]
	closer, closing, width := thoughtTag(rest)
	switch {
	case bytes.HasPrefix(rest, []byte("<|channel|>analysis")):
		closer, width = "<|end|>", len("<|channel|>analysis")
	case closer == "" && !closing && len(rest) < 24 && bytes.IndexByte(rest, '>') < 0:
		return false
	}
	if closer == "" {
		f.at += max(1, width)
		return true
	}
	from := max(f.at+width, f.look)
	n := indexFold(f.buf[min(from, len(f.buf)):], closer)
	if n < 0 {
		f.look = max(f.at+width, len(f.buf)-len(closer))
		return false
	}
	f.at = from + n + len(closer)
	return true
}
