package responses

import (
	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

var _ wire.Mender = Room{}

// maxPieces bounds how many pieces of a body are looked at; what is beyond them
// stays as it is.
const maxPieces = 4096

// Pieces implements wire.Mender: the arguments of the tool calls, or the text
// of an answer without any.
func (m Room) Pieces(body []byte) (list []wire.Piece) {
	root, output := outputOf(body)
	c := countOf(output)
	finish := finishWord(root, &c)
	arguments(output, func(call int, item, v gjson.Result) {
		list = append(list, wire.Piece{Call: call, Tool: item.Get("name").Str, Text: v.Str, Finish: finish})
	})
	if len(list) > 0 {
		return list
	}
	if text, finish, ok := m.Content(body); ok {
		list = append(list, wire.Piece{Call: wire.NoCall, Text: text, Finish: finish})
	}
	return list
}

// arguments visits what the caller's functions are called with.
func arguments(output gjson.Result, visit func(call int, item, v gjson.Result)) {
	n := 0
	output.ForEach(func(_, item gjson.Result) bool {
		if item.Get("type").Str != "function_call" {
			return true
		}
		if v := item.Get("arguments"); v.Type == gjson.String {
			visit(n, item, v)
		}
		n++
		return n < maxPieces
	})
}

// Mend implements wire.Mender. An answer that is Cut ends as one that ran into
// its limit, and a call that is Cut is not completed.
func (m Room) Mend(body []byte, pieces []wire.Piece) []byte {
	_, output := outputOf(body)
	e := edit.New(body)
	given, cut := make(map[int]wire.Piece, len(pieces)), false
	for _, p := range pieces {
		given[p.Call], cut = p, cut || p.Cut
	}
	if p, ok := given[wire.NoCall]; ok {
		if now, _, _ := m.Content(body); now != p.Text {
			replaceTexts(e, output, p.Text)
		}
	}
	arguments(output, func(call int, item, v gjson.Result) {
		p, ok := given[call]
		if ok && p.Text != v.Str {
			e.Replace(v, edit.Quoted(p.Text))
		}
		if status := item.Get("status"); p.Cut && status.Str == "completed" {
			e.Replace(status, `"incomplete"`)
		}
	})
	body = e.Apply()
	if status := gjson.GetBytes(body, "status").Str; cut && (status == "completed" || status == "") {
		body = edit.SetMember(edit.SetMember(body, "status", `"incomplete"`), "incomplete_details", `{"reason":"max_output_tokens"}`)
	}
	return body
}
