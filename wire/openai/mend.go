package openai

import (
	"strings"

	"backstop"
	"backstop/wire"
)

var (
	_ wire.Mender = Room{}
	_ wire.Asker  = Room{}
)

// maxPieces bounds how many pieces of a body are looked at; what is beyond them
// stays as it is.
const maxPieces = 4096

// spot is a piece and where it stands in the body.
type spot struct {
	wire.Piece
	at     span // the value to exchange
	finish span // the finish reason of its choice
}

// Pieces implements wire.Mender.
func (Room) Pieces(body []byte) []wire.Piece {
	var list []wire.Piece
	for _, p := range spots(body) {
		list = append(list, p.Piece)
	}
	return list
}

// Mend implements wire.Mender. Text that came as a list of parts becomes one
// string.
func (Room) Mend(body []byte, pieces []wire.Piece) []byte {
	given := make(map[[2]int]*wire.Piece, len(pieces))
	for i := range pieces {
		given[[2]int{pieces[i].Choice, pieces[i].Call}] = &pieces[i]
	}
	e := edits{b: body}
	ended := -1 // the latest choice whose end was changed
	for _, p := range spots(body) {
		x := given[[2]int{p.Choice, p.Call}]
		if x == nil {
			continue
		}
		if x.Text != p.Text {
			e.replace(p.at, string(appendString(nil, x.Text)))
		}
		if x.Cut && ended != p.Choice && p.finish.there() && closing(p.Finish) {
			ended = p.Choice
			e.replace(p.finish, `"length"`)
		}
	}
	return e.apply()
}

// closing reports whether a finish reason says that the answer is whole.
func closing(finish string) bool {
	return finish == "" || wire.FinishOf(finish).Kind == wire.FinishGood
}

// spots finds the pieces of a body.
func spots(body []byte) (list []spot) {
	whole, ok := root(body)
	if !ok {
		return nil
	}
	choices := member(body, whole, "choices")
	if !choices.is(body, '[') {
		return nil
	}
	n := 0
	for e := inArray(body, choices); e.next() && len(list) < maxPieces; n++ {
		if e.val.is(body, '{') {
			list = choiceSpots(list, body, e.val, n)
		}
	}
	return list
}

func choiceSpots(list []spot, b []byte, choice span, n int) []spot {
	finish := member(b, choice, "finish_reason")
	base := spot{Piece: wire.Piece{Choice: n, Call: wire.NoCall, Finish: str(b, finish)}, finish: finish}
	message := member(b, choice, "message")
	if !message.is(b, '{') {
		return textSpot(list, b, base, member(b, choice, "text"))
	}
	before := len(list)
	if calls := member(b, message, "tool_calls"); calls.is(b, '[') {
		i := 0
		for e := inArray(b, calls); e.next() && len(list) < maxPieces; i++ {
			list = argumentsSpot(list, b, base, member(b, e.val, "function"), i)
		}
		if i > 0 {
			return list
		}
	}
	if call := member(b, message, "function_call"); call.is(b, '{') {
		list = argumentsSpot(list, b, base, call, 0)
	}
	if len(list) > before {
		return list
	}
	return textSpot(list, b, base, member(b, message, "content"))
}

func argumentsSpot(list []spot, b []byte, p spot, function span, i int) []spot {
	at := member(b, function, "arguments")
	if !at.is(b, '"') {
		return list
	}
	p.Call, p.Text, p.at = i, str(b, at), at
	p.Tool = str(b, member(b, function, "name"))
	return append(list, p)
}

// textSpot takes a text, or the texts of a list together.
func textSpot(list []spot, b []byte, p spot, at span) []spot {
	p.at = at
	switch {
	case at.is(b, '"'):
		p.Text = str(b, at)
		return append(list, p)
	case at.is(b, '['):
		var all strings.Builder
		found := false
		for e := inArray(b, at); e.next(); {
			if t := member(b, e.val, "text"); t.is(b, '"') {
				all.WriteString(str(b, t))
				found = true
			}
		}
		if found {
			p.Text = all.String()
			return append(list, p)
		}
	}
	return list
}

// Ask implements wire.Asker: the text is the user's last message, or follows
// the prompt of a legacy completion.
func (Room) Ask(r *wire.Request, text string) (*wire.Request, *backstop.Outcome) {
	whole, ok := root(r.Body)
	if !ok {
		return nil, cannotTake("", "the request body cannot be read: this is our own fault")
	}
	e := edits{b: r.Body}
	switch r.Op {
	case wire.Chat:
		list := member(r.Body, whole, "messages")
		if !list.is(r.Body, '[') {
			return nil, cannotTake("messages", "the messages cannot be added to")
		}
		e.insert(list.to-1, `,{"role":"user","content":`+string(appendString(nil, text))+`}`)
	case wire.Completion:
		prompt := member(r.Body, whole, "prompt")
		if !prompt.is(r.Body, '"') {
			return nil, cannotTake("prompt", "only a prompt of one text can be added to")
		}
		quoted := appendString(nil, "\n\n"+text)
		e.insert(prompt.to-1, string(quoted[1:len(quoted)-1]))
	default:
		return nil, cannotTake("", "such a call has no second question")
	}
	more := *r
	more.Body = e.apply()
	return &more, nil
}
