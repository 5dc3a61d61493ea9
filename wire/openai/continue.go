package openai

import (
	"backstop"
	"backstop/wire"
	"backstop/wire/internal/follow"
)

// prefillMark is the member of a last assistant message by which a vendor
// knows that it is the beginning of the answer. Others need no mark.
var prefillMark = map[string]string{
	"deepseek": "prefix", "mistral": "prefix", "moonshot": "partial", "dashscope": "partial",
}

// Continue implements wire.Continuer. The text goes to the end of the messages
// as the assistant's: alone for an upstream with the quirk prefill, else
// followed by the instruction to go on. A legacy completion gets it at the end
// of its prompt.
func (Room) Continue(r *wire.Request, u *backstop.Upstream, model string, text []byte) (*wire.Request, *backstop.Outcome) {
	whole, ok := root(r.Body)
	if !ok {
		return nil, cannotTake("", "the request body cannot be read: this is our own fault")
	}
	e := edits{b: r.Body}
	quoted := string(appendString(nil, string(text)))
	switch r.Op {
	case wire.Chat:
		list := member(r.Body, whole, "messages")
		if !list.is(r.Body, '[') {
			return nil, cannotTake("messages", "the messages cannot be added to")
		}
		prefill := quirksOf(u, model).Prefill
		e.insert(list.to-1, assistantTurn(u, quoted, prefill))
		if prefill && u.Vendor == "vllm" {
			e.insert(whole.to-1, `,"add_generation_prompt":false,"continue_final_message":true`)
		}
	case wire.Completion:
		prompt := member(r.Body, whole, "prompt")
		if !prompt.is(r.Body, '"') {
			return nil, cannotTake("prompt", "only a prompt of one text can be added to")
		}
		e.insert(prompt.to-1, quoted[1:len(quoted)-1])
	default:
		return nil, cannotTake("", "such an answer has no rest")
	}
	more := *r
	more.Body = e.apply()
	return &more, nil
}

// assistantTurn is what follows the last of the caller's messages, which are
// never none.
func assistantTurn(u *backstop.Upstream, quoted string, prefill bool) string {
	turn := `,{"role":"assistant","content":` + quoted
	if !prefill {
		return turn + `},{"role":"user","content":` + string(appendString(nil, follow.GoOn)) + `}`
	}
	vendor, _ := wire.Profile(u.Vendor)
	if mark := prefillMark[vendor.Name]; mark != "" {
		turn += `,"` + mark + `":true`
	}
	return turn + `}`
}
