package backstophttp

import (
	"bytes"
	"encoding/json"
	"strings"

	"backstop"
	"backstop/jsonfix"
	"backstop/sse"
	"backstop/wire"
)

// passMended hands on what the mending makes of an event.
func (f *follower) passMended(ev *sse.Event, sig *wire.Signal) {
	if !f.collect(ev) {
		return
	}
	out, ready := f.mend.take(ev, sig)
	if o := f.mend.fault; o != nil {
		f.decide(f.judged(*o))
		return
	}
	if sig.Kind == wire.Token && !f.progress(sig, ready) {
		return
	}
	if f.out(out); f.committed && f.r.cache() == nil {
		f.whole = nil
	}
}

// ending handles the event that ends the answer: what the document still owes
// goes out in front of it, or in it.
func (m *mending) ending(ev *sse.Event, sig *wire.Signal, k *kept) {
	end := wire.FinishOf(k.finish).Kind
	var text, fresh []byte
	pure, cut := true, false
	if m.fixer != nil {
		text, pure = m.text()
		if len(m.sent) == 0 && m.r.won != m.a {
			m.whole = true // nobody has anything of it: all that a whole answer can get is possible
			return
		}
		fresh = append(fresh, m.feed(text)...)
		rest, short := m.close(end)
		fresh, cut = append(fresh, rest...), short
	}
	var owed []argument
	if m.fault == nil {
		owed, cut = m.closeCalls(end, cut)
	}
	if m.fault != nil {
		return
	}
	for _, x := range owed {
		if !k.brings(&x) {
			m.put(m.writer.Argue(x.choice, x.call, x.text))
		}
	}
	m.over = true
	m.a.truncated = m.a.truncated || cut
	if m.a.noted = m.a.truncated || len(m.a.repaired) > 0; m.a.noted {
		m.writer.Hold()
	}
	word := ""
	if cut && end == wire.FinishGood {
		word = "length"
	}
	switch {
	case word == "" && pure && bytes.Equal(fresh, text):
		m.put(m.writer.Event(ev, sig))
	case len(text) > 0:
		m.put(m.writer.Patch(ev, sig, fresh, word))
	default:
		out := m.out
		m.out = append(append([]byte(nil), m.writer.Text(fresh)...), out...)
		m.put(m.writer.Patch(ev, sig, nil, word))
	}
	for _, x := range owed {
		if k.brings(&x) {
			m.put(m.writer.Argue(x.choice, x.call, x.text))
		}
	}
}

// close judges the text as a whole, and says what is to follow what is out
// and whether it was cut.
func (m *mending) close(end wire.FinishKind) (rest []byte, cut bool) {
	if m.fault != nil {
		return nil, false
	}
	if len(m.sent) == 0 {
		return m.closeUnsent(end)
	}
	_, owed := m.fixer.Snapshot()
	owed = append([]byte(nil), owed...)
	res := m.fixer.Close()
	rest = m.fixer.Rest()
	fits := rest != nil
	switch {
	case fits && res.Truncated:
		cut = true
	case !fits && (res.Truncated || end == wire.FinishLength):
		rest, cut = owed, true
	case !fits:
		m.fail(backstop.KindJSON)
		return nil, false
	default:
		if s := m.r.schema(); s != nil && len(s.Validate(res.JSON)) > 0 {
			m.fail(backstop.KindJSON)
			m.fault.OwnSchema = m.r.vow.own != 0
			return nil, false
		}
	}
	m.a.repaired = kinds(m.a.repaired, res.Repairs)
	return rest, cut
}

// closeUnsent judges a text of which nothing is out, although something else
// of the answer is.
func (m *mending) closeUnsent(end wire.FinishKind) (rest []byte, cut bool) {
	if len(m.raw) == 0 || m.events.ToolBegun() {
		return m.raw, false // a tool call, a refusal, or nothing: that is judged elsewhere
	}
	res := m.r.inspect(string(m.raw))
	switch {
	case res.Status == jsonfix.StatusValid:
		return m.raw, false
	case res.Status == jsonfix.StatusRepaired:
		m.a.repaired = kinds(m.a.repaired, res.Repairs)
		return res.JSON, res.Truncated
	case end == wire.FinishFilter:
		return m.raw, false
	case res.Truncated || end == wire.FinishLength:
		m.fail(backstop.KindTruncated)
	default:
		m.fail(backstop.KindJSON)
		m.fault.OwnSchema = m.r.brought(wire.NoCall, &res)
	}
	return nil, false
}

// closeCalls judges the arguments of all tool calls, and says what those that
// were cut still owe, where that closes them, and whether one was.
func (m *mending) closeCalls(end wire.FinishKind, before bool) (owed []argument, cut bool) {
	cut = before
	for i := range m.calls.list {
		x := &m.calls.list[i]
		res := m.r.inspectStreamed(x)
		if res.Status == jsonfix.StatusValid {
			continue
		}
		short := res.Truncated || end != wire.FinishGood
		cut = cut || short
		switch {
		case short && !m.r.unfinishedCalls():
		case x.call != wire.NoCall && res.JSON != nil && bytes.HasPrefix(res.JSON, x.text):
			owed = append(owed, argument{choice: x.choice, call: x.call, text: res.JSON[len(x.text):]})
			m.a.repaired = kinds(m.a.repaired, res.Repairs)
		case !short:
			m.fail(backstop.KindJSON)
			m.fault.OwnSchema = res.Reason == jsonfix.SchemaViolated
			return nil, false
		}
	}
	return owed, cut
}

// arguments is what tools are called with in a stream.
type arguments struct {
	list []argument
	size int
	deaf bool // they are too long to be judged
}

type argument struct {
	choice, call int
	tool         string
	named        int    // so often it was said which tool is called
	latest       string // the last time
	text         []byte
}

// current leaves calls out that are whole and have been followed by another one
// of the same number: some vendors give all parallel calls the index 0.
func (x *argument) current() {
	for x.named > 1 {
		var whole json.RawMessage
		list := json.NewDecoder(bytes.NewReader(x.text))
		if list.Decode(&whole) != nil || blank(string(x.text[list.InputOffset():])) {
			return
		}
		x.text, x.tool = x.text[list.InputOffset():], x.latest
	}
}

// maxArguments bounds what is kept of them, maxCalls how many calls.
const (
	maxArguments = 1 << 20
	maxCalls     = 128
)

// listen takes in the latest event.
func (s *arguments) listen(reader wire.PieceReader) {
	if s.deaf {
		return
	}
	reader.Arguments(func(choice, call int, appendTo func([]byte) []byte) {
		if x := s.of(choice, call); x != nil {
			before := len(x.text)
			x.text = appendTo(x.text)
			s.size += len(x.text) - before
		}
	})
	if names, ok := reader.(wire.ToolNamer); ok {
		names.ToolNames(func(choice, call int, tool string) {
			x := s.of(choice, call)
			if x == nil {
				return
			}
			x.latest = strings.Clone(tool) // a part of its event
			if x.named++; x.tool == "" {
				x.tool = x.latest
			}
		})
	}
	if s.size > maxArguments {
		s.deaf = true
	}
	if s.deaf {
		s.list = nil
	}
}

// of is what is kept of one call; nil, for good, if there are too many.
func (s *arguments) of(choice, call int) *argument {
	for i := range s.list {
		if x := &s.list[i]; x.choice == choice && x.call == call {
			return x
		}
	}
	if len(s.list) == maxCalls {
		s.deaf = true
		return nil
	}
	s.list = append(s.list, argument{choice: choice, call: call})
	return &s.list[len(s.list)-1]
}
