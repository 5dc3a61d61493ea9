package responses

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// scribe writes an answer as events, each item with its whole life: announced,
// filled, done. SDKs put answers together by the indexes in them and refuse
// what was not announced.
type scribe struct {
	ledger
	answer string // its id, which the items' ids come from
	next   int    // number of the next event
	cut    bool   // the answer ran into its limit: its last item, if still open, is not whole
	// put takes an event; nil = only the items are wanted.
	put func(kind string, data []byte, sig wire.SignalKind)
}

// emit writes one event, with the members that its type has besides.
func (s *scribe) emit(kind string, members []byte, sig wire.SignalKind) {
	b := make([]byte, 0, len(members)+80)
	b = append(append(append(b, `{"type":"`...), kind...), `","sequence_number":`...)
	b = strconv.AppendInt(b, int64(s.next), 10)
	s.next++
	s.put(kind, append(append(append(b, ','), members...), '}'), sig)
}

// where says which item, and for part >= 0 which part of it, an event is
// about; name is what the part's index is called.
func (s *scribe) where(at int, name string, part int) []byte {
	b := strconv.AppendInt([]byte(`"output_index":`), int64(at), 10)
	if it := s.items[at]; name != "" {
		b = wire.AppendString(append(b, `,"item_id":`...), it.id)
	}
	if part >= 0 {
		b = strconv.AppendInt(append(append(append(b, `,"`...), name...), `":`...), int64(part), 10)
	}
	return b
}

const (
	contentIndex = "content_index"
	summaryIndex = "summary_index"
)

// announce begins an item; raw is the rest of it, behind its id.
func (s *scribe) announce(prefix, kind, raw string, sig wire.SignalKind) (at int) {
	at = len(s.items)
	it := &item{kind: kind, id: itemID(prefix, s.answer, at)}
	it.raw = `{"id":` + edit.Quoted(it.id) + `,"type":"` + kind + `"` + raw + `}`
	s.items = append(s.items, it)
	if s.put != nil {
		s.emit(itemAdded, append(append(s.where(at, "", -1), `,"item":`...), it.raw...), sig)
	}
	return at
}

// speaking is the place of the open item if it is the last and of that kind.
func (s *scribe) speaking(kind string) (at int, ok bool) {
	at = len(s.items) - 1
	return at, at >= 0 && s.items[at] != nil && s.items[at].kind == kind && !s.items[at].done
}

// say adds to the text, or the refusal, of the message that is open.
func (s *scribe) say(kind, text string) {
	at, ok := s.speaking("message")
	if !ok {
		s.shutTalk()
		at = s.announce("msg_", "message", `,"status":"in_progress","role":"assistant","content":[]`, wire.Quiet)
	}
	frame, delta := `{"type":"output_text","annotations":[],"logprobs":[],"text":""}`, textDelta
	if kind == "refusal" {
		frame, delta = `{"type":"refusal","refusal":""}`, refusalDelta
	}
	it := s.items[at]
	n := len(it.parts) - 1
	if n < 0 || it.parts[n] == nil || it.parts[n].done || it.parts[n].kind != kind {
		s.endPart(at)
		n = len(it.parts)
		it.parts = append(it.parts, &part{raw: frame, kind: kind})
		if s.put != nil {
			s.emit(partAdded, append(append(s.where(at, contentIndex, n), `,"part":`...), frame...), wire.Quiet)
		}
	}
	it.parts[n].text.WriteString(text)
	if s.put == nil {
		return
	}
	b := wire.AppendString(append(s.where(at, contentIndex, n), `,"delta":`...), text)
	if delta == textDelta {
		b = append(b, `,"logprobs":[]`...)
	}
	s.emit(delta, b, wire.Token)
}

