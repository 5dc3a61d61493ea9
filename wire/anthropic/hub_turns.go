package anthropic

import (
	"github.com/tidwall/gjson"

	"backstop/wire"
)

func (h *hubRead) system(v gjson.Result) {
	if v.Type == gjson.String {
		if v.Str != "" {
			h.p.System = append(h.p.System, v.Str)
		}
		return
	}
	i := 0
	v.ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str != "text" {
			h.extra(place("system", i), false)
		} else if text := block.Get("text").Str; text != "" {
			h.p.System = append(h.p.System, text)
		}
		h.beyond(block, place("system", i), "type", "text", "cache_control")
		h.cached(block)
		i++
		return true
	})
}

func (h *hubRead) messages(v gjson.Result) {
	i := 0
	v.ForEach(func(_, m gjson.Result) bool {
		h.message(m, place("messages", i))
		i++
		return h.Fail == nil
	})
}

// message reads a message. Results of tools, which are parts of the asker's
// message here, become turns of their own.
func (h *hubRead) message(m gjson.Result, at string) {
	t := wire.Turn{At: at}
	switch m.Get("role").Str {
	case "user":
		t.Role = wire.ByAsker
	case "assistant":
		t.Role = wire.ByModel
	case "system":
		t.Role = wire.BySystem
	default:
		h.extra(at+".role", false)
		return
	}
	h.beyond(m, at, "role", "content")
	content := m.Get("content")
	if content.Type == gjson.String {
		if content.Str != "" {
			t.Parts = []wire.Part{{Kind: wire.PartText, Text: content.Str}}
		}
		h.p.Turns = append(h.p.Turns, t)
		return
	}
	i, split := 0, false
	content.ForEach(func(_, block gjson.Result) bool {
		if block.Get("type").Str == "tool_result" {
			if len(t.Parts) > 0 {
				h.p.Turns = append(h.p.Turns, t)
				t.Parts = nil
			}
			h.result(block, place(at+".content", i))
			split = true
		} else {
			h.block(&t.Parts, block, place(at+".content", i))
		}
		i++
		return true
	})
	if len(t.Parts) > 0 || !split {
		h.p.Turns = append(h.p.Turns, t)
	}
}

// ofBlock are the members of each kind of block that the hub knows, or that are
// looked at apart.
var ofBlock = map[string][]string{
	"text": {"type", "cache_control", "text", "citations"}, "image": {"type", "cache_control", "source"},
	"tool_use": {"type", "cache_control", "id", "name", "input", "caller"}, "tool_result": {"type", "cache_control", "tool_use_id", "content", "is_error"},
	"thinking": {"type", "thinking", "signature"}, "redacted_thinking": {"type", "data"},
}

// block reads one content block of a message, a tool's result or an answer.
func (h *hubRead) block(to *[]wire.Part, v gjson.Result, at string) {
	part, kind := wire.Part{}, v.Get("type").Str
	if known := ofBlock[kind]; known != nil && at != "" { // answers have no place
		h.beyond(v, at, known...)
		h.cached(v)
	}
	switch kind {
	case "text":
		part = wire.Part{Kind: wire.PartText, Text: v.Get("text").Str}
		if v.Get("citations.0").Exists() {
			h.extra(at+".citations", true)
		}
		if part.Text == "" {
			return
		}
	case "image":
		part.Kind, part.At = wire.PartImage, at
		source := v.Get("source")
		switch source.Get("type").Str {
		case "base64":
			part.Media, part.Data = source.Get("media_type").Str, source.Get("data").Str
		case "url":
			part.URL = source.Get("url").Str
		default:
			h.extra(at+".source", false)
			return
		}
	case "tool_use":
		if c := v.Get("caller.type"); c.Exists() && c.Str != "direct" {
			h.extra(at+".caller", true)
		}
		part = wire.Part{Kind: wire.PartToolCall, At: at, ID: v.Get("id").Str, Name: v.Get("name").Str, Arguments: written(v.Get("input"))}
	case "thinking":
		part = wire.Part{Kind: wire.PartReasoning, Text: v.Get("thinking").Str, Proof: v.Get("signature").Str}
		if part.Proof == unsigned {
			part.Proof = ""
		}
	case "redacted_thinking":
		part = wire.Part{Kind: wire.PartReasoning, Proof: v.Get("data").Str, Sealed: true}
	default:
		h.extra(at, false)
		return
	}
	*to = append(*to, part)
}

func (h *hubRead) result(v gjson.Result, at string) {
	part := wire.Part{Kind: wire.PartToolResult, ID: v.Get("tool_use_id").Str, Failed: v.Get("is_error").Bool()}
	h.beyond(v, at, ofBlock["tool_result"]...)
	h.cached(v)
	content := v.Get("content")
	switch {
	case content.Type == gjson.String && content.Str != "":
		part.Result = []wire.Part{{Kind: wire.PartText, Text: content.Str}}
	case content.Type == gjson.Number, content.IsBool(), content.IsObject(): // what a tool said is not taken for nothing
		h.extra(at+".content", false)
	case content.IsArray():
		i := 0
		content.ForEach(func(_, block gjson.Result) bool {
			h.block(&part.Result, block, place(at+".content", i))
			i++
			return true
		})
	}
	h.p.Turns = append(h.p.Turns, wire.Turn{Role: wire.ByTool, Parts: []wire.Part{part}, At: at})
}
