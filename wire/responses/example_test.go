package responses_test

import (
	"fmt"

	"backstop"
	"backstop/wire"
	"backstop/wire/responses"
)

// A call goes on to an upstream that serves it with only its model changed.
func Example() {
	room := responses.Room{}
	r, fail := room.Read(wire.Responses, []byte(`{"model":"gpt-4o","input":"hello","stream":true}`))
	if fail != nil {
		fmt.Println(fail.Message)
		return
	}
	out, _ := room.Outbound(r, &backstop.Upstream{Name: "openai", Dialect: backstop.OpenAI}, &backstop.Step{Model: "gpt-5-mini"})
	fmt.Println(out.Path, string(out.Body))
	// Output: /responses {"model":"gpt-5-mini","input":"hello","stream":true}
}
