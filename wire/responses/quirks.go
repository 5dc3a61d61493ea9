package responses

import (
	"bytes"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
	"backstop/wire/internal/edit"
	"backstop/wire/internal/fit"
)

// quirks is what one upstream wants otherwise.
type quirks struct {
	backstop.Quirks
}

// chatWords are parameters of the chat form, which profiles and operators
// write their quirks in, that have another name here.
var chatWords = map[string]string{"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}

func here(name string) string {
	if own, ok := chatWords[name]; ok {
		return own
	}
	return name
}

func quirksOf(u *backstop.Upstream, model string) quirks { return quirks{wire.QuirksOf(u, model)} }

// touches reports whether a body may have to change for this upstream.
func (q quirks) touches(body []byte) bool {
	return len(q.DropParams)+len(q.RenameParams)+len(q.SetParams) > 0 ||
		bytes.Contains(body, []byte(`"call_id"`)) || bytes.Contains(body, []byte(ownThought))
}

// cannot says why the upstream cannot take the call: tools and promised JSON
// are never dropped silently, and without its core there is no request.
func (q quirks) cannot(r *wire.Request, s *backstop.Step) *backstop.Outcome {
	if r.Tools && q.NoTools {
		return cannotTake("tools", "the upstream takes no tools")
	}
	for i, list := range [...][]string{s.Without, q.DropParams} {
		for _, name := range list {
			promise := r.Promise.Kind != wire.PromiseNone && (name == "text" || name == "text.format" || name == "response_format")
			if i == 0 && core[name] || r.Tools && name == "tools" || promise {
				return cannotTake(name, "the upstream does not take "+name+", which the call cannot do without")
			}
		}
	}
	return nil
}

// apply renames, drops and sets parameters.
func (q quirks) apply(o *edit.Object) []string { return fit.Apply(&q.Quirks, o, isCore, here) }

func isCore(name string) bool { return core[name] }

// items visits the items of the input, if it is a list.
func items(o *edit.Object, visit func(item gjson.Result)) {
	if input := o.Find("input"); input != nil && input.Val.IsArray() {
		input.Val.ForEach(func(_, item gjson.Result) bool {
			visit(item)
			return true
		})
	}
}

// history shortens tool-call ids that are too long for this upstream.
func (q quirks) history(o *edit.Object) {
	items(o, func(item gjson.Result) {
		if id := item.Get("call_id"); id.Type == gjson.String && len(id.Str) > q.ToolIDMax {
			o.Replace(id, edit.Quoted(wire.ToolID(id.Str)))
		}
	})
}
