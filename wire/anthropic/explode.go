package anthropic

import (
	"strconv"

	"github.com/tidwall/gjson"

	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Explode turns a plain body into the events of the same answer, without
// frames, ready for Writer.Event or for an Aggregator, which makes the same
// body of them again. An x_backstop object goes with message_stop. What is no
// message gives nil.
func (Room) Explode(_ *wire.Request, body []byte) [][]byte {
	if !wire.ValidJSON(body) {
		return nil
	}
	root := gjson.ParseBytes(body)
	content := root.Get("content")
	if !root.IsObject() || !content.IsArray() {
		return nil
	}
	x := exploder{}
	x.opening(root)
	n := 0
	content.ForEach(func(_, v gjson.Result) bool {
		if n == maxBlocks {
			return false
		}
		x.block(n, v)
		n++
		return true
	})
	if n == maxBlocks {
		return nil
	}
	x.ending(root)
	return x.out
}

type exploder struct{ out [][]byte }

func (x *exploder) add(data []byte) { x.out = append(x.out, data) }

func (x *exploder) opening(root gjson.Result) {
	var f edit.Fields
	root.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); name {
		case "x_backstop":
		case "content":
			f.Put(name, "[]")
		case "stop_reason", "stop_sequence":
			f.Put(name, "null")
		default:
			f.Put(name, v.Raw)
		}
		return true
	})
	x.add(append(f.AppendTo([]byte(`{"type":"message_start","message":`)), '}'))
}

// streamedIn are the fields of blocks that arrive in deltas, and how they are
// called there.
var streamedIn = map[string][2]string{
	"text": {"text_delta", "text"}, "thinking": {"thinking_delta", "thinking"},
	"signature": {"signature_delta", "signature"}, "input": {"input_json_delta", "partial_json"},
}

func (x *exploder) block(index int, v gjson.Result) {
	at := `"index":` + strconv.Itoa(index)
	if !v.IsObject() {
		v = gjson.Parse("{}")
	}
	var start edit.Fields
	var deltas [][]byte
	v.ForEach(func(k, v gjson.Result) bool {
		name := k.String()
		in, moves := streamedIn[name]
		text, empty := v.Str, `""`
		if name == "input" {
			text, empty = v.Raw, "{}"
			moves = moves && v.IsObject()
		} else {
			moves = moves && v.Type == gjson.String
		}
		if !moves {
			start.Put(name, v.Raw)
			return true
		}
		start.Put(name, empty)
		if text != "" && text != "{}" {
			b := append([]byte(`{"type":"content_block_delta",`+at+`,"delta":{"type":"`+in[0]+`","`+in[1]+`":`), edit.Quoted(text)...)
			deltas = append(deltas, append(b, '}', '}'))
		}
		return true
	})
	x.add(append(start.AppendTo([]byte(`{"type":"content_block_start",`+at+`,"content_block":`)), '}'))
	x.out = append(x.out, deltas...)
	x.add([]byte(`{"type":"content_block_stop",` + at + `}`))
}

func (x *exploder) ending(root gjson.Result) {
	var delta edit.Fields
	for _, name := range [...]string{"stop_reason", "stop_sequence"} {
		raw := root.Get(name).Raw
		if raw == "" {
			raw = "null"
		}
		delta.Put(name, raw)
	}
	b := delta.AppendTo([]byte(`{"type":"message_delta","delta":`))
	if u := root.Get("usage"); u.IsObject() {
		b = append(append(b, `,"usage":`...), u.Raw...)
	}
	x.add(append(b, '}'))
	stop := []byte(`{"type":"message_stop"`)
	if note := root.Get("x_backstop"); note.IsObject() {
		stop = append(append(stop, `,"x_backstop":`...), note.Raw...)
	}
	x.add(append(stop, '}'))
}
