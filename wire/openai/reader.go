package openai

import (
	"bytes"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/follow"
)

var (
	doneWord   = []byte("[DONE]")
	statusLine = []byte(":HTTP_STATUS/")
)

// reader follows one stream. Its state is a few words and one entry a choice.
type reader struct {
	follow.Stream
	request *wire.Request
	chunk   chunk

	// answers: something other than reasoning and refusal was said. refuses:
	// there was a piece of a refusal, or a filter's finish reason.
	answers, refuses bool
	done             bool // [DONE] was seen
}

// Reader follows a stream of chat completions or legacy completions.
//
// Two rules go beyond the meaning of single events. A finish reason such as
// stop, and usage, are progress (Token) only once there was content: an empty
// answer must not commit, so that End can still call it blank. And a finish
// reason that means a broken answer, or that nobody knows, is a Fault.
//
// A chunk with nothing but pieces of tool calls that never began is Malformed.
//
// An error event after the finish reason is Quiet: the answer is whole and its
// caller knows so.
//
// Signal.Bytes counts content without its escapes.
func (Room) Reader(r *wire.Request, a *wire.Reply) wire.StreamReader {
	d := &reader{Stream: follow.Begin(r, a, backstop.OpenAI), request: r}
	d.chunk.book.kept, d.chunk.crosses = true, d.Reply.Crosses()
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
		d.Odd++
		return wire.Signal{Kind: wire.Malformed}
	case d.chunk.fault:
		return d.inBand(ev, data)
	case d.chunk.onlyStray():
		d.Odd++
		return wire.Signal{Kind: wire.Malformed}
	}
	d.Events++
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
		d.Speaks = d.Speaks || t.token
		d.answers = d.answers || t.said || t.tool
		d.Said = d.Said || t.said || t.refusal
		d.refuses = d.refuses || t.refusal
		d.Tool = d.Tool || t.tool
		d.Other = d.Other || t.other || t.index != 0
		d.Lost = d.Lost || t.lost
		if d.Ends.Begin(t.index); t.token {
			sig.Kind = wire.Token
			d.Ends.Speak(t.index)
		}
		if !t.finish.there() {
			continue
		}
		reason := str(data, t.finish)
		switch wire.FinishOf(reason).Kind {
		case wire.FinishFault:
			return d.Broken(wire.JudgeFinish(d.seen(ev, data), reason))
		case wire.FinishFilter:
			d.Lawful, d.refuses = true, true
		case wire.FinishLength:
			d.Lawful = true
		}
		d.Ends.Finish(t.index)
		ending = true
	}
	if c.usage.there() {
		input, output := reported(data, c.usage)
		d.Count(input, output)
		ending = ending || input >= 0 || output >= 0
	}
	if ending && (d.Speaks || d.Lawful) {
		sig.Kind = wire.Token
	}
	if sig.Kind == wire.Token {
		d.Tokens++
	}
	return sig
}

// inBand judges an error event.
func (d *reader) inBand(ev *sse.Event, data []byte) wire.Signal {
	if d.Told() {
		return wire.Signal{Kind: wire.Quiet}
	}
	return d.Broken(JudgeEvent(d.request, d.seen(ev, data)))
}

// seen is the event as the Judge wants it. A DashScope status comment is part
// of the event and says more than its data.
func (d *reader) seen(ev *sse.Event, data []byte) *wire.Reply {
	if ev.Name == "error" && bytes.Contains(ev.Raw, statusLine) {
		data = ev.Raw
	}
	return d.Seen(ev.Name, data)
}

// End judges the whole. An unclean end after all choices have finished is fine;
// without any token it is a reset, after one a cut.
func (d *reader) End(clean bool) backstop.Outcome {
	clean = clean || d.done
	return d.Verdict(d.Ends.Whole(clean), clean)
}

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
