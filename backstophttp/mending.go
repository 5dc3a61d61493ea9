package backstophttp

import (
	"bytes"

	"backstop"
	"backstop/jsonfix"
	"backstop/sse"
	"backstop/wire"
)

// maxUndecided is how much of a document that has begun may wait for what
// follows it: a model that fills the space between two values with blanks
// would never end.
const maxUndecided = 4 << 10

// mending passes a stream on whose text was promised to be JSON, while it
// comes: what is plain goes out, what is undecided waits, what is no part of
// the document stays behind. It only ever appends.
//
// As long as nothing of the document is out, the answer can still be judged as
// a whole, so a stream that may turn out hopeless sends nothing.
type mending struct {
	r      *run
	a      *attempt
	events wire.StreamReader
	reader wire.PieceReader
	writer wire.Patcher
	fixer  *jsonfix.Fixer // nil = the text was not promised to be JSON
	calls  arguments

	raw   []byte // the text, until something of it is out
	piece []byte // of it, the latest event's
	half  []byte // what is left of that until the next event shows what it is
	sent  []byte // of the document
	wait  int    // bytes of text since the document grew
	blind bool   // nothing of the text goes out before its end
	whole bool   // nor anything else: the answer is judged as a whole
	over  bool   // its end was here
	again bool   // and was none: the answer went on behind it
	kept  *kept  // an end that may be none
	out   []byte
	fault *backstop.Outcome
}

// newMending is nil if the stream passes as it is.
func (r *run) newMending(a *attempt) *mending {
	if !r.vow.repair || a.takesOver() || !r.req.Stream || !r.promised() && !r.req.Tools || r.req.Choices > 1 {
		return nil
	}
	reader, reads := a.stream.(wire.PieceReader)
	writer, writes := a.writer.(wire.Patcher)
	if a.cross != nil && reads {
		writer = r.reworded(a)
		writes = writer != nil
	}
	if !reads || !writes {
		return nil
	}
	a.writer = writer
	m := &mending{r: r, a: a, events: a.stream, reader: reader, writer: writer}
	if r.promised() {
		r.schema() // whether it can be used is said in the headers
		m.fixer = jsonfix.NewFixer(jsonfix.Options{MaxBytes: maxAnswer})
	}
	return m
}

// take says what an event brings the caller, and whether that is something to
// begin the answer with.
func (m *mending) take(ev *sse.Event, sig *wire.Signal) (out []byte, ready bool) {
	m.out = m.out[:0]
	if m.whole {
		return nil, false
	}
	if m.goesOn(sig); m.fault != nil {
		return nil, false
	}
	if m.over && m.a.truncated && wire.FinishOf(m.reader.Finish()).Kind == wire.FinishGood && m.reader.Finish() != "" {
		m.put(m.writer.Patch(ev, sig, nil, "length")) // said again: it is no more whole for that
		return m.out, true
	}
	if m.over || sig.Kind != wire.Token && (sig.Kind != wire.Terminal || m.reader.Finish() == "") {
		m.put(m.writer.Event(ev, sig))
		return m.out, true
	}
	if m.events.ToolBegun() {
		m.calls.listen(m.reader)
	}
	switch finish := m.reader.Finish(); {
	case finish == "":
		ready = m.going(ev, sig)
	case m.keeps(sig):
		m.keep(ev, sig, finish)
	default:
		m.ending(ev, sig, &kept{finish: finish, brought: m.brought()})
	}
	return m.out, ready || m.over || m.again
}

// put adds an event to what goes out: writers use their memory again.
func (m *mending) put(event []byte) { m.out = append(m.out, event...) }

