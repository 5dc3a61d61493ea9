package responses

import (
	"backstop/wire"
)

// Encoder makes the events of a stream.
//
// Every item has its whole life: a message or a summary ends when something
// else begins, a tool call when something follows that its upstream ended it
// before: only then is known that it was not cut. The last event repeats the
// whole answer, as the form demands.
func (Room) Encoder(h wire.Head) wire.Encoder {
	e := &encoder{head: h, usage: wire.NoUsage()}
	e.put = func(kind string, data []byte, sig wire.SignalKind) {
		e.out = append(e.out, wire.Framed{Name: kind, Data: data, Kind: sig})
	}
	return e
}

type encoder struct {
	scribe
	head    wire.Head
	began   bool
	names   answerName
	usage   wire.Usage
	calls   map[int]int // open tool calls, by part: their items
	closing []int       // items of those that were ended, but not yet here
	thought int         // the part whose reasoning is open
	ended   *wire.Delta
	over    bool
	out     []wire.Framed
}

// Encode implements wire.Encoder.
func (e *encoder) Encode(list []wire.Delta) []wire.Framed {
	e.out = e.out[:0]
	for i := range list {
		if list[i].Choice == 0 && !e.over {
			e.delta(&list[i])
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
	case wire.DeltaFinish:
		end := *d
		e.ended = &end
	case wire.DeltaDone:
		e.finishAnswer()
	case wire.DeltaPartEnd:
		e.partEnd(d.Part)
	case wire.DeltaProof:
	default:
		e.start(&wire.Delta{})
		e.endCalls()
		if len(e.items) < maxItems {
			e.content(d)
		}
	}
}

func (e *encoder) start(d *wire.Delta) {
	if e.began {
		return
	}
	e.began = true
	e.names = answerName{id: e.head.ID, created: e.head.Created, model: e.head.Model, asked: repetition(e.head.Asked)}
	if d.ID != "" {
		e.names.id = d.ID
	}
	if d.Model != "" {
		e.names.model = d.Model
	}
	if d.Created > 0 {
		e.names.created = d.Created
	}
	e.answer = e.names.id
	response := append([]byte(`"response":`), e.names.begun()...)
	e.emit(created, response, wire.Quiet)
	e.emit(inProgress, response, wire.Quiet)
}

func (e *encoder) content(d *wire.Delta) {
	switch d.Kind {
	case wire.DeltaCall:
		if e.calls == nil {
			e.calls = map[int]int{}
		}
		at := e.call(callID(d.ID, e.answer, len(e.items)), d.Name)
		e.calls[d.Part] = at
		e.argue(at, d.Text)
	case wire.DeltaArguments:
		if at, ok := e.calls[d.Part]; ok {
			e.argue(at, d.Text)
		}
	case wire.DeltaReasoning:
		if d.Text == "" {
			return
		}
		if _, open := e.speaking("reasoning"); open && e.thought != d.Part {
			e.shutTalk()
		}
		e.thought = d.Part
		e.think(d.Text)
	case wire.DeltaText, wire.DeltaRefusal:
		if d.Text == "" {
			return
		}
		kind := "output_text"
		if d.Kind == wire.DeltaRefusal {
			kind = "refusal"
		}
		e.say(kind, d.Text)
	}
}

// partEnd hears that a tool call ended. Messages go on: pieces of text that
// follow each other are one text here.
func (e *encoder) partEnd(number int) {
	if at, ok := e.calls[number]; ok {
		e.closing = append(e.closing, at)
		delete(e.calls, number)
	}
}

// endCalls ends the tool calls that something follows.
func (e *encoder) endCalls() {
	for _, at := range e.closing {
		e.end(at)
	}
	e.closing = e.closing[:0]
}

// finishAnswer writes the end, if there was a finish reason.
func (e *encoder) finishAnswer() {
	e.over = true
	if e.ended == nil {
		return
	}
	e.start(&wire.Delta{})
	e.cut = limited(e.ended.Ending)
	e.shut()
	kind, end := completed, e.ended.Ending
	switch end {
	case wire.EndLength, wire.EndContext, wire.EndRefusal:
		kind = incomplete
	}
	e.emit(kind, append([]byte(`"response":`), e.names.object(end, e.output(), &e.usage)...), wire.Terminal)
}
