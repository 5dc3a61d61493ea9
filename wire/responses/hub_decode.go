package responses

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"backstop/sse"
	"backstop/wire"
)

// Decoder reads the events of a stream.
func (Room) Decoder() wire.Decoder { return &decoder{} }

type decoder struct {
	ev      event
	heard   heard
	started bool
	done    bool
	parts   int           // begun so far
	numbers map[place]int // of the parts, by where they stand
	gaps    map[int]place // of a reasoning item: the part of it that came last
	seen    map[int][]int // by item of which something came: the numbers of its parts
	called  bool
	list    []wire.Delta
}

// Event implements wire.Decoder.
func (d *decoder) Event(ev *sse.Event) []wire.Delta {
	d.list = d.list[:0]
	e := &d.ev
	if d.done || !e.parse(ev) {
		return nil
	}
	switch e.kind {
	case created, inProgress, queued:
		d.start(e.body)
	case itemAdded:
		d.begin(e.item, e.body)
	case itemDone:
		losses(e.body, d.lose)
		d.rest(e.item, e.body)
		d.partEnd(e.item)
	case completed, incomplete:
		d.end(e.body)
	default:
		d.delta(e)
	}
	return d.list
}

func (d *decoder) add(one wire.Delta) { d.list = append(d.list, one) }

func (d *decoder) lose(name string) { d.add(wire.Delta{Kind: wire.DeltaLost, Name: name}) }

func (d *decoder) start(response gjson.Result) {
	if d.started {
		return
	}
	d.started = true
	one := wire.Delta{Kind: wire.DeltaStart, ID: response.Get("id").Str, Model: response.Get("model").Str}
	if n := response.Get("created_at"); n.Type == gjson.Number && n.Num > 0 && n.Num < 1<<40 {
		one.Created = int64(n.Num)
	}
	d.add(one)
}

// number is the hub's number of a part. All parts of one reasoning item, and
// what a tool is called with, are one part there.
func (d *decoder) number(p place) int {
	if n, ok := d.numbers[p]; ok {
		return n
	}
	if d.numbers == nil {
		d.numbers, d.seen, d.gaps = map[place]int{}, map[int][]int{}, map[int]place{}
	}
	n := d.parts
	if len(d.numbers) < maxItems {
		d.numbers[p] = n
		d.parts++
		d.seen[p.item] = append(d.seen[p.item], n)
	}
	return n
}

func (d *decoder) begin(at int, item gjson.Result) {
	if item.Get("type").Str != "function_call" {
		return
	}
	d.called = true
	p := place{at, latest}
	if _, known := d.numbers[p]; known && at != latest {
		return
	}
	d.add(wire.Delta{Kind: wire.DeltaCall, Part: d.number(p), ID: item.Get("call_id").Str, Name: item.Get("name").Str})
}

func (d *decoder) delta(e *event) {
	kind, text := d.heard.brings(e)
	if text == "" {
		return
	}
	if kind == e.kind && strings.ContainsRune(text, utf8.RuneError) {
		text = wire.Spoken(e.root.Get("delta"))
	}
	one, p := wire.Delta{Text: text}, place{e.item, e.part}
	switch kind {
	case textDelta:
		one.Kind = wire.DeltaText
	case refusalDelta:
		one.Kind = wire.DeltaRefusal
	case callDelta:
		one.Kind, p = wire.DeltaArguments, place{e.item, latest}
	default:
		d.think(kind, p, text)
		return
	}
	one.Part = d.number(p)
	d.add(one)
}

// The parts by which a reasoning item is known: its summary, or what was
// thought itself, whichever comes first.
const (
	asGist    = -2
	asThought = -3
)

func (d *decoder) think(kind string, p place, text string) {
	mine, other := place{p.item, asGist}, place{p.item, asThought}
	if kind == thoughtDelta {
		mine, other = other, mine
	}
	if _, twice := d.numbers[other]; twice {
		return
	}
	n := d.number(mine)
	if before, ok := d.gaps[p.item]; ok && before != p {
		text = thoughtGap + text
	}
	d.gaps[p.item] = p
	d.add(wire.Delta{Kind: wire.DeltaReasoning, Part: n, Text: text})
}

// rest brings what of an item was not streamed at all.
func (d *decoder) rest(at int, item gjson.Result) {
	if len(d.seen[at]) > 0 && !(item.Get("type").Str == "function_call" && !d.heard.has(place{at, latest})) {
		return
	}
	d.begin(at, item)
	var parts []wire.Part
	decodeItem(&parts, item)
	for i := range parts {
		one := wire.Delta{Text: parts[i].Text}
		p := place{at, i}
		switch parts[i].Kind {
		case wire.PartText:
			one.Kind = wire.DeltaText
		case wire.PartRefusal:
			one.Kind = wire.DeltaRefusal
		case wire.PartReasoning:
			one.Kind, p = wire.DeltaReasoning, place{at, asGist}
		case wire.PartToolCall:
			one.Kind, one.Text, p = wire.DeltaArguments, parts[i].Arguments, place{at, latest}
			d.heard.note(p)
		}
		if one.Text != "" {
			one.Part = d.number(p)
			d.add(one)
		}
	}
}

// partEnd ends the parts of an item.
func (d *decoder) partEnd(at int) {
	for _, n := range d.seen[at] {
		d.add(wire.Delta{Kind: wire.DeltaPartEnd, Part: n})
	}
}

func (d *decoder) end(response gjson.Result) {
	d.start(response)
	at := 0
	response.Get("output").ForEach(func(_, item gjson.Result) bool {
		losses(item, d.lose)
		if len(d.seen[at]) == 0 {
			d.rest(at, item)
		}
		at++
		return at < maxItems
	})
	end, _ := endOf(response)
	d.add(wire.Delta{Kind: wire.DeltaFinish, Ending: ending(end, d.called)})
	if u := usageOf(response.Get("usage")); u.Reported() {
		d.add(wire.Delta{Kind: wire.DeltaUsage, Usage: u})
	}
	d.done = true
	d.add(wire.Delta{Kind: wire.DeltaDone})
}
