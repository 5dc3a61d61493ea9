package responses

import (
	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// aggregate puts a stream together.
type aggregate struct {
	ledger
	ev       event
	response string // of the latest event that had one
	whole    bool   // it is the answer's last
	note     string // the x_backstop object
}

// Aggregator puts the events of a stream together into the plain body of the
// same answer, which is the response that its last event holds; where that has
// no output, or never came, the output is what the events before it told. Its
// memory is about that of the answer; the bound is the driver's.
func (Room) Aggregator(*wire.Request) wire.Aggregator { return &aggregate{} }

// Add implements wire.Aggregator.
func (a *aggregate) Add(data []byte) {
	e := &a.ev
	if !e.parse(&sse.Event{Data: data}) || a.whole {
		return
	}
	switch e.kind {
	case created, inProgress, queued, completed, incomplete, failed:
		a.response, a.whole = e.body.Raw, e.ends()
		if note := e.root.Get("x_backstop"); note.IsObject() {
			a.note = note.Raw
		}
	default:
		a.announce(e)
		a.add(e)
	}
}

// announce begins the item that a delta belongs to, if nobody did. A tool
// without a name is none.
func (a *aggregate) announce(e *event) {
	kind, text := a.heard.peek(e)
	if text == "" || kind == callDelta || a.at(e.item) != nil {
		return
	}
	it, prefix := &item{kind: "message"}, "msg_"
	rest := `,"type":"message","status":"completed","role":"assistant","content":[]}`
	if kind == thoughtDelta || kind == gistDelta {
		it.kind, prefix, rest = "reasoning", ownThought, `,"type":"reasoning","summary":[]}`
	}
	at := e.item
	if at == latest {
		at = len(a.items)
	}
	it.id = itemID(prefix, gjson.Get(a.response, "id").Str, at)
	it.raw = `{"id":` + edit.Quoted(it.id) + rest
	a.begin(at, it)
}

// Body returns the plain body. It may be asked more than once.
func (a *aggregate) Body() []byte {
	b := []byte(a.response)
	if a.response == "" {
		b = []byte(`{"object":"response","output":[]}`)
	}
	if !a.empty() && !gjson.GetBytes(b, "output.0").Exists() {
		b = edit.SetMember(b, "output", string(a.output()))
	}
	if a.note != "" {
		b = edit.SetMember(b, "x_backstop", a.note)
	}
	return b
}
