package edit

import (
	"slices"

	"github.com/tidwall/gjson"
)

// Edits is a list of changes to a document that are made in one copy. A place
// inside one that was changed before is left out; equal ones keep the order of
// the calls.
type Edits struct {
	b    []byte
	list []edit
}

type edit struct {
	from, to int
	text     string
}

// New begins a list of changes to b, which stays as it is.
func New(b []byte) *Edits { return &Edits{b: b} }

// Splice puts text in the place of the bytes from an offset up to another.
func (e *Edits) Splice(from, to int, text string) { e.list = append(e.list, edit{from, to, text}) }

// Replace puts raw JSON in the place of a value of the document.
func (e *Edits) Replace(v gjson.Result, raw string) { e.Splice(v.Index, v.Index+len(v.Raw), raw) }

// Empty reports whether there is nothing to change.
func (e *Edits) Empty() bool { return len(e.list) == 0 }

// Join adds the changes of another list for the same document.
func (e *Edits) Join(more *Edits) { e.list = append(e.list, more.list...) }

// CutElements takes the elements that are gone out of an array, each with one
// comma.
func (e *Edits) CutElements(list []gjson.Result, gone []bool) {
	kept := -1
	for i := range list {
		if !gone[i] {
			kept = i
		}
	}
	for i, v := range list {
		if !gone[i] {
			continue
		}
		c := edit{from: v.Index, to: v.Index + len(v.Raw)}
		switch {
		case i < kept:
			c.to = list[i+1].Index
		case i > 0:
			c.from = list[i-1].Index + len(list[i-1].Raw)
		}
		e.list = append(e.list, c)
	}
}

// Apply returns the edited document; with no edits it is the same slice.
func (e *Edits) Apply() []byte {
	if len(e.list) == 0 {
		return e.b
	}
	slices.SortStableFunc(e.list, func(x, y edit) int { return x.from - y.from })
	size := len(e.b)
	for _, c := range e.list {
		size += len(c.text)
	}
	out, at := make([]byte, 0, size), 0
	for _, c := range e.list {
		if c.from < at {
			continue
		}
		out = append(append(out, e.b[at:c.from]...), c.text...)
		at = c.to
	}
	return append(out, e.b[at:]...)
}

// drawOver takes back the edits that were made inside a place.
func (e *Edits) drawOver(from, to int) {
	e.list = slices.DeleteFunc(e.list, func(c edit) bool { return c.from >= from && c.to <= to })
}
