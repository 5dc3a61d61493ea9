package gemini

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
	lawful bool // a finish reason that may stand without content
	tool   bool
	other  bool // something that is neither text nor thinking began

	begun, ended seats // candidates
	blocked      bool  // the prompt was refused

	fault  *backstop.Outcome
	latest []byte // content text of the latest event
	word   string // finish reason of the first candidate in it, in the shared words
	pieces []piece
	called map[int]int // function calls so far, by candidate

	input, output int // reported tokens, -1 = none
}

// seats is a set of candidates.
type seats [maxCandidates / 64]uint64

func (s *seats) add(i int) { s[i/64] |= 1 << (i % 64) }

// Reader follows a stream of generateContent.
//
// Events with empty parts, with a signature or usage alone are Quiet; text,
// thoughts, function calls and other parts are Token. A finish reason is
// progress only once there was content: an empty answer must not commit, so
// that End can still call it blank. A finish reason that is a fault, or that
// nobody knows, is a Fault. The stream is whole once each candidate that began
// has its finish reason, or the prompt was blocked: there is no terminal event.
func (Room) Reader(r *wire.Request, a *wire.Reply) wire.StreamReader {
	d := &reader{input: -1, output: -1, unary: r != nil && !r.Stream}
	if a != nil {
		d.reply = *a
	}
	if d.reply.Dialect == "" {
		d.reply.Dialect = backstop.Gemini
	}
	return d
}

func (d *reader) Event(ev *sse.Event) wire.Signal {
	d.latest, d.word, d.pieces = d.latest[:0], "", d.pieces[:0]
	if ev.Comment || len(bytes.TrimSpace(ev.Data)) == 0 {
		return wire.Signal{Kind: wire.Quiet}
	}
	c, ok := parse(ev)
	switch {
	case !ok && filled(c.fault), ev.Name == "error":
		return d.broken(wire.Judge(d.seen(ev)))
	case !ok:
		d.odd++
		return wire.Signal{Kind: wire.Malformed}
	}
	d.events++
	return d.progress(ev, &c)
}

// progress takes in an event that is no error.
func (d *reader) progress(ev *sse.Event, c *chunk) wire.Signal {
	sig := wire.Signal{Kind: wire.Quiet}
	u := usageOf(c.usage)
	d.input, d.output = max(d.input, u.Input), max(d.output, u.Output)
	ends, broken := false, ""
	c.each(func(index int, v gjson.Result) {
		d.begun.add(index)
		sig.Bytes += d.content(index, v)
		reason := finish(v)
		if reason == "" {
			return
		}
		ends = true
		d.ended.add(index)
		if index == 0 {
			d.word = finishOf(reason).Name
		}
		switch finishOf(reason).Kind {
		case wire.FinishFault:
			broken = reason
		case wire.FinishLength, wire.FinishFilter:
			d.lawful = true
		}
	})
	if c.blocked() {
		d.blocked, d.lawful, ends = true, true, true
	}
	if broken != "" {
		return d.broken(wire.JudgeFinish(d.seen(ev), broken))
	}
	if sig.Bytes > 0 || ends && (d.speaks || d.lawful) {
		sig.Kind = wire.Token
		d.tokens++
	}
	return sig
}

// content takes in the parts of a candidate and returns their content bytes.
func (d *reader) content(index int, v gjson.Result) (bytes int) {
	eachPart(v, func(part gjson.Result, kind pieceKind, size int) {
		bytes += size
		d.speaks = d.speaks || size > 0
		d.said = d.said || size > 0 && kind != pieceThought
		d.tool = d.tool || kind == pieceCall
		d.other = d.other || kind == pieceOther || index > 0 && size > 0
		switch {
		case kind == pieceText && index == 0:
			d.latest = append(d.latest, part.Get("text").Str...)
		case kind == pieceCall:
			d.call(index, part.Get("functionCall"))
		}
	})
	return bytes
}

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

// whole reports whether all that began has ended.
func (d *reader) whole() bool {
	return d.blocked || d.begun != seats{} && d.begun == d.ended
}

// End judges the whole. An unclean end after the finish reasons is fine;
// without any token it is a reset, after one a cut.
func (d *reader) End(clean bool) backstop.Outcome {
	a := d.reply
	a.Surface, a.Body = d.surface(), nil
	switch whole := d.whole(); {
	case d.fault != nil:
		return *d.settle(*d.fault)
	case whole && !d.lawful && !d.said && (d.unary || !d.speaks):
		return *d.settle(wire.JudgeBlank(&a))
	case whole:
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

func (d *reader) Usage() (input, output int) { return d.input, d.output }

func (d *reader) ToolBegun() bool { return d.tool }

// AppendText implements wire.TextReader.
func (d *reader) AppendText(all []byte) []byte { return append(all, d.latest...) }

// TextOnly implements wire.TextReader.
func (d *reader) TextOnly() bool { return !d.tool && !d.other }
