package anthropic

import (
	"backstop"
	"backstop/wire/internal/intake"
)

// known are the top-level parameters that the gateway reads or edits. Exactly
// these may be neither doubled nor spelled in another case: a parser behind us
// could read them differently than we did.
var known = map[string]bool{
	"model": true, "messages": true, "max_tokens": true, "stream": true, "system": true, "tools": true, "tool_choice": true,
	"thinking": true, "output_format": true, "output_config": true, "stop_sequences": true, "temperature": true, "metadata": true,
}

// scanHead checks a whole body: one JSON object in UTF-8, no known parameter
// twice.
func scanHead(body []byte) (intake.Head, *backstop.Failure) { return intake.Scan(body, known) }
