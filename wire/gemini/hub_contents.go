package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/intake"
)

func (h *hubRead) system(v gjson.Result) {
	h.beyond(v, "systemInstruction", "role", "parts")
	h.parts(v, "systemInstruction", func(i int, part gjson.Result) bool {
		h.beyond(part, place("systemInstruction.parts", i), "text", "thought")
		text := part.Get("text")
		if text.Type != gjson.String {
			h.extra(place("systemInstruction.parts", i), false)
		} else if text.Str != "" {
			h.p.System = append(h.p.System, text.Str)
		}
		return true
	})
}

// parts visits what somebody says; what is there and is no part is not taken
// for nothing.
func (h *hubRead) parts(v gjson.Result, at string, visit func(i int, part gjson.Result) bool) {
	list := pick(v, "parts")
	if intake.Filled(list) && !list.IsArray() && !list.IsObject() {
		h.extra(at+".parts", false)
	}
	each(list, func(i int, part gjson.Result) bool {
		if !part.IsObject() {
			h.extra(place(at+".parts", i), false)
			return true
		}
		return visit(i, part)
	})
}

// contents reads the talk. What a model says in several contents is one turn:
// the SDKs keep each event of a streamed answer as a content of its own.
func (h *hubRead) contents(v gjson.Result) {
	each(v, func(i int, c gjson.Result) bool {
		h.turn(c, place("contents", i))
		return h.Fail == nil
	})
	for i, n := range h.pieced {
		if i == 0 || h.pieced[i-1] != n {
			h.p.Turns[n].Parts = strung(h.p.Turns[n].Parts)
		}
	}
}

// strung strings neighbouring texts and neighbouring thoughts together.
func strung(parts []wire.Part) (list []wire.Part) {
	for i := 0; i < len(parts); {
		kind := parts[i].Kind
		if kind != wire.PartText && kind != wire.PartReasoning {
			list = append(list, parts[i])
			i++
			continue
		}
		var all strings.Builder
		for ; i < len(parts) && parts[i].Kind == kind; i++ {
			all.WriteString(parts[i].Text)
		}
		list = append(list, wire.Part{Kind: kind, Text: all.String()})
	}
	return list
}

// turn reads what one side says. Results of functions, which are parts of the
// caller's content here, become turns of their own.
func (h *hubRead) turn(c gjson.Result, at string) {
	t := wire.Turn{At: at}
	switch c.Get("role").Str {
	case "user", "", "function", "tool":
		t.Role = wire.ByAsker
	case "model":
		t.Role = wire.ByModel
	case "system":
		t.Role = wire.BySystem
	default:
		h.extra(at+".role", false)
		return
	}
	if n := len(h.p.Turns); t.Role == wire.ByModel && n > 0 && h.p.Turns[n-1].Role == wire.ByModel {
		t = h.p.Turns[n-1]
		h.p.Turns = h.p.Turns[:n-1]
		h.pieced = append(h.pieced, n-1)
	}
	split := false
	h.beyond(c, at, "role", "parts")
	h.parts(c, at, func(i int, part gjson.Result) bool {
		f := takeApart(part)
		if f.result.IsObject() {
			if len(t.Parts) > 0 {
				h.p.Turns = append(h.p.Turns, t)
				t.Parts = nil
			}
			h.beyond(part, place(at+".parts", i), partMembers...)
			h.result(f.result, place(at+".parts", i)+".functionResponse")
			split = true
			return true
		}
		h.part(&t.Parts, &f, place(at+".parts", i))
		return h.Fail == nil
	})
	if len(t.Parts) > 0 || !split {
		h.p.Turns = append(h.p.Turns, t)
	}
}

// partFields is one part taken apart.
type partFields struct {
	whole, text, thought, signature, call, result, data, file gjson.Result
}

func takeApart(v gjson.Result) (f partFields) {
	f.whole = v
	v.ForEach(func(k, v gjson.Result) bool {
		to := &gjson.Result{}
		switch camel(k.String()) {
		case "text":
			to = &f.text
		case "thought":
			to = &f.thought
		case "thoughtSignature":
			to = &f.signature
		case "functionCall":
			to = &f.call
		case "functionResponse":
			to = &f.result
		case "inlineData":
			to = &f.data
		case "fileData":
			to = &f.file
		}
		if !to.Exists() {
			*to = v
		}
		return true
	})
	return f
}

// partMembers are the members of a part that the hub knows, or that are looked at
// apart.
var partMembers = []string{"text", "thought", "thoughtSignature", "functionCall", "functionResponse", "inlineData", "fileData"}

// part reads one part of what was said.
func (h *hubRead) part(to *[]wire.Part, f *partFields, at string) {
	if intake.Filled(f.signature) && f.signature.Str != unsigned {
		h.extra("thoughtSignature", true) // only its issuer can read it
	}
	if f.call.IsObject() || f.text.Type == gjson.String || f.data.IsObject() || f.file.IsObject() {
		h.beyond(f.whole, at, partMembers...)
		h.beyond(f.call, at+".functionCall", "id", "name", "args")
		h.beyond(f.data, at+".inlineData", "mimeType", "data")
		h.beyond(f.file, at+".fileData", "mimeType", "fileUri")
	}
	switch {
	case f.call.IsObject():
		*to = append(*to, h.calls.call(f.call))
	case f.text.Type == gjson.String:
		kind := wire.PartText
		if f.thought.Type == gjson.True {
			kind = wire.PartReasoning
		}
		if f.text.Str != "" {
			*to = append(*to, wire.Part{Kind: kind, Text: f.text.Str})
		}
	case f.data.IsObject():
		h.image(to, wire.Part{Kind: wire.PartImage, At: at, Media: pick(f.data, "mimeType").Str, Data: f.data.Get("data").Str}, at)
	case f.file.IsObject():
		uri, media := pick(f.file, "fileUri").Str, pick(f.file, "mimeType").Str
		if strings.HasPrefix(uri, "https://") && !strings.HasPrefix(uri, filesHost) {
			h.image(to, wire.Part{Kind: wire.PartImage, At: at, Media: media, URL: uri}, at)
			return
		}
		h.extra(at+".fileData", false) // only the vendor can read it
	case !f.whole.IsObject(), saysNothing(f.whole):
	default:
		h.extra(at, false)
	}
}

// filesHost is where files live that were handed to the vendor.
const filesHost = "https://generativelanguage.googleapis.com/"

func (h *hubRead) image(to *[]wire.Part, part wire.Part, at string) {
	if !strings.HasPrefix(part.Media, "image/") {
		h.extra(at, false)
		return
	}
	if part.URL != "" {
		part.Media = ""
	}
	*to = append(*to, part)
}

// result reads what a function gave back.
func (h *hubRead) result(v gjson.Result, at string) {
	part, ok := h.calls.answer(v)
	if !ok {
		h.extra(at, false) // nothing that was called
		return
	}
	h.beyond(v, at, "id", "name", "response", "parts", "willContinue")
	each(v.Get("parts"), func(i int, p gjson.Result) bool {
		f := takeApart(p)
		h.part(&part.Result, &f, place(at+".parts", i))
		return true
	})
	if w := pick(v, "willContinue"); w.Type == gjson.True {
		h.extra(at+".willContinue", false)
	}
	h.p.Turns = append(h.p.Turns, wire.Turn{Role: wire.ByTool, Parts: []wire.Part{part}, At: at})
}
