package openai

import (
	"bytes"
	"unicode/utf8"

	"backstop"
	"backstop/wire/internal/intake"
)

// field numbers the top-level parameters that the gateway reads or edits.
// Exactly these may be neither doubled nor spelled in another case: a parser
// behind us could read them differently than we did.
type field int

const (
	fModel field = iota
	fStream
	fStreamOptions
	fMessages
	fPrompt
	fInput
	fMaxTokens
	fMaxCompletionTokens
	fN
	fTools
	fToolChoice
	fFunctions
	fResponseFormat
	fLogprobs
	fTopLogprobs
	fModalities
	fAudio
	fStore
	fieldCount
)

var fieldNames = [fieldCount]string{
	"model", "stream", "stream_options", "messages", "prompt", "input", "max_tokens", "max_completion_tokens", "n",
	"tools", "tool_choice", "functions", "response_format", "logprobs", "top_logprobs", "modalities", "audio", "store",
}

var fieldByName = func() map[string]field {
	m := make(map[string]field, fieldCount)
	for f, name := range fieldNames {
		m[name] = field(f)
	}
	return m
}()

// maxMembers bounds the top level of a request; real ones stay below 60.
const maxMembers = 1000

// head holds where the known parameters stand in a body.
type head [fieldCount]span

// scanHead checks a whole body in one pass: one JSON object in UTF-8, nested
// at most maxDepth deep, nothing behind it, no known parameter twice.
func scanHead(body []byte) (head, *backstop.Failure) {
	var h head
	i := skipSpace(body, 0)
	switch {
	case i == len(body):
		return h, intake.Refuse("", "the body is empty: send one JSON object")
	case body[i] != '{':
		return h, intake.Refuse("", "the body is not a JSON object: send one JSON object in UTF-8")
	case !utf8.Valid(body):
		return h, intake.Refuse("", "the body is not valid UTF-8: encode it as UTF-8 without a byte order mark")
	}
	m, n := memberWalk{b: body, i: i + 1}, 0
	for m.next() {
		if n++; n > maxMembers {
			return h, intake.Refuse("", "the body has more than %d parameters: check what the request was built with", maxMembers)
		}
		f, known, fail := fieldOf(m.name())
		if fail != nil {
			return h, fail
		}
		if !known {
			continue
		}
		if h[f].there() {
			return h, intake.Refuse(fieldNames[f], "%q is given twice: send it once", fieldNames[f])
		}
		h[f] = m.val
	}
	if m.end() < 0 {
		return h, intake.Refuse("", "the body is not valid JSON, or nested deeper than %d levels: check what the request was built with", maxDepth)
	}
	if skipSpace(body, m.end()) != len(body) {
		return h, intake.Refuse("", "data follows the JSON object: send exactly one object a request")
	}
	return h, nil
}

// fieldOf finds a parameter by name. The spelling is compared as loosely as
// the loosest parsers do.
func fieldOf(name []byte) (field, bool, *backstop.Failure) {
	if f, ok := fieldByName[string(name)]; ok {
		return f, true, nil
	}
	if lowerASCII(name) {
		return 0, false, nil
	}
	for f := range fieldNames {
		if bytes.EqualFold(name, []byte(fieldNames[f])) {
			return 0, false, intake.Refuse(fieldNames[f], "%q is spelled in another case: write it in lower case, once", fieldNames[f])
		}
	}
	return 0, false, nil
}

func lowerASCII(name []byte) bool {
	for _, c := range name {
		if c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}
