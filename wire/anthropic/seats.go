package anthropic

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"backstop/wire/internal/edit"
)

// seats tell which content blocks of a stream have begun, and number them anew
// where that is needed. SDKs put blocks together by their index: the next block
// has the next one, and what belongs to a block that never began makes them
// fail.
//
// Text and thinking whose begin was forgotten begin a block. Anything else
// without one, above all the input of a tool that nobody knows, is no event of
// the dialect.
type seats struct {
	list []seat
	next int // index of the next block
}

// seat is the latest block of that index.
type seat struct {
	from, to int // its index as it came, and as the caller's stream has it
	kind     string
	ended    bool
}

// place finds the block that an event belongs to. begins is the kind of the
// block if the event begins one, whether it says so or not; ok is false if
// there is none.
func (s *seats) place(e *event) (to int, begins string, ok bool) {
	var at *seat
	for i := range s.list {
		if s.list[i].from == e.index {
			at = &s.list[i]
			break
		}
	}
	begins = s.begins(e, at)
	switch {
	case begins != "":
		if at == nil {
			s.list = append(s.list, seat{})
			at = &s.list[len(s.list)-1]
		}
		*at = seat{from: e.index, to: s.next, kind: begins}
		s.next++
	case at == nil, e.kind == blockStop && at.ended, at.deaf(e):
		return 0, "", false
	case e.kind == blockStop:
		at.ended = true
	}
	return at.to, begins, true
}

func (s *seats) begins(e *event, at *seat) string {
	switch open := at != nil && !at.ended; {
	case e.kind == blockStart:
		return strings.Clone(e.root.Get("content_block.type").Str)
	case e.kind != blockDelta || open:
	case e.root.Get("delta.type").Str == "text_delta":
		return "text"
	case e.root.Get("delta.type").Str == "thinking_delta":
		return "thinking"
	}
	return ""
}

// deaf reports whether the block takes no input, and an event brings some.
func (at *seat) deaf(e *event) bool {
	return (at.kind == "text" || at.kind == "thinking") && e.kind == blockDelta && e.root.Get("delta.type").Str == "input_json_delta"
}

// foreign reports whether the latest block of that index, as it came, is one
// that only this dialect knows.
func (s *seats) foreign(index int) bool {
	for i := range s.list {
		if s.list[i].from == index {
			kind := s.list[i].kind
			return kind != "text" && kind != "thinking" && kind != "redacted_thinking" && kind != "tool_use"
		}
	}
	return false
}

// beginning is the data of the event that begins an empty block.
func beginning(kind string, index int) string {
	block := `{"type":"text","text":""}`
	if kind == "thinking" {
		block = `{"type":"thinking","thinking":"","signature":""}`
	}
	return `{"type":"content_block_start","index":` + strconv.Itoa(index) + `,"content_block":` + block + `}`
}

// renumbered is an event's data with another index.
func renumbered(data []byte, index gjson.Result, to int) []byte {
	x := edit.New(data)
	x.Replace(index, strconv.Itoa(to))
	return x.Apply()
}
