package openai

// chunk is one event of a stream taken apart. Its spans point into the data
// of the event. It is reused from event to event.
type chunk struct {
	b []byte

	id, object, created, model span
	fingerprint                span
	choices, usage             span
	fault                      bool // the event is an error in one of the known forms
	known                      bool // at least one member is the dialect's
	crosses                    bool // its caller speaks another dialect

	list []delta
	book callBook
}

// parse reads an event. It is false for what is no object of this dialect.
func (c *chunk) parse(data []byte) bool {
	*c = chunk{b: data, list: c.list[:0], book: c.book, crosses: c.crosses}
	c.book.open()
	i := skipSpace(data, 0)
	if i < len(data) && data[i] == '[' {
		return c.wrapped(i)
	}
	if i >= len(data) || data[i] != '{' {
		return false
	}
	var odd oddities
	m := memberWalk{b: data, i: i + 1}
	for m.nextKey() {
		if m.at('[') && string(m.key.inner(data)) == "choices" {
			c.choices, c.known = span{m.i, m.i + 1}, true // its end follows
			if !m.leave(c.readChoices(&m)) {
				return false
			}
			c.choices = m.val
		} else if m.value() {
			c.field(&m, &odd)
		}
	}
	if m.end() < 0 || skipSpace(data, m.end()) != len(data) {
		return false
	}
	c.fault, c.book.sure = c.fault || odd.fault(c), len(c.book.begun)
	return c.fault || c.known || !odd.alien
}

func (c *chunk) field(m *memberWalk, odd *oddities) {
	switch string(m.key.inner(m.b)) {
	case "id":
		c.id = m.val
	case "object":
		c.object = m.val
	case "created":
		c.created = m.val
	case "model":
		c.model = m.val
	case "system_fingerprint":
		c.fingerprint = m.val
		odd.alien = true // no proof of the dialect
		return
	case "choices": // none that can be read
		c.choices, c.list = m.val, c.list[:0]
	case "usage":
		if m.val.is(c.b, '{') {
			c.usage = m.val
		}
	case "x_groq":
		if u := member(c.b, m.val, "usage"); u.is(c.b, '{') && !c.usage.there() {
			c.usage = u
		}
		return
	default:
		odd.field(m)
		return
	}
	c.known = true
}

// oddities collects the members that errors are made of.
type oddities struct {
	err, base       span
	flat, typeError bool
	alien           bool
}

func (o *oddities) field(m *memberWalk) {
	switch string(m.key.inner(m.b)) {
	case "error":
		o.err = m.val
	case "base_resp":
		o.base = m.val
	case "type":
		o.typeError = string(m.val.of(m.b)) == `"error"`
		o.alien = true
	case "code", "error_code", "error_msg", "message", "msg", "detail", "errors", "Response":
		o.flat = o.flat || !m.val.null(m.b)
	default:
		o.alien = true
	}
}

// fault reports whether the members make an error: an error object or text, a
// MiniMax status, or without choices anything that looks like one.
func (o *oddities) fault(c *chunk) bool {
	if filledError(c.b, o.err, c.choices) {
		return true
	}
	if n, ok := integer(c.b, member(c.b, o.base, "status_code")); ok && n != 0 {
		return true
	}
	if c.object.there() && string(c.object.of(c.b)) == `"error"` {
		return true
	}
	return !c.choices.is(c.b, '[') && (o.flat || o.typeError)
}

// filledError: null, false, 0 and "" are no errors, {} is none next to choices.
func filledError(b []byte, err, choices span) bool {
	switch {
	case err.null(b):
		return false
	case b[err.from] == '"':
		return err.filled(b)
	case b[err.from] == '{':
		m := inObject(b, err)
		return m.next() || !choices.is(b, '[')
	}
	return b[err.from] != 'f' && b[err.from] != '0'
}

