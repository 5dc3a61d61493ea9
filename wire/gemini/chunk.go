package gemini

import (
	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/intake"
)

// chunk is an answer, or what one event of a streamed answer brings: both have
// the same form.
type chunk struct {
	root, candidates, feedback, usage, fault gjson.Result
}

// parse reads an event. It is false for what is no event of this dialect; the
// fault is then still told, if there is one.
func parse(ev *sse.Event) (chunk, bool) {
	if ev.Comment {
		return chunk{}, false
	}
	return parseData(ev.Data)
}

func parseData(data []byte) (c chunk, ok bool) {
	if !wire.ValidJSON(data) {
		return c, false
	}
	c.root = gjson.ParseBytes(data)
	if !c.root.IsObject() {
		return c, false
	}
	seen, twice := false, false
	keep := func(to *gjson.Result, v gjson.Result) {
		twice = twice || to.Exists() // two parsers could read two answers out of it
		*to = v
	}
	c.root.ForEach(func(k, v gjson.Result) bool {
		switch k.String() {
		case "candidates":
			keep(&c.candidates, v)
		case "promptFeedback":
			keep(&c.feedback, v)
		case "usageMetadata":
			keep(&c.usage, v)
		case "error":
			keep(&c.fault, v)
		case "responseId", "modelVersion", "createTime":
			seen = true
		}
		return true
	})
	if twice || intake.Filled(c.fault) {
		return c, false
	}
	seen = seen || c.candidates.IsArray() || c.feedback.IsObject() || c.usage.IsObject()
	return c, seen && (!intake.Filled(c.candidates) || c.candidates.IsArray()) && c.sound()
}

// sound reports whether the candidates are objects with an index that can be.
func (c *chunk) sound() bool {
	good := true
	c.candidates.ForEach(func(_, v gjson.Result) bool {
		n := v.Get("index")
		good = v.IsObject() && (!intake.Filled(n) || n.Type == gjson.Number && n.Num >= 0 && n.Num < maxCandidates && n.Num == float64(int(n.Num)))
		return good
	})
	return good
}

// each visits the candidates. The API leaves the index 0 out.
func (c *chunk) each(visit func(index int, v gjson.Result)) {
	c.candidates.ForEach(func(_, v gjson.Result) bool {
		visit(int(v.Get("index").Num), v)
		return true
	})
}

// blocked reports whether the prompt was refused.
func (c *chunk) blocked() bool { return blocking(c.feedback.Get("blockReason").Str) }

func blocking(reason string) bool { return reason != "" && reason != "BLOCKED_REASON_UNSPECIFIED" }

// finish is the reason why a candidate ended, "" = it goes on.
func finish(candidate gjson.Result) string {
	reason := candidate.Get("finishReason").Str
	if reason == "FINISH_REASON_UNSPECIFIED" {
		return ""
	}
	return reason
}

// pieceKind says what a part of a candidate is worth.
type pieceKind uint8

const (
	pieceNone pieceKind = iota // empty, a signature alone, a call of nothing
	pieceText
	pieceThought
	pieceCall
	pieceOther // code, data, …
)

// pieceOf looks at one part of a candidate; size is in content bytes.
func pieceOf(part gjson.Result) (kind pieceKind, size int) {
	if !part.IsObject() {
		return pieceNone, 0
	}
	if call := part.Get("functionCall"); call.IsObject() {
		switch {
		case call.Get("name").Str != "":
			return pieceCall, len(call.Raw)
		case call.Get("partialArgs").Exists(), call.Get("willContinue").Exists():
			return pieceOther, len(call.Raw) // arguments that are streamed
		}
		return pieceNone, 0 // nobody can make a call without a name
	}
	if text := part.Get("text"); text.Type == gjson.String {
		switch {
		case text.Str == "":
			return pieceNone, 0
		case part.Get("thought").Type == gjson.True:
			return pieceThought, len(text.Str)
		}
		return pieceText, len(text.Str)
	}
	part.ForEach(func(k, v gjson.Result) bool {
		if v.IsObject() && !ofPart(k.String()) {
			kind, size = pieceOther, size+len(v.Raw)
		}
		return true
	})
	return kind, size
}

// ofPart reports whether a member only says something of the part that it is in.
func ofPart(name string) bool {
	switch name {
	case "thought", "thoughtSignature", "partMetadata", "videoMetadata":
		return true
	}
	return false
}

// eachPart visits the parts of a candidate.
func eachPart(candidate gjson.Result, visit func(part gjson.Result, kind pieceKind, size int)) {
	candidate.Get("content.parts").ForEach(func(_, part gjson.Result) bool {
		kind, size := pieceOf(part)
		visit(part, kind, size)
		return true
	})
}

// finishOf is the meaning of a finish reason.
func finishOf(reason string) wire.Finish {
	if reason == "CONTINUATION" { // the caller is to let the model go on
		return wire.Finish{Kind: wire.FinishGood, Name: "stop"}
	}
	return wire.FinishOf(reason)
}

// ownReason is this dialect's word for a vendor's finish reason.
func ownReason(reason string) string {
	if reason == "" || 'A' <= reason[0] && reason[0] <= 'Z' && reason != "COMPLETE" {
		return reason
	}
	switch finishOf(reason).Name {
	case "stop", "tool_calls", "function_call":
		return "STOP"
	case "length":
		return "MAX_TOKENS"
	case "content_filter":
		return "SAFETY"
	}
	return reason
}

// usageOf reads the usage. The dialect counts thoughts beside the answer and
// what tools brought beside the prompt; the hub's output and input are all of
// it.
func usageOf(u gjson.Result) wire.Usage {
	v := wire.NoUsage()
	count := func(name string) int {
		if n := u.Get(name); n.Type == gjson.Number && n.Num >= 0 && n.Num < 1<<40 {
			return int(n.Num)
		}
		return -1
	}
	v.Input, v.Output = count("promptTokenCount"), count("candidatesTokenCount")
	v.Cached, v.Reasoning = count("cachedContentTokenCount"), count("thoughtsTokenCount")
	if tools := count("toolUsePromptTokenCount"); tools > 0 {
		v.Input = max(v.Input, 0) + tools
	}
	if v.Reasoning > 0 {
		v.Output = max(v.Output, 0) + v.Reasoning
	}
	return v
}
