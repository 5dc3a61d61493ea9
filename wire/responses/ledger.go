package responses

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire/internal/edit"
)

// ledger is the output of an answer as its events have told it so far. Each
// event costs its own length.
type ledger struct {
	heard heard
	items []*item // by output index, nil = not begun
	size  int
	limit int // bytes that may be kept, 0 = any
	full  bool
}

// item is one item of the output.
type item struct {
	raw       string // as it began, or as it ended
	kind, id  string
	done      bool
	own       bool    // it is not as it came
	parts     []*part // content
	gist      []*part // summary
	arguments strings.Builder
}

// part is one part of an item's content or summary.
type part struct {
	raw   string // as it began, or as it ended
	kind  string
	done  bool
	text  strings.Builder
	cites []string
}

// newItem is an item of its own: what is only a part of its event would keep
// all of that, whose size is not counted.
func newItem(v gjson.Result, done bool) *item {
	raw := strings.Clone(v.Raw)
	return &item{raw: raw, kind: gjson.Get(raw, "type").Str, id: gjson.Get(raw, "id").Str, done: done}
}

// add takes in an event.
func (l *ledger) add(e *event) {
	switch e.kind {
	case itemAdded:
		l.begin(e.item, newItem(e.body, false))
		return
	case itemDone:
		l.begin(e.item, newItem(e.body, true))
		return
	}
	it := l.at(e.item)
	if it == nil || it.done {
		return
	}
	switch e.kind {
	case partAdded, partDone:
		l.part(&it.parts, e.part, e.body, e.kind == partDone)
	case summaryAdded, summaryDone:
		l.part(&it.gist, e.part, e.body, e.kind == summaryDone)
	case cited:
		if p := partAt(it.parts, e.part); p != nil && len(p.cites) < maxParts {
			note := e.root.Get("annotation").Raw
			if l.keep(len(note)) && note != "" {
				p.cites = append(p.cites, strings.Clone(note))
			}
		}
	default:
		kind, text := l.heard.brings(e)
		if text != "" && l.keep(len(text)) {
			it.write(kind, e.part, text)
		}
	}
}

// keep reports whether n more bytes may be kept. What is too large is not kept
// at all: half of it would be of no use.
func (l *ledger) keep(n int) bool {
	if l.size += n; l.limit > 0 && l.size > l.limit {
		l.full = true
		for i := range l.items {
			l.items[i] = nil
		}
	}
	return !l.full
}

// begin sets the item at a place; latest means behind the last for one that is
// new, and the last itself for one that ends.
func (l *ledger) begin(at int, it *item) {
	switch {
	case at >= 0:
	case it.done && len(l.items) > 0:
		at = len(l.items) - 1
	default:
		at = len(l.items)
	}
	if at >= maxItems {
		return
	}
	for len(l.items) <= at {
		l.items = append(l.items, nil)
	}
	if l.keep(len(it.raw)) {
		l.items[at] = it
	}
}

func (l *ledger) at(i int) *item {
	if i == latest {
		i = len(l.items) - 1
	}
	if i < 0 || i >= len(l.items) {
		return nil
	}
	return l.items[i]
}

func (l *ledger) part(list *[]*part, at int, v gjson.Result, done bool) {
	if !l.keep(len(v.Raw)) {
		return
	}
	if at == latest {
		at = len(*list)
		if done {
			at = max(at-1, 0)
		}
	}
	if at >= maxParts {
		return
	}
	for len(*list) <= at {
		*list = append(*list, nil)
	}
	raw := strings.Clone(v.Raw)
	(*list)[at] = &part{raw: raw, kind: gjson.Get(raw, "type").Str, done: done}
}

func partAt(list []*part, at int) *part {
	if at == latest {
		at = len(list) - 1
	}
	if at < 0 || at >= len(list) {
		return nil
	}
	return list[at]
}

// write adds what a delta brought. A part that nobody announced begins here.
func (it *item) write(kind string, at int, text string) {
	list, frame := &it.parts, `{"type":"output_text","annotations":[],"text":""}`
	switch kind {
	case callDelta:
		it.arguments.WriteString(text)
		return
	case refusalDelta:
		frame = `{"type":"refusal","refusal":""}`
	case thoughtDelta:
		frame = `{"type":"reasoning_text","text":""}`
	case gistDelta:
		list, frame = &it.gist, `{"type":"summary_text","text":""}`
	}
	p := partAt(*list, at)
	if p == nil {
		p = &part{raw: frame, kind: gjson.Get(frame, "type").Str}
		for at >= 0 && len(*list) < at {
			*list = append(*list, nil)
		}
		if at >= 0 && at < len(*list) {
			(*list)[at] = p
		} else {
			*list = append(*list, p)
		}
	}
	if !p.done {
		p.text.WriteString(text)
	}
}

// json is the part as it is by now.
func (p *part) json() string {
	if p.done {
		return p.raw
	}
	name := "text"
	if p.kind == "refusal" {
		name = "refusal"
	}
	raw := p.raw
	if text := p.text.String(); text != "" {
		raw = filledIn(raw, name, `""`, edit.Quoted(text))
	}
	if len(p.cites) > 0 {
		raw = filledIn(raw, "annotations", "[]", "["+strings.Join(p.cites, ",")+"]")
	}
	return raw
}

// filledIn is an object with a member set, in place of an empty value that
// nearly always stands at its end.
func filledIn(raw, name, empty, value string) string {
	if head, ok := strings.CutSuffix(raw, `"`+name+`":`+empty+`}`); ok {
		return head + `"` + name + `":` + value + `}`
	}
	return string(edit.SetMember([]byte(raw), name, value))
}

func listed(parts []*part) string {
	var list []string
	for _, p := range parts {
		if p != nil {
			list = append(list, p.json())
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

// json is the item as it is by now.
func (it *item) json() string {
	if it.done {
		return it.raw
	}
	raw := it.raw
	if len(it.parts) > 0 {
		raw = filledIn(raw, "content", "[]", listed(it.parts))
	}
	if len(it.gist) > 0 {
		raw = filledIn(raw, "summary", "[]", listed(it.gist))
	}
	if it.arguments.Len() > 0 {
		raw = filledIn(raw, "arguments", `""`, edit.Quoted(it.arguments.String()))
	}
	return raw
}

// output is all of it, as a list.
func (l *ledger) output() []byte {
	out := []byte{'['}
	for _, it := range l.items {
		if it != nil {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(out, it.json()...)
		}
	}
	return append(out, ']')
}

// empty reports whether nothing began.
func (l *ledger) empty() bool {
	for _, it := range l.items {
		if it != nil {
			return false
		}
	}
	return true
}

// head is what the answer calls itself.
type answerHead struct{ id, created, model gjson.Result }

// note takes it from the response of the first event that has one.
func (h *answerHead) note(response gjson.Result) {
	if !h.id.Exists() {
		h.id, h.created, h.model = owned(response, "id"), owned(response, "created_at"), owned(response, "model")
	}
}

// owned is a member without the rest of its event, which repeats the call.
func owned(v gjson.Result, name string) gjson.Result {
	if v = v.Get(name); v.Exists() {
		v = gjson.Parse(strings.Clone(v.Raw))
	}
	return v
}

// over gives a response the head of another.
func (h *answerHead) over(response []byte) []byte {
	for _, m := range [...]struct {
		name string
		v    gjson.Result
	}{{"id", h.id}, {"created_at", h.created}, {"model", h.model}} {
		if m.v.Exists() {
			response = edit.SetMember(response, m.name, m.v.Raw)
		}
	}
	return response
}
