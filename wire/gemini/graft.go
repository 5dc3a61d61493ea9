package gemini

import (
	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
)

var (
	_ wire.TextReader = (*reader)(nil)
	_ wire.Grafter    = (*writer)(nil)
	_ wire.Continuer  = Room{}
)

// Hold implements wire.Grafter. The last event is held back anyway.
func (w *writer) Hold() {}

// Text implements wire.Grafter.
func (w *writer) Text(text []byte) []byte {
	if w.closed || len(text) == 0 {
		return nil
	}
	b := wire.AppendString([]byte(`{"candidates":[{"content":{"parts":[{"text":`), string(text))
	b = append(b, `}],"role":"model"},"index":0}]`...)
	w.out = w.frame(w.out[:0], append(w.named(b), '}'), nil)
	return w.out
}

// named appends what the stream is called.
func (w *writer) named(b []byte) []byte {
	if w.model != "" {
		b = append(append(b, `,"modelVersion":`...), w.model...)
	}
	if w.id != "" {
		b = append(append(b, `,"responseId":`...), w.id...)
	}
	return b
}

// Graft implements wire.Grafter.
func (w *writer) Graft(ev *sse.Event, sig *wire.Signal, text bool) []byte {
	if w.closed || sig != nil && (sig.Kind == wire.Malformed || sig.Kind == wire.Fault) {
		return nil
	}
	c, ok := parse(ev)
	if !ok {
		return nil
	}
	b, worth := []byte(`{"candidates":[`), false
	n := 0
	c.each(func(_ int, v gjson.Result) {
		if n > 0 {
			b = append(b, ',')
		}
		n++
		var some bool
		b, some = graftCandidate(b, v, text)
		worth = worth || some
	})
	if !worth && !c.blocked() {
		return nil
	}
	b = w.named(append(b, ']'))
	c.root.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); name {
		case "candidates", "responseId", "modelVersion":
		default:
			b = append(append(wire.AppendString(append(b, ','), name), ':'), v.Raw...)
		}
		return true
	})
	w.out = w.out[:0]
	w.pass(&c, append(b, '}'), nil)
	return w.out
}

// graftCandidate writes a candidate without its thoughts, and without its text
// unless that is wanted. It is worth passing on with something left in it.
func graftCandidate(b []byte, v gjson.Result, text bool) (out []byte, worth bool) {
	parts := 0
	b = append(b, `{"content":{"parts":[`...)
	eachPart(v, func(part gjson.Result, kind pieceKind, _ int) {
		if kind == pieceNone || kind == pieceThought || kind == pieceText && !text {
			return
		}
		if parts > 0 {
			b = append(b, ',')
		}
		parts++
		b = append(b, part.Raw...)
	})
	if parts == 0 {
		b = append(b, `{"text":""}`...)
	}
	b = append(b, `],"role":"model"}`...)
	v.ForEach(func(k, v gjson.Result) bool {
		switch name := k.String(); name {
		case "content":
		case "finishReason":
			b = wire.AppendString(append(b, `,"finishReason":`...), ownReason(v.Str))
		default:
			b = append(append(wire.AppendString(append(b, ','), name), ':'), v.Raw...)
		}
		return true
	})
	return append(b, '}'), parts > 0 || finish(v) != ""
}
