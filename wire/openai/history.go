package openai

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// missingReasoning stands for reasoning that another model did not give. It
// is a blank, because some upstreams take the empty string for missing.
const missingReasoning = `" "`

// toolCallWord is in every body that has tool-call ids.
var toolCallWord = []byte("tool_call")

// toolIDSize is the size of a mapped tool-call id.
const toolIDSize = 40

// history fits the messages of other models to this upstream: tool-call ids
// that are too long, turns without reasoning_content where it is demanded.
func (q quirks) history(o *object) {
	i := o.find("messages")
	if i < 0 || !o.fields[i].val.is(o.b, '[') {
		return
	}
	demand := q.ReasoningContent == demanded
	if !demand && !bytes.Contains(o.fields[i].val.of(o.b), toolCallWord) {
		return
	}
	for e := inArray(o.b, o.fields[i].val); e.next(); {
		if !e.val.is(o.b, '{') {
			continue
		}
		q.message(o, e.val)
		if demand {
			demandReasoning(o, e.val)
		}
	}
}

func (q quirks) message(o *object, s span) {
	for m := inObject(o.b, s); m.next(); {
		switch string(m.name()) {
		case "tool_call_id":
			q.toolID(o, m.val)
		case "tool_calls":
			if !m.val.is(o.b, '[') {
				continue
			}
			for e := inArray(o.b, m.val); e.next(); {
				if id := member(o.b, e.val, "id"); id.there() {
					q.toolID(o, id)
				}
			}
		}
	}
}

func (q quirks) toolID(o *object, s span) {
	if !s.is(o.b, '"') || s.to-s.from-2 <= q.ToolIDMax {
		return
	}
	if id := str(o.b, s); len(id) > q.ToolIDMax {
		o.replace(s, string(appendString(nil, shortToolID(id, q.ToolIDMax))))
	}
}

// shortToolID maps an id onto at most 40 characters of [A-Za-z0-9_-]. The
// same id always gives the same result, so that calls and their answers still
// match, in this request and in the next.
func shortToolID(id string, limit int) string {
	sum := sha256.Sum256([]byte(id))
	short := hex.EncodeToString(sum[:])
	if limit < toolIDSize {
		return short[:limit]
	}
	return ("call_" + short)[:toolIDSize]
}

func demandReasoning(o *object, s span) {
	if str(o.b, member(o.b, s, "role")) != "assistant" {
		return
	}
	switch r := member(o.b, s, "reasoning_content"); {
	case !r.there():
		o.insert(s.to-1, `,"reasoning_content":`+missingReasoning)
	case r.null(o.b):
		o.replace(r, missingReasoning)
	}
}
