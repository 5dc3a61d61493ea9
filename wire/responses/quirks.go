package responses

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
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

// apply renames, drops and sets parameters, in this order and within each in
// a fixed one. Renames see the caller's names, drops and sets the new ones.
func (q quirks) apply(o *object) {
	for _, from := range slices.Sorted(maps.Keys(q.RenameParams)) {
		if to := here(q.RenameParams[from]); !core[from] && !core[to] && to != "" {
			o.rename(here(from), to)
		}
	}
	for _, name := range q.DropParams {
		if !core[name] {
			o.drop(here(name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(q.SetParams)) {
		if core[name] {
			continue
		}
		if raw, err := json.Marshal(q.SetParams[name]); err == nil {
			o.set(here(name), string(raw))
		}
	}
}

// items visits the items of the input, if it is a list.
func items(o *object, visit func(item gjson.Result)) {
	if input := o.find("input"); input != nil && input.val.IsArray() {
		input.val.ForEach(func(_, item gjson.Result) bool {
			visit(item)
			return true
		})
	}
}

// history shortens tool-call ids that are too long for this upstream.
func (q quirks) history(o *object) {
	items(o, func(item gjson.Result) {
		if id := item.Get("call_id"); id.Type == gjson.String && len(id.Str) > q.ToolIDMax {
			o.replace(id, quoted(wire.ToolID(id.Str)))
		}
	})
}
