package responses

import (
	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/intake"
)

// input reads the talk.
func (h *hubRead) input(v gjson.Result) {
	if v.Type == gjson.String {
		h.p.Turns = []wire.Turn{{Role: wire.ByAsker, At: "input", Parts: textPart(v.Str)}}
		return
	}
	i := 0
	v.ForEach(func(_, item gjson.Result) bool {
		h.item(item, spot("input", i))
		i++
		return h.Fail == nil
	})
}

func textPart(text string) []wire.Part {
	if text == "" {
		return nil
	}
	return []wire.Part{{Kind: wire.PartText, Text: text}}
}

// ofItem are the members of each kind of item that the hub knows, and ofPart
// those of each kind of content.
var (
	ofItem = map[string][]string{
		"message": {"role", "content"}, "function_call": {"call_id", "name", "arguments"},
		"function_call_output": {"call_id", "output"}, "reasoning": {"summary", "content", "encrypted_content"},
	}
	ofPart = []string{"type", "text", "refusal", "image_url", "file_id", "detail", "annotations"}
)

// item reads one item. A message may go without its type. What the model said,
// thought and called, each an item of its own here, is one turn as long as
// nobody else speaks.
func (h *hubRead) item(v gjson.Result, at string) {
	kind := v.Get("type").Str
	if kind == "" && v.Get("role").Exists() {
		kind = "message"
	}
	if known := ofItem[kind]; known != nil {
		h.beyond(v, at, append(known, "type", "id", "status")...) // which say nothing to another upstream
	}
	switch kind {
	case "message":
		h.message(v, at)
	case "function_call":
		id := v.Get("call_id").Str
		if id == "" || v.Get("name").Str == "" {
			h.Refuse(at, "%s is a function_call without call_id or name", at)
		}
		t := h.modelTurn(at)
		t.Parts = append(t.Parts, wire.Part{Kind: wire.PartToolCall, At: at, ID: id, Name: v.Get("name").Str, Arguments: written(v.Get("arguments"))})
	case "function_call_output":
		h.result(v, at)
	case "reasoning":
		h.thought(v, at)
	default:
		h.extra(at, false)
	}
}

// modelTurn is the model's turn that is going on, or a new one.
func (h *hubRead) modelTurn(at string) *wire.Turn {
	turns := h.p.Turns
	if n := len(turns) - 1; n < 0 || turns[n].Role != wire.ByModel {
		h.p.Turns = append(turns, wire.Turn{Role: wire.ByModel, At: at})
	}
	return &h.p.Turns[len(h.p.Turns)-1]
}

func (h *hubRead) message(v gjson.Result, at string) {
	content := v.Get("content")
	var parts []wire.Part
	if content.Type == gjson.String {
		parts = textPart(content.Str)
	} else {
		h.content(&parts, content, at+".content")
	}
	switch v.Get("role").Str {
	case "user":
		h.p.Turns = append(h.p.Turns, wire.Turn{Role: wire.ByAsker, Parts: parts, At: at})
	case "assistant":
		t := h.modelTurn(at)
		t.Parts = append(t.Parts, parts...)
	case "system", "developer":
		h.p.Add(wire.Turn{Role: wire.BySystem, Parts: parts, At: at})
	default:
		h.extra(at+".role", false)
	}
}

// content reads a list of parts; text that is empty is no part.
func (h *hubRead) content(to *[]wire.Part, list gjson.Result, at string) {
	i := 0
	list.ForEach(func(_, v gjson.Result) bool {
		h.part(to, v, spot(at, i))
		i++
		return true
	})
}

func (h *hubRead) part(to *[]wire.Part, v gjson.Result, at string) {
	kind := v.Get("type").Str
	switch kind {
	case "input_text", "output_text", "text", "refusal", "input_image":
		h.beyond(v, at, ofPart...)
	}
	switch kind {
	case "input_text", "output_text", "text":
		appendPart(to, wire.PartText, v.Get("text").Str)
		if v.Get("annotations.0").Exists() {
			h.extra(at+".annotations", true)
		}
	case "refusal":
		appendPart(to, wire.PartRefusal, v.Get("refusal").Str)
	case "input_image":
		image := wire.Part{Kind: wire.PartImage, At: at, URL: v.Get("image_url").Str}
		if intake.Filled(v.Get("file_id")) {
			h.extra(at+".file_id", false)
			return
		}
		if image.URL == "" {
			h.Refuse(at+".image_url", "%s is an image without an image_url", at)
			return
		}
		if media, data, ok := dataURL(image.URL); ok {
			image.URL, image.Media, image.Data = "", media, data
		}
		if detail := v.Get("detail").Str; detail != "" && detail != "auto" {
			h.extra(at+".detail", true)
		}
		*to = append(*to, image)
	default:
		h.extra(at, false)
	}
}

func (h *hubRead) result(v gjson.Result, at string) {
	part := wire.Part{Kind: wire.PartToolResult, ID: v.Get("call_id").Str}
	if part.ID == "" {
		h.Refuse(at+".call_id", "%s says not which call it answers", at)
	}
	switch output := v.Get("output"); {
	case output.IsArray():
		h.content(&part.Result, output, at+".output")
	case output.Type == gjson.String || !intake.Filled(output):
		part.Result = textPart(output.Str)
	default: // what a tool said is not taken for nothing
		h.extra(at+".output", false)
	}
	h.p.Turns = append(h.p.Turns, wire.Turn{Role: wire.ByTool, Parts: []wire.Part{part}, At: at})
}

// thought reads a reasoning item. What only its issuer can read goes back to
// nobody else.
func (h *hubRead) thought(v gjson.Result, at string) {
	part := wire.Part{Kind: wire.PartReasoning, Text: thought(v), Proof: v.Get("encrypted_content").Str}
	switch {
	case part.Text == "" && part.Proof == "":
		return
	case part.Text == "":
		part.Sealed = true
		h.extra(at+".encrypted_content", true)
	}
	t := h.modelTurn(at)
	t.Parts = append(t.Parts, part)
}
