package gemini

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/intake"
)

func (h *hubRead) system(v gjson.Result) {
	h.parts(v, "systemInstruction", func(i int, part gjson.Result) bool {
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
	h.parts(c, at, func(i int, part gjson.Result) bool {
		f := takeApart(part)
		if f.result.IsObject() {
			if len(t.Parts) > 0 {
				h.p.Turns = append(h.p.Turns, t)
				t.Parts = nil
			}
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

// part reads one part of what was said.
func (h *hubRead) part(to *[]wire.Part, f *partFields, at string) {
	if intake.Filled(f.signature) && f.signature.Str != unsigned {
		h.extra("thoughtSignature", true) // only its issuer can read it
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
