package responses

import (
	"bytes"
	"strings"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/follow"
	"backstop/wire/internal/intake"
)

var doneWord = []byte("[DONE]")

// reader follows one stream.
type reader struct {
	follow.Stream
	ev    event
	heard heard

	ended  bool   // completed or incomplete
	latest string // content text of the latest event
	finish string // finish reason of the latest event, in the words that all rooms share
	piece  string // of arguments, of the latest event
	// plain: something other than reasoning and refusal was said. refuses:
	// there was a piece of a refusal, or a filter ended the answer.
	plain, refuses bool
	calls          map[int]bool // items that have begun, latest = any
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
	d := &reader{Stream: follow.Begin(r, a, backstop.Responses)}
	d.Reply.Dialect = backstop.Responses // the upstream may be one of the OpenAI dialect otherwise
	return d
}

func (d *reader) Event(ev *sse.Event) wire.Signal {
	quiet := wire.Signal{Kind: wire.Quiet}
	d.latest, d.finish, d.piece = "", "", ""
	if data := bytes.TrimSpace(ev.Data); d.ended || ev.Comment || len(data) == 0 || bytes.Equal(data, doneWord) {
		return quiet
	}
	if !d.ev.parse(ev) {
		if ev.Name == errorEvent || intake.Filled(d.ev.root.Get("error")) {
			return d.inBand(ev)
		}
		d.Odd++
		return wire.Signal{Kind: wire.Malformed}
	}
	if d.ev.kind == errorEvent || d.ev.kind == failed || ev.Name == errorEvent || d.ev.alien() {
		return d.inBand(ev)
	}
	if d.stray(&d.ev) {
		d.Odd++
		return wire.Signal{Kind: wire.Malformed}
	}
	d.Events++
	sig := d.progress(ev)
	if sig.Kind == wire.Token {
		d.Tokens++
	}
	sig.Parsed = &d.ev
	return sig
}

// stray reports whether an event is the input of a tool call that never began:
// nobody could make that.
func (d *reader) stray(e *event) bool {
	switch {
	case e.kind == itemAdded:
		if d.calls == nil {
			d.calls = map[int]bool{}
		}
		d.calls[e.item], d.calls[latest] = true, true
	case e.kind == callDelta, e.kind == callDone, strings.HasPrefix(e.kind, customInput):
		return !d.calls[e.item]
	}
	return false
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
		d.Other, d.plain = true, true
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
			d.Other, d.refuses = true, true
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
		d.Tool = d.Tool || kind == "function_call" || kind == "custom_tool_call"
		d.Other, d.plain = true, true
		d.content(sig, max(len(d.ev.body.Get("name").Str), 1), true)
	}
}

func (d *reader) content(sig *wire.Signal, n int, said bool) {
	if n > 0 {
		sig.Kind, sig.Bytes = wire.Token, n
		d.Speaks = true
		d.Said = d.Said || said
	}
}

// ending takes in the event that holds the whole answer.
func (d *reader) ending(ev *sse.Event) wire.Signal {
	response := d.ev.body
	u := usageOf(response.Get("usage"))
	d.Count(u.Input, u.Output)
	if response.Get("error").IsObject() {
		return d.inBand(ev)
	}
	end, fault := endOf(response)
	if fault != "" {
		return d.Broken(wire.JudgeFinish(d.seen(ev), fault))
	}
	c := countOf(response.Get("output"))
	d.Said = d.Said || c.said || c.refused
	d.Tool = d.Tool || c.called
	d.Lawful = d.ev.kind == incomplete || end == wire.EndLength || end == wire.EndRefusal
	d.refuses = d.refuses || c.refused || end == wire.EndRefusal
	d.plain = d.plain || c.said
	d.ended, d.finish = true, finishWord(response, &c)
	if d.finish == "stop" && d.Tool {
		d.finish = "tool_calls" // the output may be missing here
	}
	return wire.Signal{Kind: wire.Terminal}
}

// inBand judges an error event.
func (d *reader) inBand(ev *sse.Event) wire.Signal { return d.Broken(wire.Judge(d.seen(ev))) }

// seen is the event as the Judge wants it: whatever its name, it is an error.
func (d *reader) seen(ev *sse.Event) *wire.Reply { return d.Seen(errorEvent, bytes.TrimSpace(ev.Data)) }

// End judges the whole. An unclean end after the last event is fine; without
// any token it is a reset, after one a cut.
func (d *reader) End(clean bool) backstop.Outcome { return d.Verdict(d.ended, clean) }

// AppendText implements wire.TextReader.
func (d *reader) AppendText(all []byte) []byte { return append(all, d.latest...) }