// wrapped reads an array whose only use in streams is to hold an error.
func (c *chunk) wrapped(i int) bool {
	end := skipValue(c.b, i, 0)
	if end < 0 || skipSpace(c.b, end) != len(c.b) {
		return false
	}
	e := inArray(c.b, span{i, end})
	if e.next() && e.val.is(c.b, '{') {
		c.fault = filledError(c.b, member(c.b, e.val, "error"), span{})
	}
	return c.fault
}

// readChoices reads the choices, of which m stands in front, and returns where
// they end, -1 for what is no list of objects.
func (c *chunk) readChoices(m *memberWalk) int {
	c.list = c.list[:0] // of duplicates the last counts
	c.book.open()
	e := elementWalk{b: c.b, i: m.i + 1, depth: m.depth + 1}
	for e.nextValue() {
		if c.b[e.i] != '{' || len(c.list) == maxChoices {
			return -1
		}
		c.list = append(c.list, delta{})
		if !e.leave(c.readChoice(&c.list[len(c.list)-1], memberWalk{b: c.b, i: e.i + 1, depth: e.depth + 1})) {
			return -1
		}
	}
	return e.end()
}

func (c *chunk) readChoice(d *delta, m memberWalk) int {
	var calls, legacy span
	for m.nextKey() {
		if m.at('{') && string(m.key.inner(c.b)) == "delta" {
			in := m.object()
			calls, legacy = c.readDelta(d, &in)
			m.leave(in.end())
			continue
		}
		if !m.value() {
			return -1
		}
		switch string(m.key.inner(c.b)) {
		case "index":
			n, ok := integer(c.b, m.val)
			if !ok || n < 0 || n >= maxChoices {
				return -1
			}
			d.index = n
		case "text":
			d.speak(c.b, m.val)
		case "error":
			c.fault = c.fault || filledError(c.b, m.val, c.choices)
		case "finish_reason":
			if m.val.filled(c.b) {
				d.finish = m.val
			}
		case "usage":
			if m.val.is(c.b, '{') && !c.usage.there() {
				c.usage = m.val
			}
		}
	}
	if m.end() >= 0 {
		c.readCalls(d, calls, legacy)
	}
	return m.end()
}

func (c *chunk) readDelta(d *delta, m *memberWalk) (calls, legacy span) {
	for m.next() {
		switch string(m.key.inner(c.b)) {
		case "role":
			d.role = m.val.filled(c.b)
		case "content":
			if c.crosses && m.val.is(c.b, '[') && !holdsText(c.b, m.val) {
				d.lost = d.lost || holds(c.b, m.val, '[')
				continue
			}
			d.speak(c.b, m.val)
		case "refusal":
			said := d.said
			d.aside(c.b, m.val)
			d.refusal = d.refusal || m.val.filled(c.b)
			d.said = said
		case "images":
			if c.crosses {
				d.lost = d.lost || holds(c.b, m.val, '[')
				continue
			}
			d.aside(c.b, m.val)
		case "reasoning", "reasoning_content", "reasoning_details":
			d.text(c.b, m.val)
		case "tool_calls":
			calls = m.val
		case "function_call":
			legacy = m.val
		case "audio":
			if c.crosses {
				d.lost = d.lost || holds(c.b, m.val, '{')
				continue
			}
			d.aside(c.b, member(c.b, m.val, "data"))
			d.aside(c.b, member(c.b, m.val, "transcript"))
		}
	}
	return calls, legacy
}

// reported reads the token counts of a usage object, -1 = not there.
func reported(b []byte, usage span) (input, output int) {
	input, output = -1, -1
	if !usage.there() {
		return
	}
	for m := inObject(b, usage); m.next(); {
		n, ok := integer(b, m.val)
		if !ok || n < 0 {
			continue
		}
		switch string(m.key.inner(b)) {
		case "prompt_tokens", "input_tokens":
			input = n
		case "completion_tokens", "output_tokens":
			output = n
		}
	}
	return
}
