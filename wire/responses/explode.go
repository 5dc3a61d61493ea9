package responses

import (
	"slices"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Explode turns a plain body into the events of the same answer, without
// frames, ready for Writer.Event or for an Aggregator, which makes the same
// body of them again. An x_backstop object goes with the last event. What is
// no answer, or one that did not end, gives nil.
func (Room) Explode(_ *wire.Request, body []byte) [][]byte {
	root, output := outputOf(body)
	end, fault := endOf(root)
	if !output.Exists() || fault != "" || end == wire.EndPause || int(output.Get("#").Num) > maxItems {
		return nil
	}
	x := &exploder{}
	x.put = func(_ string, data []byte, _ wire.SignalKind) { x.out = append(x.out, data) }
	begun := edit.SetMember(edit.SetMember(body, "status", `"in_progress"`), "output", "[]")
	begun = without(begun, "usage", "x_backstop", "incomplete_details", "completed_at")
	for _, kind := range [...]string{created, inProgress} {
		x.emit(kind, append([]byte(`"response":`), begun...), wire.Quiet)
	}
	output.ForEach(func(_, v gjson.Result) bool {
		x.item(v)
		return true
	})
	kind := completed
	if root.Get("status").Str == "incomplete" {
		kind = incomplete
	}
	members := append([]byte(`"response":`), without(body, "x_backstop")...)
	if note := root.Get("x_backstop"); note.IsObject() {
		members = append(append(members, `,"x_backstop":`...), note.Raw...)
	}
	x.emit(kind, members, wire.Terminal)
	return x.out
}

// exploder writes items that are there as a whole.
type exploder struct {
	scribe
	out [][]byte
}

// item announces an item empty, fills it and ends it. An item of a kind that
// is not taken apart is announced as it is.
func (x *exploder) item(v gjson.Result) {
	at := len(x.items)
	it := &item{raw: v.Raw, kind: v.Get("type").Str, id: v.Get("id").Str}
	x.items = append(x.items, it)
	opening := emptied(v, it.kind)
	x.emit(itemAdded, append(append(x.where(at, "", -1), `,"item":`...), opening...), wire.Quiet)
	x.parts(at, v.Get("summary"), summaryIndex)
	x.parts(at, v.Get("content"), contentIndex)
	if text := v.Get("arguments"); it.kind == "function_call" && text.Type == gjson.String {
		where := x.where(at, "item_id", -1)
		x.piece(callDelta, where, "delta", text)
		x.piece(callDone, where, "arguments", text)
	}
	x.emit(itemDone, append(append(x.where(at, "", -1), `,"item":`...), v.Raw...), wire.Quiet)
}

func emptied(v gjson.Result, kind string) []byte {
	b := []byte(v.Raw)
	lists := [...]string{"content", "summary"}
	switch kind {
	case "message", "reasoning":
		for _, name := range lists {
			if v.Get(name).IsArray() {
				b = edit.SetMember(b, name, "[]")
			}
		}
	case "function_call":
		b = edit.SetMember(b, "arguments", `""`)
	}
	if v.Get("status").Type == gjson.String {
		b = edit.SetMember(b, "status", `"in_progress"`)
	}
	return b
}

// streamedIn are the kinds of parts that arrive in deltas: the member that
// does, and the events that bring it.
var streamedIn = map[string]struct{ member, delta, done, index string }{
	"output_text":    {"text", textDelta, textDone, contentIndex},
	"refusal":        {"refusal", refusalDelta, refusalDone, contentIndex},
	"reasoning_text": {"text", thoughtDelta, thoughtDone, contentIndex},
	"summary_text":   {"text", gistDelta, gistDone, summaryIndex},
}

func (x *exploder) parts(at int, list gjson.Result, index string) {
	added, over := partAdded, partDone
	if index == summaryIndex {
		added, over = summaryAdded, summaryDone
	}
	n := 0
	if !list.IsArray() {
		return
	}
	list.ForEach(func(_, v gjson.Result) bool {
		in, moves := streamedIn[v.Get("type").Str]
		moves = moves && in.index == index && v.Get(in.member).Type == gjson.String
		opening := []byte(v.Raw)
		if moves {
			opening = edit.SetMember(opening, in.member, `""`)
		}
		x.emit(added, append(append(x.where(at, index, n), `,"part":`...), opening...), wire.Quiet)
		if moves {
			where := x.where(at, index, n)
			x.piece(in.delta, where, "delta", v.Get(in.member))
			x.piece(in.done, where, in.member, v.Get(in.member))
		}
		x.emit(over, append(append(x.where(at, index, n), `,"part":`...), v.Raw...), wire.Quiet)
		n++
		return n < maxParts
	})
}

// piece is an event with a text, which for a delta must not be empty.
func (x *exploder) piece(kind string, where []byte, member string, text gjson.Result) {
	if text.Str == "" && member == "delta" {
		return
	}
	b := append(append(append(slices.Clip(where), `,"`...), member...), `":`...)
	b = append(b, text.Raw...)
	if kind == textDelta || kind == textDone {
		b = append(b, `,"logprobs":[]`...)
	}
	x.emit(kind, b, wire.Token)
}

// without is an object without some of its members.
func without(b []byte, names ...string) []byte {
	o := edit.Open(b)
	for _, name := range names {
		o.Drop(name)
	}
	return o.Bytes()
}
