package openai

import (
	"strconv"

	"backstop/wire"
)

// Explode turns a plain body into the events of the same answer: the data of
// each chunk, without frames and without [DONE], ready for Writer.Event or for
// an Aggregator, which makes the same body of them again. Usage becomes a
// chunk only if the caller asked for it; an x_backstop object goes with the
// last chunk, other fields around the choices with the first. What is no
// completion, or has more than 128 choices, gives nil.
func (Room) Explode(r *wire.Request, body []byte) [][]byte {
	whole, ok := root(body)
	if !ok {
		return nil
	}
	x := exploder{b: body, op: wire.Chat}
	usageOn := false
	if r != nil {
		x.op, usageOn = r.Op, r.UsageOn
	}
	choices, usage, note := x.readHead(whole)
	if !choices.is(body, '[') || x.op == wire.Embedding {
		return nil
	}
	place := 0
	for e := inArray(body, choices); e.next(); place++ {
		if place == maxChoices {
			return nil
		}
		if e.val.is(body, '{') {
			x.choice(e.val, place)
		}
	}
	if usageOn && usage.is(body, '{') {
		x.chunk(append([]byte(`[],"usage":`), usage.of(body)...))
	}
	if n := len(x.out); n > 0 && note.is(body, '{') {
		last := x.out[n-1]
		last = append(last[:len(last)-1], `,"x_backstop":`...)
		x.out[n-1] = append(append(last, note.of(body)...), '}')
	}
	return x.out
}

type exploder struct {
	b    []byte
	op   wire.Op
	head []byte // of every chunk, up to the choices
	once []byte // of the first chunk alone
	out  [][]byte
}

// steady fields are the same in every chunk of a stream.
var steady = map[string]bool{"id": true, "created": true, "model": true, "system_fingerprint": true, "service_tier": true}

// maxHead bounds what is repeated in every chunk.
const maxHead = 16 << 10

func (x *exploder) readHead(whole span) (choices, usage, note span) {
	head, named := builder{}, false
	for m := inObject(x.b, whole); m.next(); {
		switch name := m.key.inner(x.b); string(name) {
		case "choices":
			choices = m.val
		case "usage":
			usage = m.val
		case "x_backstop":
			note = m.val
		case "object":
			named = true
			head.raw("object", []byte(chunkObject(x.op)))
		default:
			if steady[string(name)] && len(head.b)+m.val.to-m.val.from < maxHead {
				head.raw(string(name), m.val.of(x.b))
				continue
			}
			x.once = append(append(append(append(x.once, `,"`...), name...), `":`...), m.val.of(x.b)...)
		}
	}
	if !named {
		head.raw("object", []byte(chunkObject(x.op)))
	}
	head.name("choices")
	x.head = head.b
	return choices, usage, note
}

func (x *exploder) chunk(choices []byte) {
	one := make([]byte, 0, len(x.head)+len(choices)+1)
	one = append(append(one, x.head...), choices...)
	if len(x.out) == 0 {
		one = append(one, x.once...)
	}
	x.out = append(x.out, append(one, '}'))
}

// choice writes the chunks of one choice; the finish reason comes last.
func (x *exploder) choice(s span, place int) {
	index := []byte(strconv.Itoa(place))
	finish := []byte("null")
	var logprobs []byte
	var message, text span
	rest := builder{}
	for m := inObject(x.b, s); m.next(); {
		switch name := m.key.inner(x.b); string(name) {
		case "index":
			index = m.val.of(x.b)
		case "message":
			message = m.val
		case "text":
			text = m.val
		case "logprobs":
			logprobs = m.val.of(x.b)
		case "finish_reason":
			finish = m.val.of(x.b)
		default:
			rest.raw(string(name), m.val.of(x.b))
		}
	}
	empty := []byte(`{}`)
	slot := "delta"
	if x.op == wire.Completion {
		slot, empty = "text", []byte(`""`)
		if text.filled(x.b) {
			x.part(index, slot, text.of(x.b), logprobs)
		}
	} else {
		x.message(index, message, logprobs)
	}
	o := builder{b: []byte{'['}}
	o.raw("index", index)
	o.raw(slot, empty)
	o.raw("finish_reason", finish)
	if rest.begun {
		o.b = append(append(o.b, ','), rest.b[1:]...)
	}
	o.end()
	x.chunk(append(o.b, ']'))
}

// part writes one chunk of a choice that goes on.
func (x *exploder) part(index []byte, slot string, value, logprobs []byte) {
	o := builder{b: []byte{'['}}
	o.raw("index", index)
	o.raw(slot, value)
	if logprobs != nil {
		o.raw("logprobs", logprobs)
	}
	o.raw("finish_reason", []byte("null"))
	o.end()
	x.chunk(append(o.b, ']'))
}

// message writes the deltas of a message: role and what is unknown,
// reasoning, text, tool calls.
func (x *exploder) message(index []byte, s span, logprobs []byte) {
	var first, thought, said, called builder
	if s.is(x.b, '{') {
		for m := inObject(x.b, s); m.next(); {
			name, to := string(m.key.inner(x.b)), &first
			switch name {
			case "reasoning", "reasoning_content", "reasoning_details":
				to = &thought
			case "content", "refusal", "annotations":
				to = &said
			case "tool_calls", "function_call":
				to = &called
			}
			if to != &first && m.val.null(x.b) {
				to = &first
			}
			if name == "tool_calls" && m.val.is(x.b, '[') {
				to.raw(name, x.numbered(m.val))
				continue
			}
			to.raw(name, m.val.of(x.b))
		}
	}
	for _, d := range [...]*builder{&first, &thought, &said, &called} {
		if !d.begun {
			continue
		}
		d.end()
		probs := []byte(nil)
		if d == &said {
			probs = logprobs
		}
		x.part(index, "delta", d.b, probs)
	}
}

// numbered gives tool calls the index that deltas have.
func (x *exploder) numbered(s span) []byte {
	out := []byte{'['}
	n := 0
	for e := inArray(x.b, s); e.next(); n++ {
		if n > 0 {
			out = append(out, ',')
		}
		if !e.val.is(x.b, '{') {
			out = append(out, e.val.of(x.b)...)
			continue
		}
		call := e.val.of(x.b)
		out = append(out, setMember(call, span{0, len(call)}, "index", strconv.Itoa(n))...)
	}
	return append(out, ']')
}
