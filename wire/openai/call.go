package openai

// callSum is one tool call so far. The index of the stream is left out of the
// plain body, which has none.
type callSum struct {
	index int
	id    []byte // raw, with quotes
	rest  fields
	kinds [2]functionSum // function, custom
}

func (c *callSum) add(b []byte, s span) {
	for m := inObject(b, s); m.next(); {
		switch name := m.key.inner(b); string(name) {
		case "index":
		case "id":
			if m.val.filled(b) && len(c.id) == 0 {
				c.id = append(c.id, m.val.of(b)...)
			}
		case "function":
			c.kinds[0].add(b, m.val)
		case "custom":
			c.kinds[1].add(b, m.val)
		default:
			if string(name) != "type" || m.val.filled(b) {
				c.rest.put(name, m.val.of(b))
			}
		}
	}
}

func (c *callSum) appendTo(dst []byte) []byte {
	o := builder{b: dst}
	if len(c.id) > 0 {
		o.raw("id", c.id)
	} else {
		o.raw("id", []byte(`""`))
	}
	if !c.rest.has("type") && c.kinds[0].seen {
		o.raw("type", []byte(`"function"`))
	}
	for _, g := range c.rest.list {
		o.raw(g.name, g.raw)
	}
	for i, name := range [...]string{"function", "custom"} {
		if c.kinds[i].seen {
			o.name(name)
			o.b = c.kinds[i].appendTo(o.b)
		}
	}
	o.end()
	return o.b
}

// functionSum is a function with its arguments, or a custom tool with its
// input, so far. Arguments are strung together as they come: no piece is
// ever taken for a repetition (F-40).
type functionSum struct {
	seen      bool
	name      []byte // body of the string
	arguments piece
	input     piece
	rest      fields
}

func (f *functionSum) add(b []byte, s span) {
	if !s.is(b, '{') {
		return
	}
	f.seen = true
	for m := inObject(b, s); m.next(); {
		switch name := m.key.inner(b); string(name) {
		case "name":
			f.addName(b, m.val)
		case "arguments":
			f.arguments.addWritten(b, m.val)
		case "input":
			f.input.add(b, m.val)
		default:
			f.rest.put(name, m.val.of(b))
		}
	}
}

// addName: a name comes once, or again with every piece, or cut in two.
func (f *functionSum) addName(b []byte, s span) {
	if s.filled(b) && string(f.name) != string(s.inner(b)) {
		f.name = append(f.name, s.inner(b)...)
	}
}

func (f *functionSum) appendTo(dst []byte) []byte {
	o := builder{b: dst}
	o.name("name")
	o.b = append(append(append(o.b, '"'), f.name...), '"')
	if f.input.there {
		o.name("input")
		o.b = f.input.appendTo(o.b)
	}
	if f.arguments.there || !f.input.there {
		f.arguments.there = true
		o.name("arguments")
		o.b = f.arguments.appendTo(o.b)
	}
	for _, g := range f.rest.list {
		o.raw(g.name, g.raw)
	}
	o.end()
	return o.b
}

// soundSum is an audio answer so far.
type soundSum struct {
	seen             bool
	data, transcript piece
	rest             fields
}

func (t *soundSum) add(b []byte, s span) {
	if !s.is(b, '{') {
		return
	}
	t.seen = true
	for m := inObject(b, s); m.next(); {
		switch name := m.key.inner(b); string(name) {
		case "data":
			t.data.add(b, m.val)
		case "transcript":
			t.transcript.add(b, m.val)
		default:
			t.rest.put(name, m.val.of(b))
		}
	}
}

func (t *soundSum) appendTo(dst []byte) []byte {
	o := builder{b: dst}
	for _, g := range t.rest.list {
		o.raw(g.name, g.raw)
	}
	for _, p := range [...]struct {
		name string
		part *piece
	}{{"data", &t.data}, {"transcript", &t.transcript}} {
		if p.part.seen() {
			o.name(p.name)
			o.b = p.part.appendTo(o.b)
		}
	}
	o.end()
	return o.b
}
