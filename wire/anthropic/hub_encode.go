package anthropic

import (
	"strconv"
	"strings"

	"backstop/wire"
)

// Encoder makes the events of a Messages stream.
//
// Blocks follow each other here. What comes for another part while a tool
// call is open, which only its upstream's finish closes, waits until then, so
// that parallel calls whose pieces alternate stay whole. The stop reason and
// the usage go out together at the end of the stream.
func (Room) Encoder(h wire.Head) wire.Encoder { return &encoder{head: h, usage: wire.NoUsage()} }

type encoder struct {
	head    wire.Head
	started bool
	usage   wire.Usage
	index   int   // of the next block
	open    *part // nil = none
	waiting []*part
	ended   *wire.Delta
	called  bool
	refused bool
	over    bool
	out     []wire.Framed
}

// part is a part of the answer that is not over.
type part struct {
	number int
	kind   wire.DeltaKind // DeltaText, DeltaReasoning, DeltaCall, or DeltaProof if sealed
	id     string
	name   string
	proof  string
	text   strings.Builder // what waits
	closed bool
}

func (e *encoder) Encode(list []wire.Delta) []wire.Framed {
	e.out = e.out[:0]
	for i := range list {
		if list[i].Choice == 0 && !e.over {
			e.delta(&list[i])
		}
	}
	return e.out
}

func (e *encoder) frame(name string, data []byte, kind wire.SignalKind) {
	e.out = append(e.out, wire.Framed{Name: name, Data: data, Kind: kind})
}

func (e *encoder) delta(d *wire.Delta) {
	switch d.Kind {
	case wire.DeltaStart:
		e.start(d)
	case wire.DeltaUsage:
		e.usage.Merge(d.Usage)
	case wire.DeltaFinish:
		e.flush()
		end := *d
		e.ended = &end
	case wire.DeltaDone:
		e.end()
	case wire.DeltaPartEnd:
		e.partEnd(d.Part)
	default:
		e.start(&wire.Delta{})
		e.content(d)
	}
}

func (e *encoder) start(d *wire.Delta) {
	if e.started {
		return
	}
	e.started = true
	id, model := e.head.ID, e.head.Model
	if d.ID != "" {
		id = d.ID
	}
	if d.Model != "" {
		model = d.Model
	}
	e.head.ID = id
	b := wire.AppendString([]byte(`{"type":"message_start","message":{"id":`), id)
	b = wire.AppendString(append(b, `,"type":"message","role":"assistant","model":`...), model)
	b = appendUsage(append(b, `,"content":[],"stop_reason":null,"stop_sequence":null,"usage":`...), &e.usage)
	e.frame(messageStart, append(b, '}', '}'), wire.Quiet)
}

// kindOf is the kind of block that a delta belongs to.
func kindOf(d *wire.Delta) wire.DeltaKind {
	switch d.Kind {
	case wire.DeltaRefusal:
		return wire.DeltaText
	case wire.DeltaArguments:
		return wire.DeltaCall
	case wire.DeltaProof:
		if !d.Sealed {
			return wire.DeltaReasoning
		}
	}
	return d.Kind
}

func (e *encoder) content(d *wire.Delta) {
	e.refused = e.refused || d.Kind == wire.DeltaRefusal
	e.called = e.called || d.Kind == wire.DeltaCall
	kind := kindOf(d)
	p := e.open
	switch {
	case p != nil && p.number == d.Part && p.kind == kind:
	case p != nil && p.kind == wire.DeltaCall:
		e.wait(d, kind)
		return
	default:
		e.close()
		p = &part{number: d.Part, kind: kind, id: d.ID, name: d.Name}
		e.begin(p)
	}
	if d.Kind == wire.DeltaProof {
		p.proof += d.Text
		return
	}
	e.write(p.kind, d.Text)
}

