package jsonfix

// bare tries what can begin a document that has no bracket: a scalar alone, a
// string that was cut, or members whose opening brace was left out because it
// was already written in front of the answer.
func (f *finder) bare(g glyph) bool {
	start := f.at
	if g == '"' && f.src[start] == '"' || g.letter() && f.quotedTail(start) {
		switch keyAhead(f.src, start, true) {
		case yes:
			if end, _ := quotedEnd(f.src, start, true); g != '"' || end > 0 && end < len(f.src) {
				return f.headless(start, true)
			}
		}
		if g == '"' && f.headlessArray(start) {
			return f.headless(start, false)
		}
	}
	return f.scalar(start)
}

// quotedTail: a word with a closing quote, as behind {" written in front.
func (f *finder) quotedTail(i int) bool {
	for k := i; k-i < maxKey; {
		g, n := glyphAt(f.src, k)
		if !g.word() {
			return g == '"'
		}
		k += n
	}
	return false
}

// headlessArray: strings with commas between them, and a bracket at the end.
func (f *finder) headlessArray(i int) bool {
	end := stringEnd(f.src, i+1)
	if end < 0 || lastCloser(f.src) != ']' {
		return false
	}
	at, _ := afterBlanks(f.src, end)
	return at < len(f.src) && f.src[at] == ','
}

// headless reads members whose opener is missing. It is believed only if the
// closer is there.
func (f *finder) headless(start int, object bool) bool {
	m := &f.m
	m.reset(f.src, start, true)
	m.push(object)
	m.opened = true
	m.edit(start, start, string(closerOf(object)-2))
	m.note(MissingOpener, start)
	m.settle(start, m.n, true)
	m.expectMember()
	v := m.run()
	if v != whole {
		if m.values > 1 || object {
			f.setWhy(NotJSON)
			f.region.dead, f.hard = true, true
		}
		f.impure()
		f.at = start + 1
		return true
	}
	f.at = m.pos
	c := find{start: start, json: m.finish(v), cut: m.ellipses, rank: max(f.region.rank, rankObject)}
	c.notes = m.take()
	f.keep(c)
	return true
}

// scalar takes a string, number or literal that has the region for itself.
func (f *finder) scalar(start int) bool {
	var n nest
	end, _, how := n.scan(f.src, start, atRoot)
	if how == closed {
		at, _ := afterBlanks(f.src, end)
		if at < len(f.src) && (f.fence.width == 0 || fenceAt(f.src, at) < f.fence.width) {
			return false
		}
		f.at = end
		f.keep(find{start: start, json: f.src[start:end:end], rank: max(f.region.rank, rankObject)})
		return true
	}
	if f.src[start] != '"' || f.fence.width > 0 {
		return false
	}
	m := &f.m
	m.reset(f.src, start, true)
	if v := m.run(); v != cut || m.text.inner > 0 {
		return false
	}
	f.at = m.pos
	c := find{start: start, json: m.finish(cut), cut: true, rank: rankObject}
	if len(c.json) <= 2 {
		f.cut = true
		f.setWhy(TruncatedEmpty)
		return true
	}
	c.notes = m.take()
	f.keep(c)
	return true
}
