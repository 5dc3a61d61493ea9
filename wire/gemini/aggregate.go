package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// aggregate puts a stream together. Each event costs its own length.
type aggregate struct {
	top        edit.Fields
	usage      edit.Fields
	candidates []*candidate // by index, nil = not seen
}

// Aggregator puts the events of a stream together into the plain body of the
// same answer: neighbouring texts and neighbouring thoughts are strung
// together, except those with a signature, which belongs to its part alone;
// all other parts are listed, so are log probabilities and citations. Of every
// other field, known or not, the last value that is not null counts. Its memory
// is about that of the answer; the bound is the driver's.
func (Room) Aggregator(*wire.Request) wire.Aggregator { return &aggregate{} }

func (a *aggregate) Add(data []byte) {
	c, ok := parseData(data)
	if !ok {
		return
	}
	c.root.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); name {
		case "candidates":
			a.top.Put(name, "[]")
		case "usageMetadata":
			a.usage.Merge(v)
			a.top.Put(name, "{}")
		default:
			a.top.Put(name, v.Raw)
		}
		return true
	})
	c.each(func(index int, v gjson.Result) {
		for len(a.candidates) <= index {
			a.candidates = append(a.candidates, nil)
		}
		if a.candidates[index] == nil {
			a.candidates[index] = &candidate{}
		}
		a.candidates[index].add(v)
	})
}

// Body returns the plain body. It may be asked more than once.
func (a *aggregate) Body() []byte {
	return a.top.AppendWith(nil, func(out []byte, f edit.Field) []byte {
		switch f.Name {
		case "candidates":
			return a.appendCandidates(out)
		case "usageMetadata":
			return a.usage.AppendTo(out)
		}
		return append(out, f.Raw...)
	})
}

func (a *aggregate) appendCandidates(out []byte) []byte {
	out = append(out, '[')
	n := 0
	for _, c := range a.candidates {
		if c == nil {
			continue
		}
		if n > 0 {
			out = append(out, ',')
		}
		n++
		out = c.appendTo(out)
	}
	return append(out, ']')
}

// candidate is one candidate so far.
type candidate struct {
	edit.Fields
	content  edit.Fields
	parts    []*part
	logprobs lists
	cited    lists
}

func (c *candidate) add(v gjson.Result) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); {
		case name == "content" && v.IsObject():
			c.Put(name, "{}")
			v.ForEach(func(k, v gjson.Result) bool {
				if k.String() == "parts" && v.IsArray() {
					c.content.Put("parts", "[]")
					c.addParts(v)
				} else {
					c.content.Put(k.String(), v.Raw)
				}
				return true
			})
		case name == "finishReason" && v.Str != "":
			c.Put(name, edit.Quoted(ownReason(v.Str)))
		case name == "logprobsResult" && v.IsObject():
			c.logprobs.add(v)
			c.Put(name, "{}")
		case name == "citationMetadata" && v.IsObject():
			c.cited.add(v)
			c.Put(name, "{}")
		default:
			c.Put(name, v.Raw)
		}
		return true
	})
}

func (c *candidate) addParts(v gjson.Result) {
	v.ForEach(func(_, p gjson.Result) bool {
		if !p.IsObject() {
			return true
		}
		kind, plain := plainPart(p)
		switch last := len(c.parts) - 1; {
		case plain && p.Get("text").Str == "": // says nothing
		case plain && last >= 0 && c.parts[last].kind == kind:
			c.parts[last].text.WriteString(p.Get("text").Str)
		case plain:
			grown := &part{kind: kind}
			grown.text.WriteString(p.Get("text").Str)
			c.parts = append(c.parts, grown)
		default:
			c.parts = append(c.parts, &part{raw: p.Raw})
		}
		return true
	})
}

// plainPart reports whether a part is nothing but a text or a thought.
func plainPart(p gjson.Result) (kind pieceKind, plain bool) {
	kind, plain = pieceText, p.Get("text").Type == gjson.String
	p.ForEach(func(k, v gjson.Result) bool {
		switch k.String() {
		case "text":
		case "thought":
			if v.Type == gjson.True {
				kind = pieceThought
			}
		default:
			plain = false
		}
		return plain
	})
	return kind, plain
}

// part is one part so far: text that grows, or what came as it is.
type part struct {
	kind pieceKind // pieceText or pieceThought
	text strings.Builder
	raw  string
}

func (p *part) appendTo(out []byte) []byte {
	if p.raw != "" {
		return append(out, p.raw...)
	}
	out = wire.AppendString(append(out, `{"text":`...), p.text.String())
	if p.kind == pieceThought {
		out = append(out, `,"thought":true`...)
	}
	return append(out, '}')
}

func (c *candidate) appendTo(out []byte) []byte {
	return c.AppendWith(out, func(out []byte, f edit.Field) []byte {
		switch f.Name {
		case "content":
			return c.appendContent(out)
		case "logprobsResult":
			return c.logprobs.appendTo(out, f.Raw)
		case "citationMetadata":
			return c.cited.appendTo(out, f.Raw)
		}
		return append(out, f.Raw...)
	})
}

func (c *candidate) appendContent(out []byte) []byte {
	return c.content.AppendWith(out, func(out []byte, f edit.Field) []byte {
		if f.Name != "parts" {
			return append(out, f.Raw...)
		}
		out = append(out, '[')
		for j, p := range c.parts {
			if j > 0 {
				out = append(out, ',')
			}
			out = p.appendTo(out)
		}
		return append(out, ']')
	})
}
