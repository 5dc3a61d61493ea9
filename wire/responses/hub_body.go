package responses

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
)

// DecodeBody reads an answer. Reasoning that only its issuer can read has no
// place in another dialect and is left out.
func (Room) DecodeBody(body []byte) (*wire.Message, bool) {
	root, output := outputOf(body)
	end, fault := endOf(root)
	if !output.Exists() || fault != "" || end == wire.EndPause {
		return nil, false
	}
	c := wire.Choice{Ending: end}
	var lost wire.Lost
	output.ForEach(func(_, item gjson.Result) bool {
		losses(item, lost.Note)
		decodeItem(&c.Parts, item)
		return len(c.Parts) < maxItems
	})
	c.Ending = ending(end, countOf(output).called)
	m := &wire.Message{ID: root.Get("id").Str, Model: root.Get("model").Str, Choices: []wire.Choice{c}, Usage: usageOf(root.Get("usage")), Lost: lost}
	if n := root.Get("created_at"); n.Type == gjson.Number && n.Num > 0 && n.Num < 1<<40 {
		m.Created = int64(n.Num)
	}
	return m, true
}

// ending is the hub's word for an end.
func ending(end wire.Ending, called bool) wire.Ending {
	if end == wire.EndStop && called {
		return wire.EndTools
	}
	return end
}

func decodeItem(to *[]wire.Part, item gjson.Result) {
	switch item.Get("type").Str {
	case "message":
		item.Get("content").ForEach(func(_, part gjson.Result) bool {
			switch part.Get("type").Str {
			case "output_text":
				appendPart(to, wire.PartText, part.Get("text").Str)
			case "refusal":
				appendPart(to, wire.PartRefusal, part.Get("refusal").Str)
			}
			return len(*to) < maxItems
		})
	case "reasoning":
		appendPart(to, wire.PartReasoning, thought(item))
	case "function_call":
		*to = append(*to, wire.Part{
			Kind: wire.PartToolCall, ID: item.Get("call_id").Str, Name: item.Get("name").Str, Arguments: written(item.Get("arguments")),
		})
	}
}

// written is the JSON text that a tool is called with. It is to be a string;
// some servers write the object itself.
func written(arguments gjson.Result) string {
	if arguments.IsObject() {
		return arguments.Raw
	}
	return arguments.Str
}

// appendPart adds a text, if it is one.
func appendPart(to *[]wire.Part, kind wire.PartKind, text string) {
	if text != "" {
		*to = append(*to, wire.Part{Kind: kind, Text: text})
	}
}

// thoughtGap stands between the parts of a summary.
const thoughtGap = "\n\n"

// thought is the text of a reasoning item: its summary, or where it has none
// what was thought.
func thought(item gjson.Result) string {
	var list []string
	for _, name := range [...]string{"summary", "content"} {
		if v := item.Get(name); v.IsArray() {
			v.ForEach(func(_, part gjson.Result) bool {
				if text := part.Get("text").Str; text != "" {
					list = append(list, text)
				}
				return true
			})
		}
		if len(list) > 0 {
			break
		}
	}
	return strings.Join(list, thoughtGap)
}

// EncodeBody writes an answer. It has one choice.
func (Room) EncodeBody(m *wire.Message) ([]byte, bool) {
	if len(m.Choices) != 1 {
		return nil, false
	}
	c := &m.Choices[0]
	s := &scribe{answer: m.ID}
	for i := range c.Parts {
		s.part(&c.Parts[i])
	}
	s.cut = limited(c.Ending)
	s.shut()
	a := answerName{id: m.ID, created: m.Created, model: m.Model, asked: repetition(m.Asked)}
	return a.object(c.Ending, s.output(), &m.Usage), true
}

// part writes a part that is there as a whole.
func (s *scribe) part(p *wire.Part) {
	switch p.Kind {
	case wire.PartText:
		s.say("output_text", p.Text)
	case wire.PartRefusal:
		s.say("refusal", p.Text)
	case wire.PartReasoning:
		if p.Text != "" {
			s.think(p.Text)
			s.shutTalk()
		}
	case wire.PartToolCall:
		s.argue(s.call(callID(p.ID, s.answer, len(s.items)), p.Name), p.Arguments)
	}
}

// callID is the id of a tool call as the API takes it back, made up where its
// upstream forgot it.
func callID(id, answer string, n int) string {
	if id == "" {
		id = answer + "." + strconv.Itoa(n)
	}
	return wire.ToolID(id)
}

// limited reports whether an answer was cut by a limit.
func limited(end wire.Ending) bool { return end == wire.EndLength || end == wire.EndContext }

// answerName is what an answer calls itself.
type answerName struct {
	id      string
	created int64
	model   string
	asked   []byte // what it repeats of its request
}

// begun writes the response as it is before anything of it is there.
func (a *answerName) begun() []byte {
	return append(a.fields("in_progress", "", []byte("[]")), `,"usage":null}`...)
}

// object writes the whole response.
func (a *answerName) object(end wire.Ending, output []byte, u *wire.Usage) []byte {
	status, reason := "completed", ""
	switch end {
	case wire.EndLength, wire.EndContext:
		status, reason = "incomplete", "max_output_tokens"
	case wire.EndRefusal:
		status, reason = "incomplete", "content_filter"
	}
	b := append(a.fields(status, reason, output), `,"usage":`...)
	if !u.Reported() {
		return append(b, "null}"...)
	}
	return append(appendUsage(b, u), '}')
}

// fields writes all but the usage.
func (a *answerName) fields(status, reason string, output []byte) []byte {
	b := wire.AppendString([]byte(`{"id":`), a.id)
	b = strconv.AppendInt(append(b, `,"object":"response","created_at":`...), a.created, 10)
	b = append(append(append(b, `,"status":"`...), status...), `","background":false,"error":null,"incomplete_details":`...)
	if reason == "" {
		b = append(b, "null"...)
	} else {
		b = append(append(append(b, `{"reason":"`...), reason...), `"}`...)
	}
	b = wire.AppendString(append(b, `,"model":`...), a.model)
	b = append(append(b, `,"output":`...), output...)
	return append(append(b, `,"store":false`...), a.asked...)
}

// appendUsage writes a usage object. Typed clients demand the details, so what
// was not reported is 0.
func appendUsage(b []byte, u *wire.Usage) []byte {
	count := func(name string, n int) {
		b = strconv.AppendInt(append(append(append(b, '"'), name...), `":`...), int64(max(n, 0)), 10)
	}
	b = append(b, '{')
	count("input_tokens", u.Input)
	b = append(b, `,"input_tokens_details":{`...)
	count("cached_tokens", u.Cached)
	if u.Stored >= 0 {
		b = append(b, ',')
		count("cache_write_tokens", u.Stored)
	}
	b = append(b, `},`...)
	count("output_tokens", u.Output)
	b = append(b, `,"output_tokens_details":{`...)
	count("reasoning_tokens", u.Reasoning)
	b = append(b, `},`...)
	count("total_tokens", max(u.Input, 0)+max(u.Output, 0))
	return append(b, '}')
}
