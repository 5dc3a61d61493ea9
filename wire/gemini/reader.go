package gemini

import (
	"bytes"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/follow"
	"backstop/wire/internal/intake"
)

// reader follows one stream.
type reader struct {
	follow.Stream

	blocked bool // the prompt was refused

	latest []byte // content text of the latest event
	word   string // finish reason of the first candidate in it, in the shared words
	pieces []piece
	called map[int]int // function calls so far, by candidate
}

// Reader follows a stream of generateContent.
//
// Events with empty parts, with a signature or usage alone are Quiet; text,
// thoughts, function calls and other parts are Token. A finish reason is
// progress only once there was content: an empty answer must not commit, so
// that End can still call it blank. A finish reason that is a fault, or that
// nobody knows, is a Fault; an error event behind the others is Quiet. The
// stream is whole once each candidate has its finish reason, or the prompt was
// blocked: there is no terminal event.
func (Room) Reader(r *wire.Request, a *wire.Reply) wire.StreamReader {
	return &reader{Stream: follow.Begin(r, a, backstop.Gemini)}
}

func (d *reader) Event(ev *sse.Event) wire.Signal {
	d.latest, d.word, d.pieces = d.latest[:0], "", d.pieces[:0]
	if ev.Comment || len(bytes.TrimSpace(ev.Data)) == 0 {
		return wire.Signal{Kind: wire.Quiet}
	}
	c, ok := parse(ev)
	switch {
	case (!ok && intake.Filled(c.fault) || ev.Name == "error") && d.Told():
		return wire.Signal{Kind: wire.Quiet}
	case !ok && intake.Filled(c.fault), ev.Name == "error":
		return d.Broken(wire.Judge(d.seen(ev)))
	case !ok:
		d.Odd++
		return wire.Signal{Kind: wire.Malformed}
	}
	d.Events++
	return d.progress(ev, &c)
}

// progress takes in an event that is no error.
func (d *reader) progress(ev *sse.Event, c *chunk) wire.Signal {
	sig := wire.Signal{Kind: wire.Quiet}
	u := usageOf(c.usage)
	d.Count(u.Input, u.Output)
	ends, broken := false, ""
	c.each(func(index int, v gjson.Result) {
		d.Ends.Begin(index)
		size := d.content(index, v)
		if sig.Bytes += size; size > 0 {
			d.Ends.Speak(index)
		}
		reason := finish(v)
		if reason == "" {
			return
		}
		ends = true
		d.Ends.Finish(index)
		if index == 0 {
			d.word = finishOf(reason).Name
		}
		switch finishOf(reason).Kind {
		case wire.FinishFault:
			broken = reason
		case wire.FinishLength, wire.FinishFilter:
			d.Lawful = true
		}
	})
	if c.blocked() {
		d.blocked, d.Lawful, ends = true, true, true
	}
	if broken != "" {
		return d.Broken(wire.JudgeFinish(d.seen(ev), broken))
	}
	if sig.Bytes > 0 || ends && (d.Speaks || d.Lawful) {
		sig.Kind = wire.Token
		d.Tokens++
	}
	return sig
}

// content takes in the parts of a candidate and returns their content bytes.
func (d *reader) content(index int, v gjson.Result) (bytes int) {
	eachPart(v, func(part gjson.Result, kind pieceKind, size int) {
		if kind == pieceOther && d.Reply.Crosses() {
			d.Lost = true
			return
		}
		bytes += size
		d.Speaks = d.Speaks || size > 0
		d.Said = d.Said || size > 0 && kind != pieceThought
		d.Tool = d.Tool || kind == pieceCall
		d.Other = d.Other || kind == pieceOther || index > 0 && size > 0
		switch {
		case kind == pieceText && index == 0:
			d.latest = append(d.latest, part.Get("text").Str...)
		case kind == pieceCall:
			d.call(index, part.Get("functionCall"))
		}
	})
	return bytes
}

// seen is the event as the Judge wants it.
func (d *reader) seen(ev *sse.Event) *wire.Reply { return d.Seen(ev.Name, bytes.TrimSpace(ev.Data)) }

// End judges the whole. An unclean end after the finish reasons is fine;
// without any token it is a reset, after one a cut.
func (d *reader) End(clean bool) backstop.Outcome {
	return d.Verdict(d.blocked || d.Ends.Whole(clean), clean)
}

// AppendText implements wire.TextReader.
func (d *reader) AppendText(all []byte) []byte { return append(all, d.latest...) }
