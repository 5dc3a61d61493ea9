package anthropic

import (
	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/intake"
)

var (
	_ wire.Mender = Room{}
	_ wire.Asker  = Room{}
)

// Pieces implements wire.Mender: the text of a message, or what its tools are
// called with.
func (Room) Pieces(body []byte) (list []wire.Piece) {
	root, content := contentOf(body)
	finish := finishOf(root.Get("stop_reason").Str).Name
	for _, v := range toolBlocks(content) {
		list = append(list, wire.Piece{Call: len(list), Text: inputText(v.Get("input")), Finish: finish, Tool: v.Get("name").Str})
	}
	if len(list) > 0 {
		return list
	}
	if text, finish, ok := (Room{}).Content(body); ok {
		list = append(list, wire.Piece{Call: wire.NoCall, Text: text, Finish: finish})
	}
	return list
}

func toolBlocks(content gjson.Result) (list []gjson.Result) {
	content.ForEach(func(_, v gjson.Result) bool {
		if v.Get("type").Str == "tool_use" {
			list = append(list, v)
		}
		return len(list) < maxBlocks
	})
	return list
}

// inputText is what a model wrote as the input of a tool: the object, or the
// text that is none and that an Aggregator kept.
func inputText(input gjson.Result) string {
	if text := input.Get(invalidInput); text.Type == gjson.String && !input.Get("@keys.1").Exists() {
		return text.Str
	}
	return written(input)
}

// written is the JSON text of an input. It is to be an object; some servers
// write a string of it, or none where there are no arguments.
func written(input gjson.Result) string {
	switch {
	case input.Type == gjson.String:
		return input.Str
	case !intake.Filled(input):
		return "{}"
	}
	return input.Raw
}

// unsaid reports whether there is no argument in an input, at least not yet.
func unsaid(input string) bool {
	v := gjson.Parse(input)
	return input == "" || v.IsObject() && !v.Get("@keys.0").Exists()
}

// Mend implements wire.Mender. Input that is still no object stays as it is.
func (Room) Mend(body []byte, pieces []wire.Piece) []byte {
	root, content := contentOf(body)
	e := edit.New(body)
	cut := false
	calls := toolBlocks(content)
	for i := range pieces {
		p := &pieces[i]
		cut = cut || p.Cut
		if p.Call < 0 || p.Call >= len(calls) {
			continue
		}
		input := calls[p.Call].Get("input")
		if raw, ok := inputOf(p.Text); ok && p.Text != inputText(input) && input.Exists() {
			e.Replace(input, raw)
		}
	}
	if reason := root.Get("stop_reason"); cut && reason.Type == gjson.String && finishOf(reason.Str).Kind == wire.FinishGood {
		e.Replace(reason, `"max_tokens"`)
	}
	body = e.Apply()
	for i := range pieces {
		if p := &pieces[i]; p.Call == wire.NoCall {
			body = Room{}.Replace(body, p.Text)
		}
	}
	return body
}

// Ask implements wire.Asker: the text is the user's last message. Two of those
// in a row are one to the API.
func (Room) Ask(r *wire.Request, text string) (*wire.Request, *backstop.Outcome) {
	o := edit.Open(r.Body)
	list := o.Find("messages")
	if r.Op != wire.Chat || list == nil || !list.Val.Get("0").Exists() {
		return nil, cannotTake("messages", "the messages cannot be added to")
	}
	end := list.Val.Index + len(list.Val.Raw) - 1
	o.Splice(end, end, `,{"role":"user","content":`+edit.Quoted(text)+`}`)
	more := *r
	more.Body = o.Apply()
	return &more, nil
}
