package openai

import (
	"strconv"

	"backstop/wire"
)

func place(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// messages reads the talk. Instructions before the first turn are the
// prompt's, later ones stay where they are.
func (h *hubRead) messages(v span) {
	i := 0
	for e := inArray(h.b, v); e.next() && h.Fail == nil; i++ {
		h.message(e.val, place("messages", i))
	}
}

// ofMessage are the members of a message that are looked at apart.
var ofMessage = []string{"role", "name", "content", "refusal", "tool_calls", "reasoning_content", "reasoning", "function_call", "audio", "images"}

func (h *hubRead) message(v span, at string) {
	b, p := h.b, h.p
	t := wire.Turn{At: at}
	if member(b, v, "name").filled(b) {
		h.extra(at+".name", true)
	}
	switch role := str(b, member(b, v, "role")); role {
	case "system", "developer":
		t.Role = wire.BySystem
	case "user":
		t.Role = wire.ByAsker
	case "assistant":
		t.Role = wire.ByModel
		h.thoughts(&t, v)
	case "tool":
		h.result(&t, v)
		p.Turns = append(p.Turns, t)
		return
	default:
		h.extra(at+".role", false)
		return
	}
	h.beyond(v, at, ofMessage...)
	h.content(&t.Parts, member(b, v, "content"), at)
	if t.Role == wire.ByModel {
		h.calls(&t, v)
	}
	p.Add(t)
}

func (h *hubRead) thoughts(t *wire.Turn, v span) {
	for _, name := range [...]string{"reasoning_content", "reasoning"} {
		if s := member(h.b, v, name); s.filled(h.b) {
			t.Parts = append(t.Parts, wire.Part{Kind: wire.PartReasoning, Text: str(h.b, s)})
			return
		}
	}
}

// content reads text or a list of parts; text that is empty is no part.
func (h *hubRead) content(to *[]wire.Part, v span, at string) {
	if !v.is(h.b, '[') {
		h.text(to, v, at+".content")
		return
	}
	i := 0
	for e := inArray(h.b, v); e.next(); i++ {
		h.part(to, e.val, place(at+".content", i))
	}
}

// text reads a text; what is there and is none is not taken for nothing.
func (h *hubRead) text(to *[]wire.Part, v span, at string) {
	switch {
	case v.filled(h.b):
		*to = append(*to, wire.Part{Kind: wire.PartText, Text: str(h.b, v)})
	case !v.null(h.b) && !v.is(h.b, '"'):
		h.extra(at, false)
	}
}

func (h *hubRead) part(to *[]wire.Part, v span, at string) {
	b := h.b
	switch str(b, member(b, v, "type")) {
	case "text":
		h.text(to, member(b, v, "text"), at+".text")
		h.beyond(v, at, "type", "text")
	case "refusal":
		h.beyond(v, at, "type", "refusal")
		*to = append(*to, wire.Part{Kind: wire.PartRefusal, Text: str(b, member(b, v, "refusal"))})
	case "image_url":
		image := member(b, v, "image_url")
		part := wire.Part{Kind: wire.PartImage, At: at, URL: str(b, member(b, image, "url"))}
		if part.URL == "" {
			h.Refuse(at+".image_url.url", "%s is an image without a url", at)
		}
		if media, data, ok := dataURL(part.URL); ok {
			part.URL, part.Media, part.Data = "", media, data
		}
		if detail := str(b, member(b, image, "detail")); detail != "" && detail != "auto" {
			h.extra(at+".image_url.detail", true)
		}
		h.beyond(image, at+".image_url", "url", "detail")
		h.beyond(v, at, "type", "image_url")
		*to = append(*to, part)
	default:
		h.extra(at, false)
	}
}

func (h *hubRead) calls(t *wire.Turn, v span) {
	b := h.b
	if s := member(b, v, "refusal"); s.filled(b) {
		t.Parts = append(t.Parts, wire.Part{Kind: wire.PartRefusal, Text: str(b, s)})
	}
	for _, name := range [...]string{"function_call", "audio", "images"} {
		if s := member(b, v, name); !s.null(b) && !hollowList(b, s) {
			h.extra(t.At+"."+name, false)
		}
	}
	list := member(b, v, "tool_calls")
	if !list.is(b, '[') {
		return
	}
	i := 0
	for e := inArray(b, list); e.next(); i++ {
		f := member(b, e.val, "function")
		if !f.is(b, '{') {
			h.extra(place(t.At+".tool_calls", i), false)
			continue
		}
		at := ""
		if t.At != "" { // answers have none
			at = place(t.At+".tool_calls", i)
			h.beyond(e.val, at, "id", "type", "function", "index")
			at += ".function"
			h.beyond(f, at, "name", "arguments")
		}
		t.Parts = append(t.Parts, wire.Part{
			Kind: wire.PartToolCall, At: at, ID: str(b, member(b, e.val, "id")), Name: str(b, member(b, f, "name")), Arguments: written(b, member(b, f, "arguments")),
		})
	}
}

func (h *hubRead) result(t *wire.Turn, v span) {
	t.Role = wire.ByTool
	h.beyond(v, t.At, "role", "name", "content", "tool_call_id")
	part := wire.Part{Kind: wire.PartToolResult, ID: str(h.b, member(h.b, v, "tool_call_id"))}
	h.content(&part.Result, member(h.b, v, "content"), t.At)
	t.Parts = []wire.Part{part}
}
