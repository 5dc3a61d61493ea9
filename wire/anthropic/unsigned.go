package anthropic

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// unsigned is the signature of thinking that came from an upstream of another
// dialect, which signs nothing. Blocks that carry it are ours: they are taken
// out again before a request goes to an upstream of this dialect, which would
// refuse them.
const unsigned = "backstop-unsigned"

// unsign takes blocks of ours out of a request. If the model is in the middle
// of a turn that lost its thinking so, it is not asked to think: the API
// demands that the whole of such a turn was thought out.
func unsign(o *object) {
	messages := o.find("messages")
	if messages == nil || !bytes.Contains(o.b, []byte(unsigned)) {
		return
	}
	list := messages.val.Array()
	emptied, last := make([]bool, len(list)), false
	for i, m := range list {
		if m.Get("role").Str != "assistant" {
			continue
		}
		blocks := m.Get("content").Array()
		gone, n := make([]bool, len(blocks)), 0
		for j, v := range blocks {
			if v.Get("signature").Str == unsigned && v.Get("type").Str == "thinking" {
				gone[j] = true
				n++
			}
		}
		last = n > 0
		if emptied[i] = n > 0 && n == len(blocks); !emptied[i] {
			o.cutElements(blocks, gone)
		}
	}
	o.cutElements(list, emptied)
	results := len(list) > 0 && list[len(list)-1].Get(`content.#(type=="tool_result")`).Exists()
	if t := o.find("thinking"); last && results && t != nil {
		o.drop("thinking")
	}
}

// cutElements takes elements out of an array, each with one comma.
func (e *edits) cutElements(list []gjson.Result, gone []bool) {
	kept := -1
	for i := range list {
		if !gone[i] {
			kept = i
		}
	}
	for i, v := range list {
		if !gone[i] {
			continue
		}
		c := edit{from: v.Index, to: v.Index + len(v.Raw)}
		switch {
		case i < kept:
			c.to = list[i+1].Index
		case i > 0:
			c.from = list[i-1].Index + len(list[i-1].Raw)
		}
		e.list = append(e.list, c)
	}
}
