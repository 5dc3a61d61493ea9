package gemini

import (
	"strings"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// contents writes the talk. Results of functions that were called together are
// one content here; what the asker says after them is the next.
func (w *hubWrite) contents() {
	c := &contentList{w: w, named: calledNames(w.p.Turns)}
	turns := wire.ResultsFirst(w.p.Turns)
	for i := range turns {
		t := &turns[i]
		switch t.Role {
		case wire.ByTool:
			c.open("user", c.results)
			c.results = true
			c.result(&t.Parts[0], t.At)
			continue
		case wire.ByAsker:
			c.open("user", false)
		case wire.BySystem:
			w.losses.Lefts(w.p, t.At)
			c.open("user", false)
		case wire.ByModel:
			if i == len(turns)-1 && w.p.Dialect != backstop.Gemini && !w.quirks.Prefill {
				w.losses.Cannots(w.p, t.At+".role") // an answer begun by the caller
			}
			c.open("model", false)
		}
		c.results = false
		c.turn(t)
	}
	c.close()
	w.b = append(append(append(w.b, '['), c.b...), ']')
	if len(c.b) == 0 && len(w.losses.Cannot) == 0 {
		w.losses.Cannots(w.p, "messages")
	}
}

// calledNames are the names of the functions that were called, by id of the call.
func calledNames(turns []wire.Turn) map[string]string {
	names := map[string]string{}
	for i := range turns {
		for j := range turns[i].Parts {
			if part := &turns[i].Parts[j]; part.Kind == wire.PartToolCall {
				names[part.ID] = part.Name
			}
		}
	}
	return names
}

// contentList collects contents; those without a part are left out, as the API
// takes no empty ones.
type contentList struct {
	w       *hubWrite
	named   map[string]string
	b       []byte
	role    string
	parts   []byte
	results bool // the open content holds results of functions only
}

func (c *contentList) open(role string, join bool) {
	if join && c.role == role {
		return
	}
	c.close()
	c.role = role
}

func (c *contentList) close() {
	if len(c.parts) > 0 {
		if len(c.b) > 0 {
			c.b = append(c.b, ',')
		}
		c.b = append(append(append(c.b, `{"role":"`...), c.role...), `","parts":[`...)
		c.b = append(append(c.b, c.parts...), `]}`...)
	}
	c.parts = c.parts[:0]
}

func (c *contentList) turn(t *wire.Turn) {
	for i := range t.Parts {
		c.part(&t.Parts[i], wire.PartAt(t.Parts, i, t.At+".content"))
	}
}

// next begins a part.
func (c *contentList) next() {
	if len(c.parts) > 0 {
		c.parts = append(c.parts, ',')
	}
}

func (c *contentList) part(part *wire.Part, at string) {
	p := c.w.p
	switch part.Kind {
	case wire.PartText, wire.PartRefusal:
		if part.Text != "" {
			c.next()
			c.parts = append(wire.AppendString(append(c.parts, `{"text":`...), part.Text), '}')
		}
	case wire.PartReasoning:
		if p.Dialect != backstop.Gemini || part.Sealed || part.Text == "" {
			c.w.losses.Lefts(p, "reasoning_content")
			return
		}
		c.next()
		c.parts = append(wire.AppendString(append(c.parts, `{"text":`...), part.Text), `,"thought":true}`...)
	case wire.PartImage:
		c.image(part, at)
	case wire.PartToolCall:
		c.call(part, at)
	default:
		c.w.losses.Cannots(p, at)
	}
}

// call writes a function call. Models that demand a signature get the word that
// stands for one.
func (c *contentList) call(part *wire.Part, at string) {
	args, ok := inputOf(part.Arguments)
	if !ok {
		c.w.losses.Cannots(c.w.p, at+".arguments")
	}
	c.next()
	c.parts = appendCall(c.parts, callID(part), part.Name, args)
	if signs(c.w.model) {
		c.parts = append(c.parts, `,"thoughtSignature":"`+unsigned+`"`...)
	}
	c.parts = append(c.parts, '}')
}

// callID is the id of a call as every upstream takes it, "" = none.
func callID(part *wire.Part) string {
	if part.ID == "" {
		return ""
	}
	return wire.ToolID(part.ID)
}

// appendCall appends a part with a function call, without the brace at its end.
func appendCall(b []byte, id, name, args string) []byte {
	b = append(b, `{"functionCall":{`...)
	if id != "" {
		b = append(wire.AppendString(append(b, `"id":`...), id), ',')
	}
	b = wire.AppendString(append(b, `"name":`...), name)
	return append(append(append(b, `,"args":`...), args...), '}')
}

// inputOf is the object of a call's arguments.
func inputOf(arguments string) (string, bool) {
	arguments = strings.TrimSpace(arguments)
	if arguments == "" {
		return "{}", true
	}
	if !wire.ValidJSON([]byte(arguments)) || !gjson.Parse(arguments).IsObject() {
		return "{}", false
	}
	return arguments, true
}

// pictures are the media types that the API takes, by the end of a URL that
// tells them. As of 2026-11.
var pictures = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp", ".heic": "image/heic", ".heif": "image/heif",
}

