package anthropic

import (
	"bytes"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/follow"
)

// reader follows one stream.
type reader struct {
	follow.Stream

	done   bool   // message_stop was seen
	latest string // content text of the latest event
	finish string // finish reason of the latest event, in the shared words
	piece  string // tool input of the latest event
	tooled string // name of the tool that the latest event calls
	block  int    // of either of them
	begun  bool   // message_start was here
	seats  seats
}

// Reader follows a Messages stream.
//
// message_start, pings, the frames of blocks and empty deltas are Quiet;
// text, thinking, tool input and the begin of a tool call are Token; what is of
// no block that has begun is Malformed (see seats). A stop
// reason is progress only once there was content: an empty answer must not
// commit, so that End can still call it blank. A stop reason that nobody
// knows is a Fault; an error event behind one that is known is Quiet.
func (Room) Reader(r *wire.Request, a *wire.Reply) wire.StreamReader {
	return &reader{Stream: follow.Begin(r, a, backstop.Anthropic)}
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
	case !ok || d.stray(&e):
		d.Odd++
		return wire.Signal{Kind: wire.Malformed}
	}
	d.Events++
	return d.progress(ev, &e)
}

// stray reports whether an event stands where SDKs fail on it: a second begin
// of the message, a block before it, something of a block that never began.
func (d *reader) stray(e *event) bool {
	switch e.kind {
	case messageStart:
		before := d.begun
		d.begun = true
		return before
	case blockStart, blockDelta, blockStop:
		if !d.begun {
			return true
		}
		_, _, ok := d.seats.place(e)
		return !ok
	}
	return false
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
			d.Tool, d.tooled, d.block = true, e.root.Get("content_block.name").Str, e.index
		}
		thought := kind == "thinking" || kind == "redacted_thinking"
		if d.Reply.Crosses() && d.seats.foreign(e.index) {
			n, d.Lost = 0, true
		}
		d.content(&sig, n, !thought)
		d.Other = d.Other || !thought && kind != "text"
		if kind == "text" {
			d.latest = e.root.Get("content_block.text").Str
		}
	case blockDelta:
		text, said := e.text()
		if d.Reply.Crosses() && (e.root.Get("delta.type").Str == "citations_delta" || d.seats.foreign(e.index)) {
			text = ""
		}
		d.content(&sig, len(text), said)
		switch e.root.Get("delta.type").Str {
		case "text_delta":
			d.latest = text
		case "input_json_delta":
			d.piece, d.block = text, e.index
		case "citations_delta":
			d.Other = true
		}
		if d.Speaks && e.root.Get("delta.type").Str == "signature_delta" {
			sig.Kind = wire.Token
		}
	case messageDelta:
		return d.ending(ev, e)
	case messageStop:
		d.done = true
		return wire.Signal{Kind: wire.Terminal}
	}
	if sig.Kind == wire.Token {
		d.Tokens++
	}
	return sig
}

func (d *reader) content(sig *wire.Signal, n int, said bool) {
	if n > 0 {
		sig.Kind, sig.Bytes = wire.Token, n
		d.Speaks = true
		d.Said = d.Said || said
		d.Ends.Speak(0)
	}
}

// ending takes in the stop reason and the usage.
func (d *reader) ending(ev *sse.Event, e *event) wire.Signal {
	d.count(e.root.Get("usage"))
	reason := e.root.Get("delta.stop_reason").Str
	if reason != "" {
		switch finishOf(reason).Kind {
		case wire.FinishFault:
			return d.Broken(wire.JudgeFinish(d.seen(ev), reason))
		case wire.FinishLength, wire.FinishFilter:
			d.Lawful = true
		}
		if reason == "pause_turn" {
			d.Lawful = true
		}
		d.Ends.Finish(0)
		d.finish = finishOf(reason).Name
	}
	if d.Speaks || d.Lawful {
		d.Tokens++
		return wire.Signal{Kind: wire.Token}
	}
	return wire.Signal{Kind: wire.Quiet}
}

// count takes in a usage object; the input is all that the model read, from a
// cache or not.
func (d *reader) count(u gjson.Result) {
	v := usageOf(u)
	d.Count(v.Input, v.Output)
}

// inBand judges an error event.
func (d *reader) inBand(ev *sse.Event) wire.Signal {
	if d.Told() {
		return wire.Signal{Kind: wire.Quiet}
	}
	return d.Broken(wire.Judge(d.seen(ev)))
}

// seen is the event as the Judge wants it.
func (d *reader) seen(ev *sse.Event) *wire.Reply { return d.Seen(ev.Name, bytes.TrimSpace(ev.Data)) }

// End judges the whole. An unclean end after a stop reason is fine; without
// any token it is a reset, after one a cut.
func (d *reader) End(clean bool) backstop.Outcome {
	clean = clean || d.done
	return d.Verdict(d.Ends.Whole(clean), clean)
}

// AppendText implements wire.TextReader.
func (d *reader) AppendText(all []byte) []byte { return append(all, d.latest...) }
