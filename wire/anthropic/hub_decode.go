package anthropic

import (
	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

// Decoder reads the events of a Messages stream.
func (Room) Decoder() wire.Decoder { return &decoder{} }

type decoder struct {
	usage edit.Fields    // raw counts, as the events report them
	whole map[int]string // input that came at once with the begin of a call
	calls map[int]bool   // blocks that are calls of the caller's tools
	list  []wire.Delta
	done  bool
}

func (d *decoder) Event(ev *sse.Event) []wire.Delta {
	d.list = d.list[:0]
	e, ok := parse(ev)
	if !ok || d.done {
		return nil
	}
	switch e.kind {
	case messageStart:
		m := e.root.Get("message")
		d.add(wire.Delta{Kind: wire.DeltaStart, ID: m.Get("id").Str, Model: m.Get("model").Str})
		d.count(m.Get("usage"))
	case blockStart:
		delete(d.calls, e.index)
		d.begin(e.index, e.root.Get("content_block"))
	case blockDelta:
		d.delta(e.index, e.root.Get("delta"))
	case blockStop:
		if input := d.whole[e.index]; input != "" {
			d.add(wire.Delta{Kind: wire.DeltaArguments, Part: e.index, Text: input})
			delete(d.whole, e.index)
		}
		d.add(wire.Delta{Kind: wire.DeltaPartEnd, Part: e.index})
	case messageDelta:
		if reason := e.root.Get("delta.stop_reason").Str; reason != "" {
			d.add(wire.Delta{Kind: wire.DeltaFinish, Ending: ending(reason), Stop: e.root.Get("delta.stop_sequence").Str})
		}
		d.count(e.root.Get("usage"))
	case messageStop:
		d.done = true
		d.add(wire.Delta{Kind: wire.DeltaDone})
	}
	return d.list
}

func (d *decoder) add(one wire.Delta) { d.list = append(d.list, one) }

// count adds up what the events report: counts of the input come first, the
// output in the end.
func (d *decoder) count(u gjson.Result) {
	if !u.IsObject() {
		return
	}
	d.usage.Merge(u)
	if v := usageOf(gjson.ParseBytes(d.usage.AppendTo(nil))); v.Reported() {
		d.add(wire.Delta{Kind: wire.DeltaUsage, Usage: v})
	}
}

func (d *decoder) lose(name string) { d.add(wire.Delta{Kind: wire.DeltaLost, Name: name}) }

func (d *decoder) begin(index int, v gjson.Result) {
	losses(v, d.lose)
	switch v.Get("type").Str {
	case "text":
		if text := v.Get("text").Str; text != "" {
			d.add(wire.Delta{Kind: wire.DeltaText, Part: index, Text: text})
		}
	case "thinking":
		if text := v.Get("thinking").Str; text != "" {
			d.add(wire.Delta{Kind: wire.DeltaReasoning, Part: index, Text: text})
		}
	case "redacted_thinking":
		d.add(wire.Delta{Kind: wire.DeltaProof, Part: index, Text: v.Get("data").Str, Sealed: true})
	case "tool_use":
		if d.calls == nil {
			d.calls = map[int]bool{}
		}
		d.calls[index] = true
		d.add(wire.Delta{Kind: wire.DeltaCall, Part: index, ID: v.Get("id").Str, Name: v.Get("name").Str})
		if input := written(v.Get("input")); !unsaid(input) {
			if d.whole == nil {
				d.whole = map[int]string{}
			}
			d.whole[index] = input
		}
	}
}

func (d *decoder) delta(index int, v gjson.Result) {
	one := wire.Delta{Part: index}
	switch v.Get("type").Str {
	case "text_delta":
		one.Kind, one.Text = wire.DeltaText, wire.Spoken(v.Get("text"))
	case "thinking_delta":
		one.Kind, one.Text = wire.DeltaReasoning, wire.Spoken(v.Get("thinking"))
	case "citations_delta":
		d.lose("citations")
	case "signature_delta":
		one.Kind, one.Text = wire.DeltaProof, v.Get("signature").Str
	case "input_json_delta":
		if !d.calls[index] {
			return // of a tool that the vendor runs itself
		}
		one.Kind, one.Text = wire.DeltaArguments, wire.Spoken(v.Get("partial_json"))
		if one.Text != "" {
			delete(d.whole, index)
		}
	}
	if one.Kind != 0 && one.Text != "" {
		d.add(one)
	}
}
