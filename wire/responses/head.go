package responses

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"backstop"
	"backstop/wire"
)

// known are the top-level parameters that the gateway reads or edits. Exactly
// these may be neither doubled nor spelled in another case: a parser behind us
// could read them differently than we did.
var known = map[string]bool{
	"model": true, "input": true, "instructions": true, "stream": true, "stream_options": true, "tools": true, "tool_choice": true,
	"text": true, "reasoning": true, "max_output_tokens": true, "previous_response_id": true, "conversation": true,
	"background": true, "store": true, "include": true, "temperature": true, "top_p": true, "top_logprobs": true,
	"parallel_tool_calls": true, "metadata": true, "prompt": true,
}

// maxMembers bounds the top level of a request; real ones stay below 40.
const maxMembers = 1000

// head holds the known parameters of a body; gjson's Index is where each
// stands in it.
type head map[string]gjson.Result

// scanHead checks a whole body: one JSON object in UTF-8, no known parameter
// twice.
func scanHead(body []byte) (head, *backstop.Failure) {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	switch {
	case len(trimmed) == 0:
		return nil, refuse("", "the body is empty: send one JSON object")
	case trimmed[0] != '{':
		return nil, refuse("", "the body is not a JSON object: send one JSON object in UTF-8")
	case !utf8.Valid(body):
		return nil, refuse("", "the body is not valid UTF-8: encode it as UTF-8 without a byte order mark")
	case !wire.ValidJSON(body):
		return nil, refuse("", "the body is not valid JSON: check what the request was built with")
	}
	h, n := head{}, 0
	var fail *backstop.Failure
	gjson.ParseBytes(body).ForEach(func(k, v gjson.Result) bool {
		if n++; n > maxMembers {
			fail = refuse("", "the body has more than %d parameters: check what the request was built with", maxMembers)
			return false
		}
		name := k.String()
		if !known[name] {
			if lower := strings.ToLower(name); lower != name && known[lower] {
				fail = refuse(lower, "%q is spelled in another case: write it in lower case, once", lower)
			}
			return fail == nil
		}
		if _, twice := h[name]; twice {
			fail = refuse(name, "%q is given twice: send it once", name)
		}
		h[name] = v
		return fail == nil
	})
	return h, fail
}

// given reports whether a parameter is there and not null.
func (h head) given(name string) bool { return filled(h[name]) }

func filled(v gjson.Result) bool { return v.Exists() && v.Type != gjson.Null }

func refuse(param, format string, args ...any) *backstop.Failure {
	return &backstop.Failure{
		Code: backstop.CodeInvalidRequest, Status: backstop.CodeInvalidRequest.Status(),
		Message: fmt.Sprintf(format, args...), Param: param,
	}
}
