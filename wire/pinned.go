package wire

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Reference is something that a Responses call names and that only the
// upstream which issued it knows.
type Reference struct {
	Param string // e.g. "previous_response_id" or "input[0].content[1].file_id"
	ID    string // "" for work in the background, which names nothing yet
}

// maxReferences bounds how many are looked at.
const maxReferences = 64

// References lists what a Responses call names: the answer or conversation
// that it goes on from, files, items, and work in the background. The body is
// one that Room.Read took.
func References(body []byte) (list []Reference) {
	root := gjson.ParseBytes(body)
	add := func(param string, v gjson.Result) {
		if v.Type == gjson.String && v.Str != "" && len(list) < maxReferences {
			list = append(list, Reference{Param: param, ID: v.Str})
		}
	}
	add("previous_response_id", root.Get("previous_response_id"))
	if v := root.Get("conversation"); v.IsObject() {
		add("conversation", v.Get("id"))
	} else {
		add("conversation", v)
	}
	i := 0
	root.Get("input").ForEach(func(_, item gjson.Result) bool {
		at := "input[" + strconv.Itoa(i) + "]"
		i++
		if id := referred(item); id != "" && len(list) < maxReferences {
			list = append(list, Reference{Param: at, ID: id})
		}
		for _, name := range [...]string{"content", "output"} {
			v := item.Get(name)
			if v.IsObject() {
				add(at+"."+name+".file_id", v.Get("file_id")) // a picture of a screen
			}
			j := 0
			v.ForEach(func(_, part gjson.Result) bool {
				add(at+"."+name+"["+strconv.Itoa(j)+"].file_id", part.Get("file_id"))
				j++
				return len(list) < maxReferences
			})
		}
		return len(list) < maxReferences
	})
	if root.Get("background").Type == gjson.True {
		list = append(list, Reference{Param: "background"})
	}
	return list
}

// IssuedIDs are the ids in an answer of the Responses form, or in an event of
// one, that a later call may name: the answer's own and its conversation's.
func IssuedIDs(data []byte) (ids []string) {
	root := gjson.ParseBytes(data)
	if v := root.Get("response"); v.IsObject() {
		root = v
	}
	if root.Get("object").Str != "response" {
		return nil
	}
	for _, path := range [...]string{"id", "conversation.id"} {
		if v := root.Get(path); v.Type == gjson.String && v.Str != "" {
			ids = append(ids, strings.Clone(v.Str)) // kept for longer than the answer
		}
	}
	return ids
}
