package gemini

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/intake"
)

// maxOpen bounds how many calls wait for their result; models make a handful at
// a time.
const maxOpen = 128

// ledger knows which function call a result belongs to. The dialect says so by
// name, and by an id where the upstream gave one.
type ledger struct {
	open []wire.Part // calls without a result so far
	n    int         // calls so far
}

// call enters a function call. One without an id gets one by its place, so that
// the same talk always gives the same ids, also when it goes on.
func (l *ledger) call(v gjson.Result) wire.Part {
	part := wire.Part{Kind: wire.PartToolCall, ID: v.Get("id").Str, Name: v.Get("name").Str, Arguments: v.Get("args").Raw}
	if part.ID == "" {
		part.ID = "call_" + strconv.Itoa(l.n) + "_backstop"
	}
	if part.Arguments == "" || part.Arguments == "null" {
		part.Arguments = "{}"
	}
	l.n++
	if len(l.open) == maxOpen {
		l.open = l.open[1:]
	}
	l.open = append(l.open, part)
	return part
}

// answer finds the call that a result belongs to: the one with its id, else the
// first of its name.
func (l *ledger) answer(v gjson.Result) (wire.Part, bool) {
	id, name := v.Get("id").Str, v.Get("name").Str
	found := -1
	for i := len(l.open) - 1; i >= 0; i-- {
		c := &l.open[i]
		if id != "" && c.ID == id {
			found = i
			break
		}
		if c.Name == name && (id == "" || strings.HasSuffix(c.ID, "_backstop")) {
			found = i
		}
	}
	if found < 0 {
		return wire.Part{}, false
	}
	part := wire.Part{Kind: wire.PartToolResult, ID: l.open[found].ID}
	l.open = append(l.open[:found], l.open[found+1:]...)
	part.Result, part.Failed = resultText(v.Get("response"))
	return part, true
}

// resultText is the text of a result: what stands alone under output or result,
// or under error if the function failed, else the whole object.
func resultText(v gjson.Result) (parts []wire.Part, failed bool) {
	if !intake.Filled(v) {
		return nil, false
	}
	text, n := v.Raw, 0
	v.ForEach(func(k, m gjson.Result) bool {
		n++
		switch name := k.String(); {
		case n > 1:
			text, failed = v.Raw, false
		case m.Type != gjson.String:
		case name == "output", name == "result":
			text = m.Str
		case name == "error":
			text, failed = m.Str, true
		}
		return n < 2
	})
	if n == 0 || text == "" {
		return nil, failed
	}
	return []wire.Part{{Kind: wire.PartText, Text: text}}, failed
}
