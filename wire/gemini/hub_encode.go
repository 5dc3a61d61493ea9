package gemini

import (
	"strconv"
	"strings"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Encoder makes the events of a stream of generateContent.
//
// Text goes out as it comes. A function call is one part here, so it waits
// until its arguments are whole: until its part ends, another part begins
// behind it, or the answer ends. One whose arguments are no object in the end
// is left out, and the finish reason says so: MALFORMED_FUNCTION_CALL, or what
// cut it off; see unfinished. The last event of each candidate has the finish
// reason, that of the stream the usage.
func (Room) Encoder(h wire.Head) wire.Encoder { return &encoder{head: h, usage: wire.NoUsage()} }

type encoder struct {
	head    wire.Head
	started bool
	usage   wire.Usage
	choices []*choice
	calls   int // of the stream
	over    bool
	out     []wire.Framed
}

// choice is one of the answers so far.
type choice struct {
	waiting []*call // in the order in which they began
	spoiled bool    // one was left out
	refused bool
	ending  *wire.Delta
}

// call is a function call whose arguments are still coming.
type call struct {
	number   int
	id, name string
	args     strings.Builder
	checked  int // length of the arguments when they were last found incomplete
	ended    bool
}

// whole reports whether the arguments are an object by now. They are looked at
// again when they have grown to twice their size, so that the cost stays that
// of reading them.
func (w *call) whole() bool {
	n := w.args.Len()
	if n == 0 || n < 2*w.checked {
		return false
	}
	w.checked = n
	_, ok := inputOf(w.args.String())
	return ok
}

func (e *encoder) Encode(list []wire.Delta) []wire.Framed {
	e.out = e.out[:0]
	for i := range list {
		if d := &list[i]; d.Choice >= 0 && d.Choice < maxCandidates && !e.over {
			e.delta(d)
		}
	}
	return e.out
}

func (e *encoder) delta(d *wire.Delta) {
	switch d.Kind {
	case wire.DeltaStart:
		e.start(d)
	case wire.DeltaUsage:
		e.usage.Merge(d.Usage)
	case wire.DeltaText, wire.DeltaRefusal, wire.DeltaReasoning:
		e.text(d)
	case wire.DeltaCall, wire.DeltaArguments:
		e.argue(d)
	case wire.DeltaPartEnd:
		e.partEnd(d)
	case wire.DeltaFinish:
		end := *d
		e.choice(d.Choice).ending = &end
	case wire.DeltaDone:
		e.end()
	}
}

func (e *encoder) start(d *wire.Delta) {
	if e.started {
		return
	}
	e.started = true
	if d.ID != "" {
		e.head.ID = d.ID
	}
	if d.Model != "" {
		e.head.Model = d.Model
	}
}

func (e *encoder) choice(index int) *choice {
	for len(e.choices) <= index {
		e.choices = append(e.choices, nil)
	}
	if e.choices[index] == nil {
		e.choices[index] = &choice{}
	}
	return e.choices[index]
}

func (e *encoder) text(d *wire.Delta) {
	c := e.choice(d.Choice)
	c.refused = c.refused || d.Kind == wire.DeltaRefusal
	if d.Text == "" {
		return
	}
	e.release(d.Choice, passedBy)
	e.part(d.Choice, appendText(nil, d.Text, d.Kind == wire.DeltaReasoning))
}

func (e *encoder) argue(d *wire.Delta) {
	c := e.choice(d.Choice)
	var to *call
	for _, w := range c.waiting {
		if w.number == d.Part {
			to = w
		}
	}
	if to == nil {
		if d.Kind == wire.DeltaArguments && d.Text == "" {
			return
		}
		to = &call{number: d.Part, id: d.ID, name: d.Name}
		c.waiting = append(c.waiting, to)
	}
	if d.Kind == wire.DeltaArguments {
		to.args.WriteString(d.Text)
	}
}

func (e *encoder) partEnd(d *wire.Delta) {
	for _, w := range e.choice(d.Choice).waiting {
		if w.number == d.Part {
			w.ended = true
		}
	}
	e.release(d.Choice, goesOn)
}

// When calls are let go: while the answer goes on, when a text begins behind
// them, when no more is coming, when that is because of a limit.
const (
	goesOn = iota
	passedBy
	allCame
	cutOff
)

// release lets calls go whose arguments are whole, in their order.
func (e *encoder) release(index, when int) {
	c := e.choice(index)
	for len(c.waiting) > 0 {
		w := c.waiting[0]
		last := len(c.waiting) == 1
		if when < allCame && (!w.ended && !w.whole() || when == goesOn && last && empty(w.args.String())) {
			return
		}
		c.waiting = c.waiting[1:]
		args, ok := inputOf(w.args.String())
		if !ok || when == cutOff && last && empty(args) {
			c.spoiled = true
			continue
		}
		id := w.id
		if id == "" {
			id = wire.ToolID(e.head.ID + "." + strconv.Itoa(e.calls))
		}
		e.calls++
		e.part(index, appendAnswerCall(nil, id, w.name, string(edit.OneLine([]byte(args)))))
	}
}

// part writes an event with one part.
func (e *encoder) part(index int, part []byte) {
	e.started = true
	b := append(append([]byte(`{"candidates":[{"content":{"parts":[`), part...), `],"role":"model"},"index":`...)
	b = append(strconv.AppendInt(b, int64(index), 10), `}]`...)
	e.out = append(e.out, wire.Framed{Data: e.named(b), Kind: wire.Token})
}

// named ends an event with what the answer is called.
func (e *encoder) named(b []byte) []byte {
	b = wire.AppendString(append(b, `,"modelVersion":`...), e.head.Model)
	return append(wire.AppendString(append(b, `,"responseId":`...), e.head.ID), '}')
}

// end writes the finish reasons, of those that have one.
func (e *encoder) end() {
	e.over = true
	last := -1
	for i, c := range e.choices {
		if c != nil && c.ending != nil {
			last = i
			when := allCame
			if unfinished(c.ending.Ending) {
				when = cutOff
			}
			e.release(i, when)
		}
	}
	for i, c := range e.choices {
		if c == nil || c.ending == nil {
			continue
		}
		word := finishWord(c.ending.Ending, c.refused)
		if c.spoiled && word == "STOP" {
			word = "MALFORMED_FUNCTION_CALL"
		}
		b := append([]byte(`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"`), word...)
		b = append(strconv.AppendInt(append(b, `","index":`...), int64(i), 10), `}]`...)
		if i == last && e.usage.Reported() {
			b = appendUsage(append(b, `,"usageMetadata":`...), &e.usage)
		}
		e.out = append(e.out, wire.Framed{Data: e.named(b), Kind: wire.Token})
	}
}