// think adds to the summary of the reasoning that is open, which is where the
// SDKs show reasoning from.
func (s *scribe) think(text string) {
	at, ok := s.speaking("reasoning")
	if !ok {
		s.shutTalk()
		at = s.announce(ownThought, "reasoning", `,"summary":[]`, wire.Quiet)
	}
	it := s.items[at]
	n := len(it.gist) - 1
	if n < 0 || it.gist[n] == nil || it.gist[n].done {
		const frame = `{"type":"summary_text","text":""}`
		n = len(it.gist)
		it.gist = append(it.gist, &part{raw: frame, kind: "summary_text"})
		if s.put != nil {
			s.emit(summaryAdded, append(append(s.where(at, summaryIndex, n), `,"part":`...), frame...), wire.Quiet)
		}
	}
	it.gist[n].text.WriteString(text)
	if s.put != nil {
		s.emit(gistDelta, wire.AppendString(append(s.where(at, summaryIndex, n), `,"delta":`...), text), wire.Token)
	}
}

// call begins a tool call.
func (s *scribe) call(id, name string) (at int) {
	s.shutTalk()
	return s.announce("fc_", "function_call", `,"status":"in_progress","call_id":`+edit.Quoted(id)+`,"name":`+edit.Quoted(name)+`,"arguments":""`, wire.Token)
}

// argue adds to what a tool is called with.
func (s *scribe) argue(at int, text string) {
	it := s.items[at]
	if it == nil || it.done || text == "" {
		return
	}
	it.arguments.WriteString(text)
	if s.put != nil {
		s.emit(callDelta, wire.AppendString(append(s.where(at, "item_id", -1), `,"delta":`...), text), wire.Token)
	}
}

// shutTalk ends the message or the reasoning that is open. Tool calls may go
// on beside each other.
func (s *scribe) shutTalk() {
	for at, it := range s.items {
		if it != nil && !it.done && it.kind != "function_call" {
			s.end(at)
		}
	}
}

// shut ends all that is open.
func (s *scribe) shut() {
	for at := range s.items {
		s.end(at)
	}
}

// endPart ends the last part of a message or of reasoning.
func (s *scribe) endPart(at int) {
	it := s.items[at]
	if n := len(it.parts) - 1; n >= 0 && it.parts[n] != nil && !it.parts[n].done {
		s.finish(at, n, it.parts[n], contentIndex)
	}
	if n := len(it.gist) - 1; n >= 0 && it.gist[n] != nil && !it.gist[n].done {
		s.finish(at, n, it.gist[n], summaryIndex)
	}
}

func (s *scribe) finish(at, n int, p *part, index string) {
	text := p.text.String()
	p.raw, p.done = p.json(), true
	if s.put == nil {
		return
	}
	word, done, over := "text", textDone, partDone
	switch p.kind {
	case "refusal":
		word, done = "refusal", refusalDone
	case "reasoning_text":
		done = thoughtDone
	case "summary_text":
		done, over = gistDone, summaryDone
	}
	b := append(append(append(s.where(at, index, n), `,"`...), word...), `":`...)
	b = wire.AppendString(b, text)
	if done == textDone {
		b = append(b, `,"logprobs":[]`...)
	}
	s.emit(done, b, wire.Quiet)
	s.emit(over, append(append(s.where(at, index, n), `,"part":`...), p.raw...), wire.Quiet)
}

// end ends an item.
func (s *scribe) end(at int) {
	it := s.items[at]
	if it == nil || it.done {
		return
	}
	s.endPart(at)
	if it.kind == "function_call" {
		if it.arguments.Len() == 0 && gjson.Get(it.raw, "arguments").Str == "" {
			s.argue(at, "{}") // who gave none called with none, and callers parse it
		}
		if s.put != nil {
			b := wire.AppendString(append(s.where(at, "item_id", -1), `,"arguments":`...), it.arguments.String())
			s.emit(callDone, b, wire.Quiet)
		}
	}
	it.raw = settled(it.raw, s.cut && at == len(s.items)-1)
	it.raw = it.json()
	it.done = true
	it.parts, it.gist = nil, nil
	if s.put != nil {
		s.emit(itemDone, append(append(s.where(at, "", -1), `,"item":`...), it.raw...), wire.Quiet)
	}
}
