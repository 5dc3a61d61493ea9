package anthropic

import (
	"strings"

	"backstop/wire/internal/edit"
)

// unsigned is the signature of thinking that came from an upstream of another
// dialect, which signs nothing. Blocks that carry it are ours: they are taken
// out again before a request goes to an upstream of this dialect, which would
// refuse them.
const unsigned = "backstop-unsigned"

// unsign takes blocks of ours out of a request. If the model is in the middle
// of a turn that lost its thinking so, it is not asked to think: the API
// demands that the whole of such a turn was thought out.
func unsign(o *edit.Object) {
	messages := o.Find("messages")
	if messages == nil || !strings.Contains(messages.Val.Raw, unsigned) {
		return
	}
	list := messages.Val.Array()
	emptied, last, results := make([]bool, len(list)), false, false
	for i, m := range list {
		if m.Get("role").Str != "assistant" {
			results = results || m.Get(`content.#(type=="tool_result")`).Exists()
			continue
		}
		results = false
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
			o.CutElements(blocks, gone)
		}
	}
	o.CutElements(list, emptied)
	if t := o.Find("thinking"); last && results && t != nil {
		o.Drop("thinking")
	}
}
