package openai_test

import (
	"fmt"

	"backstop"
	"backstop/sse"
	"backstop/wire"
	"backstop/wire/openai"
)

// A caller that wants one body is asked upstream as a stream; the events are
// judged one by one and put together.
func ExampleRoom() {
	room := openai.Room{}
	body := []byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}`)
	r, failure := room.Read(wire.Chat, body)
	if failure != nil {
		fmt.Println(failure)
		return
	}
	u := backstop.DefaultUpstream()
	out, _ := room.Outbound(r, &u, &backstop.Step{Upstream: &u, Model: "small"})
	fmt.Println(out.Path, string(out.Body))

	read, sum := room.Reader(r, &wire.Reply{Status: 200}), room.Aggregator(r)
	for _, data := range []string{
		`{"id":"c","model":"small","choices":[{"index":0,"delta":{"role":"assistant","content":"Good "}}]}`,
		`{"id":"c","model":"small","choices":[{"index":0,"delta":{"content":"day"},"finish_reason":"stop"}]}`,
	} {
		ev := &sse.Event{Data: []byte(data)}
		if sig := read.Event(ev); sig.Kind == wire.Token {
			sum.Add(ev.Data)
		}
	}
	outcome := read.End(true)
	fmt.Println(outcome.Reason(), string(sum.Body()))
	// Output:
	// /chat/completions {"model":"small","messages":[{"role":"user","content":"hello"}],"stream":true,"stream_options":{"include_usage":true}}
	// ok {"id":"c","model":"small","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Good day"},"finish_reason":"stop"}]}
}
