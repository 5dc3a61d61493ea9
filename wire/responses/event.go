package responses

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
)

// maxItems bounds the items of an answer, maxParts the parts of an item.
const (
	maxItems = 4096
	maxParts = 256
)

// The types of a stream's events that have a meaning here.
const (
	created    = "response.created"
	inProgress = "response.in_progress"
	queued     = "response.queued"
	completed  = "response.completed"
	incomplete = "response.incomplete"
	failed     = "response.failed"
	errorEvent = "error"

	itemAdded    = "response.output_item.added"
	itemDone     = "response.output_item.done"
	partAdded    = "response.content_part.added"
	partDone     = "response.content_part.done"
	summaryAdded = "response.reasoning_summary_part.added"
	summaryDone  = "response.reasoning_summary_part.done"

	textDelta    = "response.output_text.delta"
	textDone     = "response.output_text.done"
	refusalDelta = "response.refusal.delta"
	refusalDone  = "response.refusal.done"
	callDelta    = "response.function_call_arguments.delta"
	callDone     = "response.function_call_arguments.done"
	thoughtDelta = "response.reasoning_text.delta"
	thoughtDone  = "response.reasoning_text.done"
	gistDelta    = "response.reasoning_summary_text.delta"
	gistDone     = "response.reasoning_summary_text.done"
	cited        = "response.output_text.annotation.added"
)

// event is one event of a stream taken apart.
type event struct {
	root gjson.Result
	kind string
	// Where it belongs: the item, and the content or summary part of it. An
	// event that does not say so belongs to the latest.
	item, part int
	seq        gjson.Result // its sequence number
	delta      string       // what it adds
	whole      string       // what it says was added in all: text, refusal, arguments
	body       gjson.Result // its item, part or response
}

const latest = -1

// parse reads an event. Its type stands in the data, which is what SDKs go by,
// and again in the event's name, which some vendors forget. It is false for
// what is no event of this dialect.
func (e *event) parse(ev *sse.Event) bool {
	*e = event{item: latest, part: latest}
	if ev.Comment || !wire.ValidJSON(ev.Data) {
		return false
	}
	// Without blanks before it, places in the data are places in root.Raw.
	e.root = gjson.ParseBytes(bytes.TrimSpace(ev.Data))
	if !e.root.IsObject() {
		return false
	}
	types, numbers, placed := 0, 0, true
	e.root.ForEach(func(k, v gjson.Result) bool {
		switch k.String() {
		case "type":
			types++
			e.kind = v.Str
		case "output_index":
			placed = placed && index(v, maxItems, &e.item)
		case "content_index", "summary_index":
			placed = placed && index(v, maxParts, &e.part)
		case "sequence_number":
			numbers++
			e.seq = v
		case "delta":
			e.delta = v.Str
		case "text", "refusal", "arguments":
			e.whole = v.Str
		case "item", "part", "response":
			e.body = v
		}
		return true
	})
	// Two parsers could read two events out of one with two types.
	return types == 1 && numbers <= 1 && placed && plainWord(e.kind) && e.shaped()
}

// alien reports whether it is an error in the shape that some servers give
// all their errors, whatever they were asked for: {"object":"error",…}.
func (e *event) alien() bool {
	return !strings.HasPrefix(e.kind, "response.") && e.root.Get("object").Str == "error"
}

// maxKind bounds the name of an event.
const maxKind = 128

// plainWord reports whether a type can be the name of an event.
func plainWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != "" && len(s) <= maxKind
}

func index(v gjson.Result, limit float64, to *int) bool {
	if v.Type != gjson.Number || v.Num < 0 || v.Num >= limit || v.Num != float64(int(v.Num)) {
		return false
	}
	*to = int(v.Num)
	return true
}

// shaped reports whether an event has what its type is about.
func (e *event) shaped() bool {
	switch e.kind {
	case created, inProgress, queued, completed, incomplete, failed:
		return e.body.IsObject()
	case itemAdded, itemDone:
		return e.body.IsObject() && e.body.Get("type").Type == gjson.String
	case partAdded, partDone, summaryAdded, summaryDone:
		return e.body.IsObject()
	}
	return true
}

// ends reports whether an event ends an answer that did not fail.
func (e *event) ends() bool { return e.kind == completed || e.kind == incomplete }

// acts reports whether an event tells of a tool that the upstream runs itself.
func (e *event) acts() bool {
	return strings.Contains(e.kind, "_call") && !strings.HasPrefix(e.kind, "response.function_call")
}

// spoken are the deltas that bring the answer itself, in words or as the
// input of a tool; the others bring the way to it.
var spoken = map[string]bool{textDelta: true, refusalDelta: true, callDelta: true}

// finals are the events that repeat what deltas brought, and the deltas they
// repeat. Some vendors leave the deltas out.
var finals = map[string]string{
	textDone: textDelta, refusalDone: refusalDelta, callDone: callDelta, thoughtDone: thoughtDelta, gistDone: gistDelta,
}

// place is a part of an answer.
type place struct{ item, part int }

// heard remembers which parts brought deltas. The latest is looked at first:
// nearly always it is the one.
type heard struct {
	at   place
	some bool
	all  map[place]bool
}

func (h *heard) note(p place) {
	if h.some && h.at == p {
		return
	}
	if h.all == nil {
		h.all = map[place]bool{}
	}
	h.at, h.some = p, true
	if len(h.all) < maxItems {
		h.all[p] = true
	}
}

func (h *heard) has(p place) bool { return h.all[p] }

// brings is the delta of an event, in the words of a delta event: its type and
// what it adds. What a final event repeats is nothing new. "" = no delta.
func (h *heard) brings(e *event) (kind, text string) {
	if kind, text = h.peek(e); text != "" {
		h.note(place{e.item, e.part})
	}
	return kind, text
}

// peek is brings for an event that will be looked at again.
func (h *heard) peek(e *event) (kind, text string) {
	if delta, is := finals[e.kind]; is {
		if e.whole == "" || h.has(place{e.item, e.part}) {
			return "", ""
		}
		return delta, e.whole
	}
	switch e.kind {
	case textDelta, refusalDelta, callDelta, thoughtDelta, gistDelta:
		if e.delta != "" {
			return e.kind, e.delta
		}
	}
	return "", ""
}
