package openai

import (
	"bytes"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

var (
	doneWord   = []byte("[DONE]")
	statusLine = []byte(":HTTP_STATUS/")
)

// reader follows one stream. Its state is a few words and one entry a choice.
type reader struct {
	request *wire.Request
	reply   wire.Reply // Surface, Event and Body are set per event
	unary   bool       // the caller waits for one body: nothing has been sent yet
	chunk   chunk
	choices []choiceState

	events int  // of the dialect
	odd    int  // malformed
	tokens int  // Token signals
	speaks bool // there was content or reasoning
	said   bool // there was content, or a refusal
	// answers: something other than reasoning and refusal was said. refuses:
	// there was a piece of a refusal, or a filter's finish reason.
	answers, refuses bool

	lawful bool // a finish reason that may stand without content
	tool   bool
	other  bool // there was something that is neither text, reasoning nor a tool call
	done   bool // [DONE] was seen
	fault  *backstop.Outcome

	input, output int // reported tokens, -1 = none
}

type choiceState struct {
	index    int
	finished bool
}

// Reader follows a stream of chat completions or legacy completions.
//
// Two rules go beyond the meaning of single events. A finish reason such as
// stop, and usage, are progress (Token) only once there was content: an empty
// answer must not commit, so that End can still call it blank. And a finish
// reason that means a broken answer, or that nobody knows, is a Fault.
//
// An error event after the finish reason is Quiet: the answer is whole and its
// caller knows so.
//
// Signal.Bytes counts content without its escapes.
func (Room) Reader(r *wire.Request, a *wire.Reply) wire.StreamReader {
	d := &reader{request: r, input: -1, output: -1, unary: r != nil && !r.Stream}
	if a != nil {
		d.reply = *a
	}
	if d.reply.Dialect == "" {
		d.reply.Dialect = backstop.OpenAI
	}
	return d
}

func (d *reader) Event(ev *sse.Event) wire.Signal {
	data := bytes.TrimSpace(ev.Data)
	switch {
	case ev.Name == "error" && !d.done:
		return d.inBand(ev, data)
	case ev.Comment, len(data) == 0, d.done:
		return wire.Signal{Kind: wire.Quiet}
	case bytes.Equal(data, doneWord):
		d.done = true
		return wire.Signal{Kind: wire.Terminal}
	case !d.chunk.parse(data):
		d.odd++
		return wire.Signal{Kind: wire.Malformed}
	case d.chunk.fault:
		return d.inBand(ev, data)
	}
	d.events++
	sig := d.progress(ev, data)
	sig.Parsed = &d.chunk
	return sig
}

// progress takes in a chunk that is no error.
func (d *reader) progress(ev *sse.Event, data []byte) wire.Signal {
	c, sig, ending := &d.chunk, wire.Signal{Kind: wire.Quiet}, false
	for i := range c.list {
		t := &c.list[i]
		sig.Bytes += t.bytes
		d.speaks = d.speaks || t.token
		d.answers = d.answers || t.said || t.tool
		d.said = d.said || t.said || t.refusal
		d.refuses = d.refuses || t.refusal
		d.tool = d.tool || t.tool
		d.other = d.other || t.other || t.index != 0
		if t.token {
			sig.Kind = wire.Token
		}
		state := d.choice(t.index)
		if !t.finish.there() {
			continue
		}
		reason := str(data, t.finish)
		switch wire.FinishOf(reason).Kind {
		case wire.FinishFault:
			return d.broken(wire.JudgeFinish(d.seen(ev, data), reason))
		case wire.FinishFilter:
			d.lawful, d.refuses = true, true
		case wire.FinishLength:
			d.lawful = true
		}
		state.finished, ending = true, true
	}
	if c.usage.there() {
		input, output := reported(data, c.usage)
		d.input, d.output = max(d.input, input), max(d.output, output)
		ending = ending || input >= 0 || output >= 0
	}
	if ending && (d.speaks || d.lawful) {
		sig.Kind = wire.Token
	}
	if sig.Kind == wire.Token {
		d.tokens++
	}
	return sig
}

// choice finds the state of a choice; a stream has few of them.
func (d *reader) choice(index int) *choiceState {
	for i := range d.choices {
		if d.choices[i].index == index {
			return &d.choices[i]
		}
	}
	d.choices = append(d.choices, choiceState{index: index})
	return &d.choices[len(d.choices)-1]
}

// inBand judges an error event.
func (d *reader) inBand(ev *sse.Event, data []byte) wire.Signal {
	if d.speaks && d.finished() {
		return wire.Signal{Kind: wire.Quiet}
	}
	return d.broken(JudgeEvent(d.request, d.seen(ev, data)))
}

func (d *reader) broken(o backstop.Outcome) wire.Signal {
	if d.fault == nil {
		d.fault = d.settle(o)
	}
	return wire.Signal{Kind: wire.Fault, Outcome: *d.fault}
}

// seen is the event as the Judge wants it. A DashScope status comment is part
// of the event and says more than its data.
func (d *reader) seen(ev *sse.Event, data []byte) *wire.Reply {
	a := d.reply
	a.Event, a.Body, a.Surface = ev.Name, data, d.surface()
	if ev.Name == "error" && bytes.Contains(ev.Raw, statusLine) {
		a.Body = ev.Raw
	}
	return &a
}

// surface: as long as the caller of a unary call has nothing, the call may
// still go elsewhere.
func (d *reader) surface() wire.Surface {
	if d.tokens > 0 && !d.unary {
		return wire.SurfaceMid
	}
	return wire.SurfaceFirst
}

// End judges the whole. An unclean end after all begun choices have finished
// is fine; without any token it is a reset, after one a cut.
func (d *reader) End(clean bool) backstop.Outcome {
	switch {
	case d.fault != nil:
		return *d.settle(*d.fault)
	case d.finished():
		if d.blank() {
			a := d.reply
			a.Surface, a.Body = d.surface(), nil
			return *d.settle(wire.JudgeBlank(&a))
		}
		a := d.reply
		return *d.settle(wire.Good(&a, true))
	case d.tokens > 0:
		return d.garbled(backstop.KindCut)
	case !clean && !d.done:
		return *d.settle(backstop.Outcome{
			Class: backstop.Broken, Kind: backstop.KindReset, Counts: backstop.CountsModel, RetrySame: true, NextTier: true,
		})
	case d.events > 0:
		return d.garbled(backstop.KindCut)
	case d.odd > 0:
		return d.garbled(backstop.KindProtocol)
	}
	return d.garbled(backstop.KindEmpty)
}

// blank reports whether the answer may not stand as it is: nothing but a stop.
// Reasoning alone is no answer either, but a stream caller already has it.
func (d *reader) blank() bool {
	return !d.lawful && !d.said && (d.unary || !d.speaks)
}

// finished reports whether every choice that began has ended.
func (d *reader) finished() bool {
	for i := range d.choices {
		if !d.choices[i].finished {
			return false
		}
	}
	return len(d.choices) > 0
}

func (d *reader) garbled(kind backstop.Kind) backstop.Outcome {
	return *d.settle(backstop.Outcome{
		Class: backstop.Garbled, Kind: kind, Counts: backstop.CountsModel, RetrySame: true, NextTier: true,
	})
}

// settle adds what the reader knows to a verdict: tokens, and that a started
// answer is not asked for again at the same place.
func (d *reader) settle(o backstop.Outcome) *backstop.Outcome {
	o.InputTokens, o.OutputTokens = d.input, d.output
	if o.Status == 0 {
		o.Status = d.reply.Status
	}
	if d.tokens > 0 {
		o.RetrySame = false
		o.NextTier = o.NextTier && d.unary
	}
	return &o
}

func (d *reader) Usage() (input, output int) { return d.input, d.output }

func (d *reader) ToolBegun() bool { return d.tool }

// Refusing implements wire.Refuser.
func (d *reader) Refusing() bool { return d.refuses && !d.answers }

// AppendText implements wire.TextReader.
func (d *reader) AppendText(all []byte) []byte {
	for i := range d.chunk.list {
		if s := d.chunk.list[i].content; s.there() {
			all = appendDecoded(all, s.inner(d.chunk.b))
		}
	}
	return all
}

// TextOnly implements wire.TextReader.
func (d *reader) TextOnly() bool { return !d.tool && !d.other }
