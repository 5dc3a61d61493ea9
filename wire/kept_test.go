package wire_test

import (
	"runtime"
	"strings"
	"testing"

	"backstop/internal/testkit"
	"backstop/wire"
	"backstop/wire/anthropic"
	"backstop/wire/openai"
	"backstop/wire/responses"
)

// Names and ids are kept for hours, by upstreams, breakers and tables of ids. A
// string that is a part of the body it was read from would keep all of that.
func TestANameThatIsKeptDoesNotKeepTheBodyItWasReadFrom(t *testing.T) {
	const size, count = 512 << 10, 32
	pad := strings.Repeat("x", size)
	answer := `{"object":"response","id":"resp_1","conversation":{"id":"conv_1"},"output":[{"id":"msg_1","type":"message"}],"instructions":"` + pad + `"}`
	model := func(room wire.Room, op wire.Op, body string) func() []string {
		return func() []string {
			q, fail := room.Read(op, []byte(body))
			if fail != nil {
				t.Fatal(fail)
			}
			return []string{q.Model}
		}
	}
	for name, read := range map[string]func() []string{
		"ids of an answer": func() []string { return wire.IssuedIDs([]byte(answer)) },
		"ids of an answer in an event": func() []string {
			return wire.IssuedIDs([]byte(`{"type":"response.created","response":` + answer + `}`))
		},
		"ids of items": func() (ids []string) {
			for _, it := range wire.OutputItems([]byte(answer)) {
				ids = append(ids, it.ID)
			}
			return ids
		},
		"the model of a chat call":      model(openai.Room{}, wire.Chat, `{"model":"m","messages":[{"role":"user","content":"`+pad+`"}]}`),
		"the model of an embedding":     model(openai.Room{}, wire.Embedding, `{"model":"m","input":"`+pad+`"}`),
		"the model of a Messages call":  model(anthropic.Room{}, wire.Chat, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"`+pad+`"}]}`),
		"the model of a Responses call": model(responses.Room{}, wire.Responses, `{"model":"m","input":"`+pad+`"}`),
	} {
		t.Run(name, func(t *testing.T) {
			var kept []string
			before := testkit.Heap()
			for range count {
				kept = append(kept, read()...)
			}
			if grown := testkit.Heap() - before; len(kept) < count || kept[0] == "" || grown > size*count/4 {
				t.Errorf("%d names keep %d KiB", len(kept), grown>>10)
			}
			runtime.KeepAlive(kept)
		})
	}
}
