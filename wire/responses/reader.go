package responses

import (
	"bytes"
	"strings"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

var doneWord = []byte("[DONE]")

// reader follows one stream.
type reader struct {
	reply wire.Reply // Surface, Event and Body are set per event
	unary bool       // the caller waits for one body: nothing has been sent yet
	ev    event
	heard heard

	events int  // of the dialect
	odd    int  // malformed
	tokens int  // Token signals
	speaks bool // there was content or reasoning
	said   bool // there was content
	lawful bool // an end that may stand without content
	tool   bool
	ended  bool // completed or incomplete
	fault  *backstop.Outcome
	latest string // content text of the latest event
	finish string // finish reason of the latest event, in the words that all rooms share
	piece  string // of arguments, of the latest event
	other  bool   // something that is neither text nor reasoning began
	// plain: something other than reasoning and refusal was said. refuses:
	// there was a piece of a refusal, or a filter ended the answer.
	plain, refuses bool

	input, output int // reported tokens, -1 = none
}

// Reader follows a stream.
//
// created, in_progress, queued, the frames of items and parts, and empty
// deltas are Quiet; text, reasoning, arguments, refusals, the begin of a tool
// call and what a tool of the vendor's does are Token. completed and
// incomplete are Terminal: they alone end an answer, and without content End
// still calls it blank. failed and error are a Fault, and so is a completed
// answer whose status says otherwise.
func (Room) Reader(r *wire.Request, a *wire.Reply) wire.StreamReader {
	d := &reader{input: -1, output: -1, unary: r != nil && !r.Stream}
	if a != nil {
		d.reply = *own(a)
	}
	d.reply.Dialect = backstop.Responses
	return d
}

func (d *reader) Event(ev *sse.Event) wire.Signal {
	quiet := wire.Signal{Kind: wire.Quiet}
	d.latest, d.finish, d.piece = "", "", ""
	if data := bytes.TrimSpace(ev.Data); d.ended || ev.Comment || len(data) == 0 || bytes.Equal(data, doneWord) {
		return quiet
	}
	if !d.ev.parse(ev) {
		if ev.Name == errorEvent || filled(d.ev.root.Get("error")) {
			return d.inBand(ev)
		}
		d.odd++
		return wire.Signal{Kind: wire.Malformed}
	}
	if d.ev.kind == errorEvent || d.ev.kind == failed || ev.Name == errorEvent || d.ev.alien() {
		return d.inBand(ev)
	}
	d.events++
	sig := d.progress(ev)
	if sig.Kind == wire.Token {
		d.tokens++
	}
	sig.Parsed = &d.ev
	return sig
}

// progress takes in an event that is no error.
func (d *reader) progress(ev *sse.Event) wire.Signal {
	sig := wire.Signal{Kind: wire.Quiet}
	e := &d.ev
	switch {
	case e.ends():
		return d.ending(ev)
	case e.kind == itemAdded:
		d.begins(&sig)
	case e.kind == cited, strings.HasPrefix(e.kind, "response.audio."), strings.HasPrefix(e.kind, "response.custom_tool_call_input"), e.acts():
		d.other, d.plain = true, true
		d.content(&sig, max(len(e.delta), 1), true)
	default:
		kind, text := d.heard.brings(e)
		d.content(&sig, len(text), spoken[kind])
		switch kind {
		case textDelta:
			d.latest, d.plain = text, true
		case callDelta:
			d.piece, d.plain = text, true
		case refusalDelta:
			d.other, d.refuses = true, true
		}
	}
	return sig
}

// begins takes in a new item: a tool call is something to show for, the frame
// of a message is not.
func (d *reader) begins(sig *wire.Signal) {
	switch kind := d.ev.body.Get("type").Str; kind {
	case "message", "reasoning":
	default:
		d.tool = d.tool || kind == "function_call" || kind == "custom_tool_call"
		d.other, d.plain = true, true
		d.content(sig, max(len(d.ev.body.Get("name").Str), 1), true)
	}
}

func (d *reader) content(sig *wire.Signal, n int, said bool) {
	if n > 0 {
		sig.Kind, sig.Bytes = wire.Token, n
		d.speaks = true
		d.said = d.said || said
	}
}

// ending takes in the event that holds the whole answer.
func (d *reader) ending(ev *sse.Event) wire.Signal {
	response := d.ev.body
	u := usageOf(response.Get("usage"))
	d.input, d.output = max(d.input, u.Input), max(d.output, u.Output)
	if response.Get("error").IsObject() {
		return d.inBand(ev)
	}
	end, fault := endOf(response)
	if fault != "" {
		return d.broken(wire.JudgeFinish(d.seen(ev), fault))
	}
	c := countOf(response.Get("output"))
	d.said = d.said || c.said || c.refused
	d.tool = d.tool || c.called
	d.lawful = d.ev.kind == incomplete || end == wire.EndLength || end == wire.EndRefusal
	d.refuses = d.refuses || c.refused || end == wire.EndRefusal
	d.plain = d.plain || c.said
	d.ended, d.finish = true, finishWord(response, &c)
	if d.finish == "stop" && d.tool {
		d.finish = "tool_calls" // the output may be missing here
	}
	return wire.Signal{Kind: wire.Terminal}
}

// inBand judges an error event.
func (d *reader) inBand(ev *sse.Event) wire.Signal { return d.broken(wire.Judge(d.seen(ev))) }

func (d *reader) broken(o backstop.Outcome) wire.Signal {
	if d.fault == nil {
		d.fault = d.settle(o)
	}
	return wire.Signal{Kind: wire.Fault, Outcome: *d.fault}
}

// seen is the event as the Judge wants it: whatever its name, it is an error.
func (d *reader) seen(ev *sse.Event) *wire.Reply {
	a := d.reply
	a.Event, a.Body, a.Surface = errorEvent, bytes.TrimSpace(ev.Data), d.surface()
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

// End judges the whole. An unclean end after the last event is fine; without
// any token it is a reset, after one a cut.
func (d *reader) End(clean bool) backstop.Outcome {
	a := d.reply
	a.Surface, a.Body = d.surface(), nil
	switch {
	case d.fault != nil:
		return *d.settle(*d.fault)
	case d.ended && !d.lawful && !d.said && (d.unary || !d.speaks):
		return *d.settle(wire.JudgeBlank(&a))
	case d.ended:
		return *d.settle(wire.Good(&a, true))
	case d.tokens > 0:
		return d.garbled(backstop.KindCut)
	case !clean:
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

// Usage implements wire.StreamReader.
func (d *reader) Usage() (input, output int) { return d.input, d.output }

// ToolBegun implements wire.StreamReader.
func (d *reader) ToolBegun() bool { return d.tool }

// AppendText implements wire.TextReader.
func (d *reader) AppendText(all []byte) []byte { return append(all, d.latest...) }

// TextOnly implements wire.TextReader.
func (d *reader) TextOnly() bool { return !d.tool && !d.other }
