package backstophttp

import (
	"encoding/json"
	"strings"

	"backstop"
	"backstop/wire"
)

// keepPromise checks an answer that was promised to be JSON. Valid JSON stays
// byte for byte; a Markdown fence around it is taken off and reported; anything
// else is garbled and feeds the quality breaker alone.
func (r *run) keepPromise(a *attempt, o backstop.Outcome) backstop.Outcome {
	if o.Class != backstop.OK || !r.held() {
		return o
	}
	text, finish, ok := a.room.Content(a.whole)
	if !ok {
		return o // a refusal or a tool call: no text, no promise about it
	}
	document := strings.TrimSpace(text)
	fenced := false
	if !r.keeps(document) {
		if document, fenced = unfence(document); !fenced || !r.keeps(document) {
			return broken(o, finish)
		}
		a.whole = a.room.Replace(a.whole, document)
		a.repaired = append(a.repaired, "fence")
	}
	return o
}

// keeps reports whether a document is what was promised.
func (r *run) keeps(document string) bool {
	doc := []byte(document)
	if len(doc) == 0 || !json.Valid(doc) {
		return false
	}
	p := &r.req.Promise
	if p.Kind == wire.PromiseObject {
		return doc[0] == '{'
	}
	return p.Schema == nil || r.d.options.Validate == nil || r.d.options.Validate(p.Schema, doc) == nil
}

// broken is the outcome of an answer that is not the promised JSON. One that
// ran into its length limit will do so again at the same upstream.
func broken(o backstop.Outcome, finish string) backstop.Outcome {
	o.Class, o.Kind, o.Counts = backstop.Garbled, backstop.KindJSON, backstop.CountsQuality
	if finish == "length" {
		o.Kind = backstop.KindTruncated
	}
	o.RetrySame, o.NextTier = false, true
	return o
}

// unfence takes a Markdown code fence off a text that is nothing but one.
func unfence(text string) (string, bool) {
	const fence = "```"
	body, ok := strings.CutPrefix(text, fence)
	if !ok {
		return text, false
	}
	body, ok = strings.CutSuffix(body, fence)
	if !ok {
		return text, false
	}
	word, rest, ok := strings.Cut(body, "\n")
	if !ok {
		rest = body
	} else if w := strings.TrimSpace(word); w != "" && !strings.EqualFold(w, "json") {
		return text, false
	}
	return strings.TrimSpace(rest), true
}
