package backstophttp

import (
	"bytes"

	"backstop"
	"backstop/jsonfix"
	"backstop/sse"
	"backstop/wire"
)

// Some upstreams give a finish reason with every event. A tool call that is cut
// at one is closed only once nothing more comes: until then that event waits.

// kept is an event that ends an answer.
type kept struct {
	ev      *sse.Event
	sig     wire.Signal
	finish  string
	brought []argument // pieces of it in that event
}

// brings reports whether a piece of a call's arguments stands in the event.
func (k *kept) brings(x *argument) bool {
	for i := range k.brought {
		if k.brought[i].choice == x.choice && k.brought[i].call == x.call {
			return true
		}
	}
	return false
}

// brought are the calls that the latest event brings arguments of.
func (m *mending) brought() (list []argument) {
	m.reader.Arguments(func(choice, call int, appendTo func([]byte) []byte) {
		if text := appendTo(nil); len(text) > 0 {
			list = append(list, argument{choice: choice, call: call})
		}
	})
	return list
}

// keeps reports whether the latest event, which has a finish reason, waits for
// the next one. Where calls are whole nobody has to.
func (m *mending) keeps(sig *wire.Signal) bool {
	if m.fixer != nil || sig.Kind != wire.Token || len(m.calls.list) == 0 {
		return false
	}
	if m.again {
		return true
	}
	for i := range m.calls.list {
		if m.r.inspectStreamed(&m.calls.list[i]).Status != jsonfix.StatusValid {
			return true
		}
	}
	return false
}

// keep has an event wait.
func (m *mending) keep(ev *sse.Event, sig *wire.Signal, finish string) {
	own := &sse.Event{Raw: bytes.Clone(ev.Raw), Name: ev.Name, Data: bytes.Clone(ev.Data)}
	m.kept = &kept{ev: own, sig: wire.Signal{Kind: sig.Kind, Bytes: sig.Bytes}, finish: finish, brought: m.brought()}
}

// goesOn looks at what comes behind an end. If that is more of the answer it was
// none, which is too late to know once something was closed there.
func (m *mending) goesOn(sig *wire.Signal) {
	if m.kept == nil && !m.over {
		return
	}
	switch {
	case sig.Kind != wire.Token || !m.more():
		m.rest()
	case m.over && (m.fixer != nil || m.a.noted):
		m.fail(backstop.KindJSON)
	case m.over:
		m.over, m.again = false, true
	default:
		m.put(m.writer.Event(m.kept.ev, &m.kept.sig))
		m.kept, m.again = nil, true
	}
}

// more reports whether the latest event brings more of the answer.
func (m *mending) more() bool {
	called := false
	if names, ok := m.reader.(wire.ToolNamer); ok {
		names.ToolNames(func(int, int, string) { called = true })
	}
	return called || !blank(string(m.reader.AppendText(nil))) || len(m.brought()) > 0
}

// rest handles the event that waits, because no more of the answer comes.
func (m *mending) rest() {
	if k := m.kept; k != nil {
		m.kept = nil
		m.ending(k.ev, &k.sig, k)
	}
}

// settle hands on what the mending still keeps at the end of a stream. It changes
// the outcome of an answer that is whole only by its finish reason.
func (f *follower) settle(o backstop.Outcome) backstop.Outcome {
	if f.mend == nil || f.mend.kept == nil || o.Class != backstop.OK && o.Class != backstop.Refused {
		return o
	}
	f.mend.out = f.mend.out[:0]
	if f.mend.rest(); f.mend.fault != nil {
		return f.judged(*f.mend.fault)
	}
	f.out(f.mend.out)
	return o
}
