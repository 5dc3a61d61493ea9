package openai

// fields is an object that grows: names in the order of their first
// appearance, and of each the last value that was not null.
type fields struct {
	at   map[string]int
	list []grown
}

type grown struct {
	name string // as in the source, escapes included
	raw  []byte
}

// put takes a member. An empty string or 0 does not displace a value: some
// vendors leave the head of their first or last event empty.
func (f *fields) put(name, raw []byte) {
	i, ok := f.at[string(name)]
	if !ok {
		if f.at == nil {
			f.at = make(map[string]int)
		}
		i = len(f.list)
		f.at[string(name)] = i
		f.list = append(f.list, grown{name: string(name)})
	}
	g := &f.list[i]
	if len(g.raw) > 0 && hollow(raw) && !(raw[0] != 'n' && hollow(g.raw)) {
		return
	}
	g.raw = append(g.raw[:0], raw...)
}

func (f *fields) has(name string) bool {
	_, ok := f.at[name]
	return ok
}

func (f *fields) get(name string) []byte {
	if i, ok := f.at[name]; ok {
		return f.list[i].raw
	}
	return nil
}

// hollow values say nothing: null, "" and 0.
func hollow(raw []byte) bool {
	return string(raw) == "null" || string(raw) == `""` || string(raw) == "0"
}

// builder writes an object.
type builder struct {
	b     []byte
	begun bool
}

func (o *builder) name(name string) {
	if o.begun {
		o.b = append(o.b, ',')
	} else {
		o.b = append(o.b, '{')
		o.begun = true
	}
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

func (o *builder) raw(name string, raw []byte) {
	o.name(name)
	o.b = append(o.b, raw...)
}

func (o *builder) end() {
	if !o.begun {
		o.b = append(o.b, '{')
	}
	o.b = append(o.b, '}')
}

// piece is a string that arrives in parts. The parts are kept as they stand,
// escapes included: put together they are the string byte for byte, and a
// surrogate pair that was cut between two events is whole again.
type piece struct {
	null, there bool
	raw         []byte
}

func (p *piece) add(b []byte, s span) {
	switch {
	case s.is(b, '"'):
		p.there = true
		p.raw = append(p.raw, s.inner(b)...)
	case s.null(b):
		p.null = true
	}
}

// addWritten adds what a tool is called with, which may be no string: see written.
func (p *piece) addWritten(b []byte, s span) {
	if !s.is(b, '{') {
		p.add(b, s)
		return
	}
	quoted := appendString(nil, written(b, s))
	p.there, p.raw = true, append(p.raw, quoted[1:len(quoted)-1]...)
}

func (p *piece) seen() bool { return p.there || p.null }

// appendTo writes the string, or null if only null was seen.
func (p *piece) appendTo(dst []byte) []byte {
	if !p.there {
		return append(dst, "null"...)
	}
	return append(append(append(dst, '"'), p.raw...), '"')
}

// items is an array that arrives in parts.
type items struct {
	null, there bool
	raw         []byte
}

func (l *items) add(b []byte, s span) {
	if !s.is(b, '[') {
		l.null = l.null || s.there()
		return
	}
	l.there = true
	for e := inArray(b, s); e.next(); {
		if len(l.raw) > 0 {
			l.raw = append(l.raw, ',')
		}
		l.raw = append(l.raw, e.val.of(b)...)
	}
}

func (l *items) seen() bool { return l.there || l.null }

func (l *items) appendTo(dst []byte) []byte {
	if !l.there {
		return append(dst, "null"...)
	}
	return append(append(append(dst, '['), l.raw...), ']')
}
