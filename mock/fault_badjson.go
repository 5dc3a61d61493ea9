package mock

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// badjson writes JSON as careless models do, or with badjson:body an answer
// that is no JSON itself.
func badJSONFault(s spec) (player, error) {
	where, err := s.choice("content", "body")
	return func(x *exchange) {
		if where == "body" {
			x.breakBody()
			x.answer()
			return
		}
		x.asJSON()
		x.reply.setText(func(text string) (string, string) { return careless(text), "stop" })
		x.answer()
	}, err
}

// breakBody cuts the last byte off a body, and off the JSON of each event.
func (x *exchange) breakBody() {
	x.begin()
	if n := len(x.plain); n > 0 {
		x.plain = x.plain[:n-1]
	}
	for i, f := range x.frames {
		if body := bytes.TrimRight(f.raw, "\r\n"); bytes.HasSuffix(body, []byte("}")) {
			end := f.raw[len(body):]
			x.frames[i].raw = slices.Concat(body[:len(body)-1], end)
		}
	}
}

// careless rewrites an object with bare keys, single quotes and a trailing
// comma; what is no object gets a trailing comma only.
func careless(text string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil || len(object) == 0 {
		return text + ","
	}
	keys := make([]string, 0, len(object))
	for k := range object {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	b.WriteString("{")
	for _, k := range keys {
		value := string(object[k])
		var plain string
		if json.Unmarshal(object[k], &plain) == nil && !strings.ContainsAny(plain, `'"\`) {
			value = "'" + plain + "'"
		}
		fmt.Fprintf(&b, "%s: %s,", k, value)
	}
	return b.String() + "}"
}