// wait keeps what comes for a part that may not begin yet.
func (e *encoder) wait(d *wire.Delta, kind wire.DeltaKind) {
	var p *part
	for _, w := range e.waiting {
		if w.number == d.Part && w.kind == kind {
			p = w
		}
	}
	if p == nil {
		p = &part{number: d.Part, kind: kind, id: d.ID, name: d.Name}
		e.waiting = append(e.waiting, p)
	}
	if d.Kind == wire.DeltaProof {
		p.proof += d.Text
	} else {
		p.text.WriteString(d.Text)
	}
}

func (e *encoder) partEnd(number int) {
	for _, w := range e.waiting {
		if w.number == number {
			w.closed = true
		}
	}
	if e.open == nil || e.open.number != number {
		return
	}
	e.close()
	e.advance(false)
}

// advance begins parts that waited, up to one that is still going on, or all.
func (e *encoder) advance(all bool) {
	for len(e.waiting) > 0 && e.open == nil {
		p := e.waiting[0]
		e.waiting = e.waiting[1:]
		e.begin(p)
		e.write(p.kind, p.text.String())
		if p.closed || all || p.kind != wire.DeltaCall {
			e.close()
		}
	}
}

func (e *encoder) flush() {
	e.close()
	e.advance(true)
}

func (e *encoder) begin(p *part) {
	e.open = p
	b := strconv.AppendInt([]byte(`{"type":"content_block_start","index":`), int64(e.index), 10)
	b = append(b, `,"content_block":{"type":`...)
	sig := wire.Quiet
	switch p.kind {
	case wire.DeltaCall:
		id := p.id
		if id == "" {
			id = e.head.ID + "." + strconv.Itoa(e.index)
		}
		b = wire.AppendString(append(b, `"tool_use","id":`...), wire.ToolID(id))
		b = append(wire.AppendString(append(b, `,"name":`...), p.name), `,"input":{}`...)
		sig = wire.Token
	case wire.DeltaReasoning:
		b = append(b, `"thinking","thinking":"","signature":""`...)
	case wire.DeltaText:
		b = append(b, `"text","text":""`...)
	default:
		return // sealed: it begins when it is whole
	}
	e.frame(blockStart, append(b, '}', '}'), sig)
}

// write adds to the open block.
func (e *encoder) write(kind wire.DeltaKind, text string) {
	if text == "" {
		return
	}
	switch kind {
	case wire.DeltaText:
		e.piece(`"text_delta","text":`, text)
	case wire.DeltaReasoning:
		e.piece(`"thinking_delta","thinking":`, text)
	case wire.DeltaCall:
		e.piece(`"input_json_delta","partial_json":`, text)
	}
}

func (e *encoder) piece(head, text string) {
	b := strconv.AppendInt([]byte(`{"type":"content_block_delta","index":`), int64(e.index), 10)
	b = append(append(b, `,"delta":{"type":`...), head...)
	e.frame(blockDelta, append(wire.AppendString(b, text), '}', '}'), wire.Token)
}

func (e *encoder) close() {
	p := e.open
	if p == nil {
		return
	}
	e.open = nil
	at := strconv.Itoa(e.index)
	switch p.kind {
	case wire.DeltaReasoning:
		if p.proof == "" {
			p.proof = unsigned
		}
		e.piece(`"signature_delta","signature":`, p.proof)
	case wire.DeltaProof:
		b := []byte(`{"type":"content_block_start","index":` + at + `,"content_block":{"type":"redacted_thinking","data":`)
		e.frame(blockStart, append(wire.AppendString(b, p.proof), '}', '}'), wire.Token)
	}
	e.frame(blockStop, []byte(`{"type":"content_block_stop","index":`+at+`}`), wire.Quiet)
	e.index++
}

// end writes the stop reason, if there was one, and the end.
func (e *encoder) end() {
	e.over = true
	if e.ended == nil {
		return
	}
	e.start(&wire.Delta{})
	e.flush()
	b := appendEnding([]byte(`{"type":"message_delta","delta":{`), e.ended.Ending, e.ended.Stop, e.called, e.refused)
	b = appendUsage(append(b, `},"usage":`...), &e.usage)
	e.frame(messageDelta, append(b, '}'), wire.Token)
	e.frame(messageStop, []byte(`{"type":"message_stop"}`), wire.Terminal)
}
