package jsonfix

import "bytes"

// candidate judges what the machine read.
func (f *finder) candidate(start int, v verdict, object bool) find {
	m := &f.m
	c := find{start: start, json: m.finish(v), cut: v == cut || m.ellipses, where: m.where, rank: f.region.rank}
	if f.fence.width == 0 {
		c.rank = rankObject
		switch {
		case !object && f.mark(c.json):
			c.rank = rankNone
		case !object && f.atStart() && f.endsLine(m.pos):
		case !object && f.ownLine(start, m.pos):
			c.rank = rankArray
		case !object && !f.listing(c.json, start, m.pos):
			c.rank = rankNone
		case !object:
			c.rank = rankArray
		case m.prose && f.block(start):
			c.rank = rankNone
		}
		if c.rank > rankEmpty && !f.atStart() && v == whole && emptyJSON(c.json) {
			c.rank = rankEmpty
		}
	}
	if s := &f.region.seq; v == cut && nothing(c.json) && s.count > 0 && !f.region.prose {
		s.cut, s.where = true, "" // the last document of several had nothing yet
		f.found.at(f.found.n - 1).cut = true
		c.rank = rankNone
		f.at = len(f.src)
	} else if v == cut && nothing(c.json) {
		f.cut = true
		f.setWhy(TruncatedEmpty)
		c.rank = rankNone
	}
	if f.found.n < mostFinds {
		c.notes = m.take()
	} else {
		c.notes = m.list() // it is not kept
	}
	c.strict = v == whole && !m.used && m.sprints == 1
	return c
}

func (f *finder) setWhy(r Reason) {
	if f.why == "" {
		f.why = r
	}
}

// emptyJSON: {} or [].
func emptyJSON(doc []byte) bool {
	return len(doc) < 2 || len(bytes.TrimSpace(doc[1:len(doc)-1])) == 0
}

// nothing: only delimiters, so that nothing was said before the cut.
func nothing(doc []byte) bool {
	for _, c := range doc {
		switch c {
		case '{', '}', '[', ']', ',', ' ', '\n', '\r', '\t':
		default:
			return false
		}
	}
	return true
}
