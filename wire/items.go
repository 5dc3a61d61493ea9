package wire

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// Item is one item of an answer in the Responses form, which a later call may
// name instead of sending it again.
type Item struct {
	ID  string // a copy: it is kept for longer than the answer
	Raw []byte // JSON; a part of what it was read from
}

// maxItems bounds how many items of an answer are looked at.
const maxItems = 4096

// OutputItems are the items of an answer of the Responses form, or of an event
// that has one in it, that have an id.
func OutputItems(data []byte) (list []Item) {
	if !ValidJSON(data) {
		return nil
	}
	root := gjson.ParseBytes(data)
	if v := root.Get("response"); v.IsObject() {
		root = v
	}
	if root.Get("object").Str != "response" {
		return nil
	}
	n := 0
	root.Get("output").ForEach(func(_, v gjson.Result) bool {
		if id := v.Get("id"); v.IsObject() && id.Type == gjson.String && id.Str != "" {
			list = append(list, Item{ID: strings.Clone(id.Str), Raw: data[v.Index : v.Index+len(v.Raw)]})
		}
		n++
		return n < maxItems
	})
	return list
}

// Unstored reports whether a Responses call asks for nothing of it to be kept.
func Unstored(body []byte) bool { return gjson.GetBytes(body, "store").Type == gjson.False }

// referred is the id of an item that an item of the input stands for, "" = it
// stands for itself.
func referred(item gjson.Result) string {
	kind, id := item.Get("type"), item.Get("id")
	bare := (!kind.Exists() || kind.Type == gjson.Null) && !item.Get("role").Exists()
	if id.Type != gjson.String || !bare && kind.Str != "item_reference" {
		return ""
	}
	return id.Str
}

// Resolve puts items in the places where a Responses call only names them. It
// is false if there is none, if find, which returns an item's JSON, does not
// know one, or if the result would be larger than limit bytes. The body is one
// that Room.Read took.
func Resolve(body []byte, limit int, find func(id string) []byte) ([]byte, bool) {
	x := copying{b: body}
	size, known := len(body), true
	gjson.GetBytes(body, "input").ForEach(func(_, item gjson.Result) bool {
		id := referred(item)
		if id == "" {
			return true
		}
		raw := find(id)
		size += len(raw) - len(item.Raw)
		known = len(raw) > 0 && size <= limit
		x.put(item, raw)
		return known
	})
	if !known || x.at == 0 {
		return nil, false
	}
	return x.done(), true
}

// Unbind makes the items of a request's input ones that an upstream can read
// which did not issue them: foreign says which are. They lose their id, and
// those that mean nothing without it, reasoning, go.
func Unbind(body []byte, foreign func(id string) bool) []byte {
	var kept [][]byte
	changed := false
	input := gjson.GetBytes(body, "input")
	input.ForEach(func(_, item gjson.Result) bool {
		raw := []byte(item.Raw)
		if id := item.Get("id"); item.IsObject() && id.Type == gjson.String && foreign(id.Str) {
			changed = true
			if item.Get("type").Str == "reasoning" {
				return true
			}
			raw = nameless(item)
		}
		kept = append(kept, raw)
		return true
	})
	if !changed {
		return body
	}
	x := copying{b: body}
	x.put(input, append(append([]byte{'['}, bytes.Join(kept, []byte{','})...), ']'))
	return x.done()
}

// nameless is an object without its id.
func nameless(item gjson.Result) []byte {
	out := []byte{'{'}
	item.ForEach(func(k, v gjson.Result) bool {
		if k.Str != "id" {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, k.Raw...), ':'), v.Raw...)
		}
		return true
	})
	return append(out, '}')
}

// copying copies a document with some values exchanged, in their order.
type copying struct {
	b, out []byte
	at     int // up to where it is copied
}

func (x *copying) put(v gjson.Result, raw []byte) {
	x.out = append(append(x.out, x.b[x.at:v.Index]...), raw...)
	x.at = v.Index + len(v.Raw)
}

func (x *copying) done() []byte { return append(x.out, x.b[x.at:]...) }