// going handles an event of an answer that goes on.
func (m *mending) going(ev *sse.Event, sig *wire.Signal) bool {
	if m.fixer == nil {
		m.put(m.writer.Event(ev, sig))
		return true
	}
	text, pure := m.text()
	if m.fault != nil {
		return false
	}
	if m.events.ToolBegun() && len(m.sent) == 0 {
		m.fixer = nil // what a model says besides a tool call is talk
		m.put(m.writer.Text(m.raw))
		m.raw = nil
		m.put(m.replaced(ev, sig, text))
		return true
	}
	fresh := m.feed(text)
	switch {
	case m.blind && m.r.won != m.a:
		m.whole = true
		return false
	case pure && bytes.Equal(fresh, text):
		m.put(m.writer.Event(ev, sig))
	default:
		m.put(m.writer.Patch(ev, sig, fresh, ""))
	}
	return len(fresh) > 0 || pure && len(text) == 0
}

// replaced is an event whose text has gone out already.
func (m *mending) replaced(ev *sse.Event, sig *wire.Signal, text []byte) []byte {
	if len(text) == 0 {
		return m.writer.Event(ev, sig)
	}
	return m.writer.Patch(ev, sig, nil, "")
}

// text is what the latest event adds to the text. It is pure if it is all that
// the event has, and nothing of it waits for the next one.
func (m *mending) text() (text []byte, pure bool) {
	before := len(m.half)
	all := m.reader.AppendText(m.half)
	n := len(all) - halfAtEnd(all)
	m.piece = append(m.piece[:0], all[:n]...)
	m.half = append(m.half[:0], all[n:]...)
	if len(m.sent) == 0 {
		if m.raw = append(m.raw, m.piece...); len(m.raw) > maxAnswer { // the fixer does not hear it if it is blind
			m.fail(backstop.KindTooLarge)
		}
	}
	return m.piece, before == 0 && len(m.half) == 0
}

// feed gives the text to the fixer, and what may go out for it.
func (m *mending) feed(text []byte) []byte {
	if len(text) == 0 || m.blind {
		return nil
	}
	if _, err := m.fixer.Write(text); err != nil {
		m.fail(backstop.KindTooLarge)
		return nil
	}
	body, _ := m.fixer.Snapshot()
	if len(m.sent) == 0 {
		return m.begin(body)
	}
	if m.fixer.Changed() {
		m.fail(backstop.KindJSON)
		return nil
	}
	fresh := body[min(len(m.sent), len(body)):]
	m.wait += len(text)
	if len(fresh) > 0 || m.fixer.Complete() {
		m.wait = 0
	}
	if m.wait > maxUndecided {
		m.fail(backstop.KindJSON)
	}
	m.sent = append(m.sent, fresh...)
	return fresh
}

// begin decides when the document begins to go out: once its first member
// does. A brace alone may be part of what is said before it.
func (m *mending) begin(body []byte) []byte {
	switch {
	case m.fixer.Changed() || len(body) > 0 && !m.r.shaped(body):
		m.blind = true
		return nil
	case len(body) < 2:
		return nil
	}
	m.sent = append(m.sent, body...)
	lead := m.raw[:len(m.raw)-len(bytes.TrimLeft(m.raw, blanks))]
	if around := m.raw[len(lead):]; around[0] != body[0] {
		lead = nil
		m.a.repaired = leading(m.raw)
	}
	lead = append([]byte(nil), lead...)
	m.raw = nil
	return append(lead, body...)
}

// leading are the kinds of repairs that are known when a document begins
// behind something else.
func leading(raw []byte) (codes []string) {
	res, _ := jsonfix.Repair(raw, jsonfix.Options{MaxBytes: maxAnswer})
	for _, x := range res.Repairs {
		switch x.Code {
		case jsonfix.Fence, jsonfix.Prose, jsonfix.Think, jsonfix.Invisible:
			codes = kinds(codes, []jsonfix.RepairNote{x})
		}
	}
	return codes
}

// fail ends the stream: what is out would have to be taken back.
func (m *mending) fail(kind backstop.Kind) {
	o := garbled(kind)
	switch kind {
	case backstop.KindJSON:
		o = notJSON(o)
	case backstop.KindTruncated:
		o = cutShort(o, false)
	default:
		o.Counts = backstop.CountsNone
	}
	m.fault = &o
}
