package wire_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"backstop/wire"
)

// The number of a choice is what its upstream calls it, wherever it stands.
func TestAChoiceKeepsItsNumber(t *testing.T) {
	body := `{"id":"1","model":"m","choices":[{"index":1,"message":{"role":"assistant","content":"second"},"finish_reason":"stop"},{"index":0,"message":{"role":"assistant","content":"first"},"finish_reason":"stop"}]}`
	out, _, ok := wire.Translate(rooms["openai"], rooms["gemini"], []byte(body), head)
	for i, word := range []string{"first", "second"} {
		at := gjson.GetBytes(out, `candidates.#(content.parts.0.text=="`+word+`").index`)
		if !ok || !at.Exists() || at.Num != float64(i) {
			t.Errorf("%s: %s", word, out)
		}
	}
}
