package gemini

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Decoder reads the events of a stream. The dialect never says that the stream
// is over.
func (Room) Decoder() wire.Decoder { return &decoder{} }

type decoder struct {
	list    []wire.Delta
	usage   edit.Fields // raw counts, as the events report them
	started bool
	id      string // of the answer
	calls   int
	ended   bool // there was a finish reason
	said    [maxCandidates]struct {
		parts  int
		last   wire.DeltaKind // of the part that text may still be added to
		called bool
	}
}

func (d *decoder) Event(ev *sse.Event) []wire.Delta {
	d.list = d.list[:0]
	c, ok := parse(ev)
	if !ok {
		return nil
	}
	d.usage.Merge(c.usage)
	usage := usageOf(gjson.ParseBytes(d.usage.AppendTo(nil)))
	report := func() {
		if usage.Reported() {
			d.add(wire.Delta{Kind: wire.DeltaUsage, Usage: usage})
		}
	}
	if !d.started {
		d.started = true
		d.id = c.root.Get("responseId").Str
		report() // for those who tell it at the begin
		d.add(wire.Delta{Kind: wire.DeltaStart, ID: d.id, Model: c.root.Get("modelVersion").Str})
	}
	c.each(d.candidate)
	report()
	if c.blocked() && !c.candidates.Get("0").Exists() && !d.ended {
		d.add(wire.Delta{Kind: wire.DeltaFinish, Ending: wire.EndRefusal})
	}
	return d.list
}

func (d *decoder) add(one wire.Delta) { d.list = append(d.list, one) }

func (d *decoder) candidate(index int, v gjson.Result) {
	s := &d.said[index]
	losses(v, func(name string) { d.add(wire.Delta{Kind: wire.DeltaLost, Choice: index, Name: name}) })
	eachPart(v, func(p gjson.Result, kind pieceKind, _ int) {
		switch kind {
		case pieceText, pieceThought:
			delta := wire.DeltaText
			if kind == pieceThought {
				delta = wire.DeltaReasoning
			}
			if s.last != delta {
				s.last = delta
				s.parts++
			}
			d.add(wire.Delta{Kind: delta, Choice: index, Part: s.parts - 1, Text: wire.Spoken(p.Get("text"))})
		case pieceCall:
			s.last, s.called = wire.DeltaCall, true
			s.parts++
			d.call(index, s.parts-1, p)
		}
	})
	if reason := finish(v); reason != "" {
		d.ended = true
		d.add(wire.Delta{Kind: wire.DeltaFinish, Choice: index, Ending: ending(reason, s.called)})
	}
}

// call tells a function call, which always comes as a whole.
func (d *decoder) call(index, number int, p gjson.Result) {
	call, _ := decoded(p, pieceCall)
	if call.ID == "" && d.id != "" {
		call.ID = wire.ToolID(d.id + "." + strconv.Itoa(d.calls))
	}
	d.calls++
	d.add(wire.Delta{Kind: wire.DeltaCall, Choice: index, Part: number, ID: call.ID, Name: call.Name})
	d.add(wire.Delta{Kind: wire.DeltaArguments, Choice: index, Part: number, Text: call.Arguments})
	d.add(wire.Delta{Kind: wire.DeltaPartEnd, Choice: index, Part: number})
}
