package openai

import (
	"strconv"

	"backstop/wire"
)

// Encoder makes the chunks of a chat stream. The terminal event is [DONE];
// usage is one chunk without choices at the end, for the writer to pass on or
// not.
func (Room) Encoder(h wire.Head) wire.Encoder { return &encoder{head: h} }

type encoder struct {
	head    wire.Head
	opening []byte // of every chunk, up to the choices
	roles   []bool // by choice: the role went out
	calls   [][]callOut
	usage   wire.Usage
	out     []wire.Framed
}

// callOut is a tool call that began.
type callOut struct {
	part   int
	argued bool // arguments of it went out
}

func (e *encoder) Encode(list []wire.Delta) []wire.Framed {
	e.out = e.out[:0]
	for i := range list {
		e.delta(&list[i])
	}
	return e.out
}

func (e *encoder) delta(d *wire.Delta) {
	if d.Choice < 0 || d.Choice >= maxChoices {
		return
	}
	switch d.Kind {
	case wire.DeltaStart:
		e.start(d)
	case wire.DeltaText:
		e.text("content", d)
	case wire.DeltaReasoning:
		e.text("reasoning_content", d)
	case wire.DeltaRefusal:
		e.text("refusal", d)
	case wire.DeltaCall, wire.DeltaArguments:
		e.call(d)
	case wire.DeltaFinish:
		e.finish(d)
	case wire.DeltaUsage:
		if e.opening == nil {
			e.usage = wire.NoUsage()
		}
		e.usage.Merge(d.Usage)
	case wire.DeltaDone:
		if e.opening != nil && e.usage.Reported() {
			e.frame(append(appendUsage(append(e.begin(), `[],"usage":`...), &e.usage), '}'), wire.Token)
		}
		e.frame([]byte("[DONE]"), wire.Terminal)
	}
}

// finish ends a choice. Who called a tool without arguments called it with none,
// and callers parse them; of one that was cut nobody knows.
func (e *encoder) finish(d *wire.Delta) {
	var calls []callOut
	if d.Choice < len(e.calls) {
		calls = e.calls[d.Choice]
	}
	for n := range calls {
		if !calls[n].argued && d.Ending != wire.EndLength && d.Ending != wire.EndContext {
			b := strconv.AppendInt([]byte(`"tool_calls":[{"index":`), int64(n), 10)
			e.choice(d.Choice, wire.Token, append(b, `,"function":{"arguments":"{}"}}]`...), "")
		}
	}
	e.choice(d.Choice, wire.Token, nil, finishWord(d.Ending, len(calls) > 0))
}

func (e *encoder) start(d *wire.Delta) {
	if e.opening != nil {
		return
	}
	h := e.head
	if d.ID != "" {
		h.ID = d.ID
	}
	if d.Model != "" {
		h.Model = d.Model
	}
	if d.Created > 0 {
		h.Created = d.Created
	}
	b := appendString([]byte(`{"id":`), h.ID)
	b = strconv.AppendInt(append(b, `,"object":"chat.completion.chunk","created":`...), h.Created, 10)
	e.opening = append(appendString(append(b, `,"model":`...), h.Model), `,"choices":`...)
	e.usage = wire.NoUsage()
	e.role(0)
}

// role is the first chunk of a choice.
func (e *encoder) role(index int) {
	for len(e.roles) <= index {
		e.roles = append(e.roles, false)
		e.calls = append(e.calls, nil)
	}
	if !e.roles[index] {
		e.roles[index] = true
		e.choice(index, wire.Quiet, []byte(`"role":"assistant","content":""`), "")
	}
}

// choice writes a chunk of one choice with the members of its delta.
func (e *encoder) choice(index int, kind wire.SignalKind, members []byte, finish string) {
	if e.opening == nil {
		e.start(&wire.Delta{})
	}
	e.role(index)
	b := strconv.AppendInt(append(e.begin(), `[{"index":`...), int64(index), 10)
	b = append(append(append(b, `,"delta":{`...), members...), `},"finish_reason":`...)
	if finish == "" {
		b = append(b, "null"...)
	} else {
		b = appendString(b, finish)
	}
	e.frame(append(b, "}]}"...), kind)
}

func (e *encoder) begin() []byte {
	return append(make([]byte, 0, len(e.opening)+128), e.opening...)
}

func (e *encoder) frame(data []byte, kind wire.SignalKind) {
	e.out = append(e.out, wire.Framed{Data: data, Kind: kind})
}

func (e *encoder) text(name string, d *wire.Delta) {
	if d.Text == "" {
		return
	}
	b := append(append([]byte{'"'}, name...), '"', ':')
	e.choice(d.Choice, wire.Token, appendString(b, d.Text), "")
}

// call numbers the calls of a choice from 0, whatever stands between them.
func (e *encoder) call(d *wire.Delta) {
	if e.opening == nil {
		e.start(&wire.Delta{})
	}
	e.role(d.Choice)
	parts := e.calls[d.Choice]
	n := len(parts)
	for i := range parts {
		if parts[i].part == d.Part {
			n = i
		}
	}
	if n == maxCalls {
		return
	}
	b := strconv.AppendInt([]byte(`"tool_calls":[{"index":`), int64(n), 10)
	if n == len(parts) {
		e.calls[d.Choice] = append(parts, callOut{part: d.Part})
		id := d.ID
		if id == "" {
			id = e.head.ID + "." + strconv.Itoa(n)
		}
		b = appendString(append(b, `,"id":`...), wire.ToolID(id))
		b = appendString(append(b, `,"type":"function","function":{"name":`...), d.Name)
		b = append(b, `,"arguments":`...)
	} else {
		b = append(b, `,"function":{"arguments":`...)
	}
	e.calls[d.Choice][n].argued = e.calls[d.Choice][n].argued || d.Text != ""
	e.choice(d.Choice, wire.Token, append(appendString(b, d.Text), "}}]"...), "")
}
