package openai

// maxCalls bounds the tool calls of one choice.
const maxCalls = 512

// messageSum is the message of a choice so far.
type messageSum struct {
	rest        fields // role and everything unknown
	content     piece
	parts       items // content that comes as a list of parts
	refusal     piece
	reasoning   piece
	thought     piece // reasoning_content
	details     items // reasoning_details
	annotations items
	images      items
	calls       []*callSum
	function    functionSum
	sound       soundSum
}

func (t *messageSum) add(b []byte, s span) {
	for m := inObject(b, s); m.next(); {
		switch name := m.key.inner(b); string(name) {
		case "content":
			if m.val.is(b, '[') {
				t.parts.add(b, m.val)
			} else {
				t.content.add(b, m.val)
			}
		case "refusal":
			t.refusal.add(b, m.val)
		case "reasoning":
			t.reasoning.add(b, m.val)
		case "reasoning_content":
			t.thought.add(b, m.val)
		case "reasoning_details":
			t.details.add(b, m.val)
		case "annotations":
			t.annotations.add(b, m.val)
		case "images":
			t.images.add(b, m.val)
		case "tool_calls":
			t.addCalls(b, m.val)
		case "function_call":
			if t.function.seen || namesCall(b, m.val) {
				t.function.add(b, m.val)
			}
		case "audio":
			t.sound.add(b, m.val)
		default:
			t.rest.put(name, m.val.of(b))
		}
	}
}

func (t *messageSum) addCalls(b []byte, s span) {
	if !s.is(b, '[') {
		return
	}
	place := 0
	for e := inArray(b, s); e.next(); place++ {
		if !e.val.is(b, '{') {
			continue
		}
		index := place
		if n, ok := integer(b, member(b, e.val, "index")); ok {
			index = n
		}
		if c := t.call(b, e.val, index); c != nil {
			c.add(b, e.val)
		}
	}
}

// call finds the call that a delta goes on with: the latest of its index.
// Some vendors give all parallel calls the index 0; a new id that comes with
// a name begins a new call.
func (t *messageSum) call(b []byte, s span, index int) *callSum {
	for i := len(t.calls) - 1; i >= 0; i-- {
		c := t.calls[i]
		if c.index != index {
			continue
		}
		id := member(b, s, "id")
		if id.filled(b) && len(c.id) > 0 && string(id.of(b)) != string(c.id) &&
			member(b, member(b, s, "function"), "name").filled(b) {
			break
		}
		return c
	}
	if len(t.calls) == maxCalls || !beginsCall(b, s) {
		return nil
	}
	c := &callSum{index: index}
	t.calls = append(t.calls, c)
	return c
}

func (t *messageSum) appendTo(dst []byte) []byte {
	o := builder{b: dst}
	if !t.rest.has("role") {
		o.raw("role", []byte(`"assistant"`))
	}
	for _, g := range t.rest.list {
		o.raw(g.name, g.raw)
	}
	o.name("content")
	o.b = t.appendContent(o.b)
	for _, p := range [...]struct {
		name string
		part *piece
	}{{"reasoning", &t.reasoning}, {"reasoning_content", &t.thought}, {"refusal", &t.refusal}} {
		if p.part.seen() {
			o.name(p.name)
			o.b = p.part.appendTo(o.b)
		}
	}
	for _, l := range [...]struct {
		name string
		list *items
	}{{"reasoning_details", &t.details}, {"annotations", &t.annotations}, {"images", &t.images}} {
		if l.list.seen() {
			o.name(l.name)
			o.b = l.list.appendTo(o.b)
		}
	}
	if len(t.calls) > 0 {
		o.name("tool_calls")
		o.b = append(o.b, '[')
		for i, c := range t.calls {
			if i > 0 {
				o.b = append(o.b, ',')
			}
			o.b = c.appendTo(o.b)
		}
		o.b = append(o.b, ']')
	}
	if t.function.seen {
		o.name("function_call")
		o.b = t.function.appendTo(o.b)
	}
	if t.sound.seen {
		o.name("audio")
		o.b = t.sound.appendTo(o.b)
	}
	o.end()
	return o.b
}

// appendContent writes text, parts, or null where something else is the
// answer, as plain bodies do.
func (t *messageSum) appendContent(dst []byte) []byte {
	instead := len(t.calls) > 0 || t.function.seen || t.sound.seen || len(t.refusal.raw) > 0
	switch {
	case t.parts.there:
		list := t.parts
		if len(t.content.raw) > 0 {
			tail := t.content.appendTo([]byte(`[{"type":"text","text":`))
			tail = append(tail, '}', ']')
			list.raw = append([]byte(nil), list.raw...)
			list.add(tail, span{0, len(tail)})
		}
		return list.appendTo(dst)
	case len(t.content.raw) > 0:
		return t.content.appendTo(dst)
	case instead:
		return append(dst, "null"...)
	}
	return append(dst, `""`...)
}