// anyPicture is said of a URL that does not tell.
const anyPicture = "image/jpeg"

func (c *contentList) image(part *wire.Part, at string) {
	b, ok := appendImage(c.parts, part, len(c.parts) > 0)
	if !ok {
		c.w.losses.Cannots(c.w.p, at)
		return
	}
	c.parts = b
}

func takesPicture(media string) bool {
	for _, m := range pictures {
		if m == strings.ToLower(media) {
			return true
		}
	}
	return false
}

// appendImage appends a part with an image: its bytes, or a public URL, which
// the API reads itself.
func appendImage(b []byte, part *wire.Part, comma bool) ([]byte, bool) {
	if comma {
		b = append(b, ',')
	}
	switch {
	case part.Data != "" && takesPicture(part.Media):
		b = wire.AppendString(append(b, `{"inlineData":{"mimeType":`...), part.Media)
		b = wire.AppendString(append(b, `,"data":`...), part.Data)
	case strings.HasPrefix(part.URL, "https://"):
		media := anyPicture
		path, _, _ := strings.Cut(part.URL, "?")
		if dot := strings.LastIndexByte(path, '.'); dot >= 0 && pictures[strings.ToLower(path[dot:])] != "" {
			media = pictures[strings.ToLower(path[dot:])]
		}
		b = wire.AppendString(append(b, `{"fileData":{"mimeType":`...), media)
		b = wire.AppendString(append(b, `,"fileUri":`...), part.URL)
	default:
		return b, false
	}
	return append(b, '}', '}'), true
}

// result writes what a function gave back. It is called by name here.
func (c *contentList) result(part *wire.Part, at string) {
	name, ok := c.named[part.ID]
	if !ok {
		c.w.losses.Cannots(c.w.p, at) // nothing that was called
		return
	}
	var pictures []byte
	for i := range part.Result {
		switch r := &part.Result[i]; r.Kind {
		case wire.PartText:
		case wire.PartImage:
			b, ok := appendImage(pictures, r, len(pictures) > 0)
			if !ok || hasPrefix(bare(c.w.model), early) {
				c.w.losses.Cannots(c.w.p, wire.PartAt(part.Result, i, at+".content"))
			}
			pictures = b
		default:
			c.w.losses.Cannots(c.w.p, wire.PartAt(part.Result, i, at+".content"))
		}
	}
	c.next()
	c.parts = append(c.parts, `{"functionResponse":{`...)
	if id := callID(part); id != "" {
		c.parts = append(wire.AppendString(append(c.parts, `"id":`...), id), ',')
	}
	c.parts = wire.AppendString(append(c.parts, `"name":`...), name)
	key := "output"
	if part.Failed {
		key = "error"
	}
	c.parts = append(append(append(c.parts, `,"response":{"`...), key...), `":`...)
	c.parts = append(wire.AppendString(c.parts, wire.Joined(part.Result)), '}')
	if len(pictures) > 0 {
		c.parts = append(append(append(c.parts, `,"parts":[`...), pictures...), ']')
	}
	c.parts = append(c.parts, '}', '}')
}
