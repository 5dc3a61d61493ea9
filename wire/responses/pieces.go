package responses

import (
	"github.com/tidwall/gjson"

	"backstop/wire"
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
	arguments(output, func(call int, tool string, v gjson.Result) {
		list = append(list, wire.Piece{Call: call, Tool: tool, Text: v.Str, Finish: finish})
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
func arguments(output gjson.Result, visit func(call int, tool string, v gjson.Result)) {
	n := 0
	output.ForEach(func(_, item gjson.Result) bool {
		if item.Get("type").Str != "function_call" {
			return true
		}
		if v := item.Get("arguments"); v.Type == gjson.String {
			visit(n, item.Get("name").Str, v)
		}
		n++
		return n < maxPieces
	})
}

// Mend implements wire.Mender. An answer that is Cut ends as one that ran into
// its limit.
func (m Room) Mend(body []byte, pieces []wire.Piece) []byte {
	_, output := outputOf(body)
	e := edits{b: body}
	given, cut := make(map[int]string, len(pieces)), false
	for _, p := range pieces {
		given[p.Call], cut = p.Text, cut || p.Cut
	}
	if text, ok := given[wire.NoCall]; ok {
		if now, _, _ := m.Content(body); now != text {
			replaceTexts(&e, output, text)
		}
	}
	arguments(output, func(call int, _ string, v gjson.Result) {
		if text, ok := given[call]; ok && text != v.Str {
			e.replace(v, quoted(text))
		}
	})
	body = e.apply()
	if status := gjson.GetBytes(body, "status").Str; cut && (status == "completed" || status == "") {
		body = setMember(setMember(body, "status", `"incomplete"`), "incomplete_details", `{"reason":"max_output_tokens"}`)
	}
	return body
}
