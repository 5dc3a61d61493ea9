package anthropic

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
	"backstop/wire/internal/edit"
)

var (
	_ wire.TextReader = (*reader)(nil)
	_ wire.Grafter    = (*writer)(nil)
	_ wire.Continuer  = Room{}
)

// Hold implements wire.Grafter. A note has its place in message_stop, which
// only Close writes, so nothing has to be held back.
func (w *writer) Hold() { w.over = false }

// Text implements wire.Grafter. The text goes on in the block that is open, if
// that is a text.
func (w *writer) Text(text []byte) []byte {
	if w.closed || len(text) == 0 {
		return nil
	}
	w.out = w.out[:0]
	w.text(string(text))
	return w.out
}

func (w *writer) text(text string) {
	if w.open != "text" {
		w.shut()
		w.add(blockStart, beginning("text", w.next))
		w.open, w.at = "text", w.next
		w.next++
	}
	w.add(blockDelta, `{"type":"content_block_delta","index":`+strconv.Itoa(w.next-1)+`,"delta":{"type":"text_delta","text":`+edit.Quoted(text)+`}}`)
}

// shut closes the block that is open. Thinking that was broken off has no
// signature of its issuer.
func (w *writer) shut() {
	if w.stop != nil {
		w.out = append(w.out, w.stop...)
		w.open, w.stop = "", nil
	}
	if w.open == "" {
		return
	}
	at := strconv.Itoa(w.next - 1)
	if w.open == "thinking" {
		w.add(blockDelta, `{"type":"content_block_delta","index":`+at+`,"delta":{"type":"signature_delta","signature":"`+unsigned+`"}}`)
	}
	w.add(blockStop, `{"type":"content_block_stop","index":`+at+`}`)
	w.open = ""
}

func (w *writer) add(name, data string) { w.out = sse.Append(w.out, name, []byte(data)) }

// Graft implements wire.Grafter: the other upstream's blocks get the next
// indexes of the stream, its message_start, pings and thinking are left out.
func (w *writer) Graft(ev *sse.Event, sig *wire.Signal, text bool) []byte {
	if w.closed || w.over || sig != nil && (sig.Kind == wire.Malformed || sig.Kind == wire.Fault) {
		return nil
	}
	e, ok := parse(ev)
	if !ok {
		return nil
	}
	w.out = w.out[:0]
	switch e.kind {
	case messageStart: // an answer begins, perhaps the second one that is tried
		w.moved, w.input = nil, gjson.Result{}
		if v := e.root.Get("message.usage"); v.Get(inputCounts[0]).Num > 0 {
			w.input = gjson.Parse(strings.Clone(v.Raw)) // the event's bytes change
		}
	case blockStart:
		w.graftStart(ev, &e, text)
	case blockDelta:
		if d := e.root.Get("delta"); d.Get("type").Str == "text_delta" {
			if text && d.Get("text").Str != "" {
				w.text(d.Get("text").Str)
			}
			break
		}
		w.graftOn(ev, &e)
	case blockStop:
		w.graftOn(ev, &e)
	case messageDelta:
		w.shut()
		data := w.ending(ev.Data, &e)
		if data == nil {
			data = ev.Data
		}
		w.out = sse.Append(w.out, messageDelta, edit.OneLine(w.counted(data)))
	case messageStop:
		w.over = true
	}
	return w.out
}

// inputCounts are the counts of the input, which stand in the begin of an
// answer; its end may repeat them.
var inputCounts = [...]string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"}

// counted is a message_delta that says what the other upstream's begin said of
// the input: the caller had the begin of the first one.
func (w *writer) counted(data []byte) []byte {
	usage := gjson.GetBytes(data, "usage")
	if !usage.IsObject() || usage.Get(inputCounts[0]).Exists() || !w.input.Exists() {
		return data
	}
	b := []byte(usage.Raw)
	for _, name := range inputCounts {
		if v := w.input.Get(name); v.Type == gjson.Number {
			b = edit.SetMember(b, name, v.Raw)
		}
	}
	return edit.SetMember(data, "usage", string(b))
}

func (w *writer) graftStart(ev *sse.Event, e *event, text bool) {
	if w.moved == nil {
		w.moved = map[int]int{}
	}
	w.moved[e.index] = -1
	switch kind, n := e.begins(); kind {
	case "thinking", "redacted_thinking":
	case "text":
		if text && n > 0 {
			w.text(e.root.Get("content_block.text").Str)
		}
	default:
		w.shut()
		w.moved[e.index], w.at, w.from = w.next, w.next, e.index
		w.next++
		w.open = kind
		w.graftOn(ev, e)
	}
}

// graftOn passes on an event of a block that got a new index.
func (w *writer) graftOn(ev *sse.Event, e *event) {
	to, ok := w.moved[e.index]
	if !ok || to < 0 {
		return
	}
	x := edit.New(ev.Data)
	x.Replace(e.root.Get("index"), strconv.Itoa(to))
	w.out = sse.Append(w.out, e.kind, edit.OneLine(x.Apply()))
	if e.kind == blockStop && to == w.next-1 {
		w.open = ""
	}
}
