package mock

import "fmt"

// toolcall calls the first tool that was offered, or one of its own.
func toolCallFault(s spec) (player, error) {
	how, err := s.choice("whole", "truncated")
	return func(x *exchange) {
		for i := range x.reply.choices {
			c := toolChoice(x.ask, uint64(x.reply.created)+uint64(i))
			if how == "truncated" {
				c.pieces, c.finish = c.pieces[:max(1, len(c.pieces)/2)], "length"
			}
			x.reply.choices[i] = c
		}
		x.reply.count()
		x.answer()
	}, err
}

// toolChoice is a complete call with arguments that follow the tool's schema.
func toolChoice(a *ask, h uint64) choice {
	name, args := "lookup", `{"query":"`+word(h)+`"}`
	if len(a.tools) > 0 {
		name = a.tools[0].name
		args = "{}"
		if a.tools[0].params != nil {
			args = minimalJSON(a.tools[0].params, h)
		}
	}
	return choice{
		pieces: split(args), finish: "tool_calls",
		call: &call{id: fmt.Sprintf("%016x", stir(h)), name: name},
	}
}
