package anthropic

import (
	"bytes"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
)

// reader follows one stream.
type reader struct {
	reply wire.Reply // Surface, Event and Body are set per event
	unary bool       // the caller waits for one body: nothing has been sent yet

	events int  // of the dialect
	odd    int  // malformed
	tokens int  // Token signals
	speaks bool // there was content or thinking
	said   bool // there was content
	lawful bool // a stop reason that may stand without content
	tool   bool
	ended  bool // a stop reason was seen
	done   bool // message_stop was seen
	fault  *backstop.Outcome
	latest string // content text of the latest event
	finish string // finish reason of the latest event, in the shared words
	piece  string // tool input of the latest event
	tooled string // name of the tool that the latest event calls
	block  int    // of either of them
	other  bool   // something that is neither text nor thinking began

	input, output int // reported tokens, -1 = none
}

// Reader follows a Messages stream.
//
// message_start, pings, the frames of blocks and empty deltas are Quiet;
// text, thinking, tool input and the begin of a tool call are Token. A stop
// reason is progress only once there was content: an empty answer must not
// commit, so that End can still call it blank. A stop reason that nobody
// knows is a Fault.
func (Room) Reader(r *wire.Request, a *wire.Reply) wire.StreamReader {
	d := &reader{input: -1, output: -1, unary: r != nil && !r.Stream}
	if a != nil {
		d.reply = *a
	}
	if d.reply.Dialect == "" {
		d.reply.Dialect = backstop.Anthropic
	}
	return d
}

func (d *reader) Event(ev *sse.Event) wire.Signal {
	quiet := wire.Signal{Kind: wire.Quiet}
	d.latest, d.finish, d.piece, d.tooled = "", "", "", ""
	if d.done || ev.Comment {
		return quiet
	}
	if ev.Name == errorEvent {
		return d.inBand(ev)
	}
	if len(bytes.TrimSpace(ev.Data)) == 0 {
		return quiet
	}
	e, ok := parse(ev)
	switch {
	case !ok && e.root.Exists() && e.root.Get("error").IsObject(), ok && e.kind == errorEvent:
		return d.inBand(ev)
	case !ok:
		d.odd++
		return wire.Signal{Kind: wire.Malformed}
	}
	d.events++
	return d.progress(ev, &e)
}

// progress takes in an event that is no error.
func (d *reader) progress(ev *sse.Event, e *event) wire.Signal {
	sig := wire.Signal{Kind: wire.Quiet}
	switch e.kind {
	case messageStart:
		d.count(e.root.Get("message.usage"))
	case blockStart:
		kind, n := e.begins()
		if kind == "tool_use" {
			d.tool, d.tooled, d.block = true, e.root.Get("content_block.name").Str, e.index
		}
		thought := kind == "thinking" || kind == "redacted_thinking"
		d.content(&sig, n, !thought)
		d.other = d.other || !thought && kind != "text"
		if kind == "text" {
			d.latest = e.root.Get("content_block.text").Str
		}
	case blockDelta:
		text, said := e.text()
		d.content(&sig, len(text), said)
		switch e.root.Get("delta.type").Str {
		case "text_delta":
			d.latest = text
		case "input_json_delta":
			d.piece, d.block = text, e.index
		case "citations_delta":
			d.other = true
		}
		if d.speaks && e.root.Get("delta.type").Str == "signature_delta" {
			sig.Kind = wire.Token
		}
	case messageDelta:
		return d.ending(ev, e)
	case messageStop:
		d.done = true
		return wire.Signal{Kind: wire.Terminal}
	}
	if sig.Kind == wire.Token {
		d.tokens++
	}
	return sig
}

func (d *reader) content(sig *wire.Signal, n int, said bool) {
	if n > 0 {
		sig.Kind, sig.Bytes = wire.Token, n
		d.speaks = true
		d.said = d.said || said
	}
}

// ending takes in the stop reason and the usage.
func (d *reader) ending(ev *sse.Event, e *event) wire.Signal {
	d.count(e.root.Get("usage"))
	reason := e.root.Get("delta.stop_reason").Str
	if reason != "" {
		switch finishOf(reason).Kind {
		case wire.FinishFault:
			return d.broken(wire.JudgeFinish(d.seen(ev), reason))
		case wire.FinishLength, wire.FinishFilter:
			d.lawful = true
		}
		if reason == "pause_turn" {
			d.lawful = true
		}
		d.ended, d.finish = true, finishOf(reason).Name
	}
	if d.speaks || d.lawful {
		d.tokens++
		return wire.Signal{Kind: wire.Token}
	}
	return wire.Signal{Kind: wire.Quiet}
}

// count takes in a usage object; the input is all that the model read, from a
// cache or not.
func (d *reader) count(u gjson.Result) {
	v := usageOf(u)
	d.input, d.output = max(d.input, v.Input), max(d.output, v.Output)
}

// inBand judges an error event.
func (d *reader) inBand(ev *sse.Event) wire.Signal { return d.broken(wire.Judge(d.seen(ev))) }

func (d *reader) broken(o backstop.Outcome) wire.Signal {
	if d.fault == nil {
		d.fault = d.settle(o)
	}
	return wire.Signal{Kind: wire.Fault, Outcome: *d.fault}
}

// seen is the event as the Judge wants it.
func (d *reader) seen(ev *sse.Event) *wire.Reply {
	a := d.reply
	a.Event, a.Body, a.Surface = ev.Name, bytes.TrimSpace(ev.Data), d.surface()
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

// End judges the whole. An unclean end after a stop reason is fine; without
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

// AppendText implements wire.TextReader.
func (d *reader) AppendText(all []byte) []byte { return append(all, d.latest...) }

// TextOnly implements wire.TextReader.
func (d *reader) TextOnly() bool { return !d.tool && !d.other }
