package responses

import (
	"backstop"
	"backstop/wire/internal/intake"
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

// scanHead checks a whole body: one JSON object in UTF-8, no known parameter
// twice.
func scanHead(body []byte) (intake.Head, *backstop.Failure) { return intake.Scan(body, known) }
