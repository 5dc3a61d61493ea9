package openai

import (
	"bytes"
	"slices"
	"strconv"

	"backstop/wire"
)

// aggregate puts a stream together. Each event costs its own length.
type aggregate struct {
	op      wire.Op
	top     fields // all but choices
	choices []*choiceSum
}

// Aggregator puts the events of a chat or legacy completion together into the
// plain body of the same answer:
//
//   - per choice index, text, reasoning, refusals, logprobs, sound and
//     arguments of tool calls are strung together byte for byte;
//   - of every other field, known or not, the last value that says something
//     counts (null, "" and 0 do not displace one);
//   - the finish reason gets the dialect's word, the object its plain name.
//
// What is no object is passed over. Its memory is about that of the answer;
// the bound is the driver's. At most 128 choices and 512 tool calls a choice
// are kept.
func (Room) Aggregator(r *wire.Request) wire.Aggregator {
	a := &aggregate{op: wire.Chat}
	if r != nil {
		a.op = r.Op
	}
	return a
}

func (a *aggregate) Add(data []byte) {
	data = bytes.TrimSpace(data)
	whole, ok := root(data)
	if !ok {
		return
	}
	for m := inObject(data, whole); m.next(); {
		name := m.key.inner(data)
		if string(name) != "choices" {
			a.top.put(name, m.val.of(data))
			continue
		}
		if !m.val.is(data, '[') {
			continue
		}
		for e := inArray(data, m.val); e.next(); {
			if c := a.choice(data, e.val); c != nil {
				c.add(data, e.val)
			}
		}
	}
}

// choice finds the sum for a choice, nil if it is none of ours.
func (a *aggregate) choice(b []byte, s span) *choiceSum {
	if !s.is(b, '{') {
		return nil
	}
	index := 0
	if at := member(b, s, "index"); at.there() {
		n, ok := integer(b, at)
		if !ok || n < 0 || n >= maxChoices {
			return nil
		}
		index = n
	}
	for _, c := range a.choices {
		if c.index == index {
			return c
		}
	}
	c := &choiceSum{index: index}
	a.choices = append(a.choices, c)
	return c
}

// Body returns the plain body. It may be asked more than once.
func (a *aggregate) Body() []byte {
	slices.SortFunc(a.choices, func(x, y *choiceSum) int { return x.index - y.index })
	o := builder{}
	placed := false
	for _, g := range a.top.list {
		if g.name == "usage" && !placed { // where plain bodies have it
			a.writeChoices(&o)
			placed = true
		}
		if g.name == "object" {
			o.raw("object", []byte(plainObject(a.op)))
			continue
		}
		o.raw(g.name, g.raw)
	}
	if !a.top.has("object") {
		o.raw("object", []byte(plainObject(a.op)))
	}
	if !placed {
		a.writeChoices(&o)
	}
	if usage := a.choiceUsage(); usage != nil {
		o.raw("usage", usage)
	}
	o.end()
	return o.b
}

func plainObject(op wire.Op) string {
	if op == wire.Completion {
		return `"text_completion"`
	}
	return `"chat.completion"`
}

// choiceUsage is usage that only a choice reports, as Moonshot's does.
func (a *aggregate) choiceUsage() []byte {
	if a.top.has("usage") {
		return nil
	}
	for _, c := range a.choices {
		if u := c.rest.get("usage"); len(u) > 0 && u[0] == '{' {
			return u
		}
	}
	return nil
}

func (a *aggregate) writeChoices(o *builder) {
	o.name("choices")
	o.b = append(o.b, '[')
	for i, c := range a.choices {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = c.appendTo(o.b, a.op)
	}
	o.b = append(o.b, ']')
}

// choiceSum is one choice so far.
type choiceSum struct {
	index    int
	rest     fields
	text     piece // legacy completions
	logprobs lists
	message  messageSum
}

func (c *choiceSum) add(b []byte, s span) {
	for m := inObject(b, s); m.next(); {
		switch name := m.key.inner(b); string(name) {
		case "index":
		case "delta", "message":
			if m.val.is(b, '{') {
				c.message.add(b, m.val)
			}
		case "text":
			c.text.add(b, m.val)
		case "logprobs":
			c.logprobs.add(b, m.val)
		case "finish_reason":
			c.rest.put(name, renamedFinish(b, m.val))
		default:
			c.rest.put(name, m.val.of(b))
		}
	}
}

// renamedFinish is the finish reason in the dialect's own word.
func renamedFinish(b []byte, s span) []byte {
	if reason := str(b, s); reason != "" {
		if name := wire.FinishOf(reason).Name; name != "" && name != reason {
			return appendString(nil, name)
		}
	}
	return s.of(b)
}

func (c *choiceSum) appendTo(dst []byte, op wire.Op) []byte {
	o := builder{b: dst}
	o.raw("index", strconv.AppendInt(nil, int64(c.index), 10))
	if op == wire.Completion {
		o.name("text")
		c.text.there = true
		o.b = c.text.appendTo(o.b)
	} else {
		o.name("message")
		o.b = c.message.appendTo(o.b)
	}
	if c.logprobs.seen() {
		o.name("logprobs")
		o.b = c.logprobs.appendTo(o.b)
	}
	for _, g := range c.rest.list {
		o.raw(g.name, g.raw)
	}
	if !c.rest.has("finish_reason") {
		o.raw("finish_reason", []byte("null"))
	}
	o.end()
	return o.b
}

// lists is an object of arrays that arrive in parts, such as logprobs.
type lists struct {
	null, there bool
	names       []string
	items       map[string]*items
	rest        fields
}

func (l *lists) add(b []byte, s span) {
	if !s.is(b, '{') {
		l.null = true
		return
	}
	l.there = true
	for m := inObject(b, s); m.next(); {
		name := m.key.inner(b)
		list := l.items[string(name)]
		if list == nil && !m.val.null(b) && !m.val.is(b, '[') {
			l.rest.put(name, m.val.of(b))
			continue
		}
		if list == nil {
			if l.items == nil {
				l.items = make(map[string]*items)
			}
			list = &items{}
			l.items[string(name)] = list
			l.names = append(l.names, string(name))
		}
		list.add(b, m.val)
	}
}

func (l *lists) seen() bool { return l.there || l.null }

func (l *lists) appendTo(dst []byte) []byte {
	if !l.there {
		return append(dst, "null"...)
	}
	o := builder{b: dst}
	for _, name := range l.names {
		if l.rest.has(name) {
			continue
		}
		o.name(name)
		o.b = l.items[name].appendTo(o.b)
	}
	for _, g := range l.rest.list {
		o.raw(g.name, g.raw)
	}
	o.end()
	return o.b
}
