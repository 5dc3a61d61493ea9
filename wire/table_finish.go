package wire

import "backstop"

// FinishKind says what a finish reason is worth.
type FinishKind uint8

// FinishGood ends an answer well, FinishLength cuts it at a limit of the
// request, FinishFilter is a refusal and FinishFault an answer that broke off
// although the stream looks complete.
const (
	FinishGood FinishKind = iota + 1
	FinishLength
	FinishFilter
	FinishFault
)

// Finish is the meaning of one finish reason.
type Finish struct {
	Kind FinishKind
	// Name is the OpenAI dialect's own word for it, "" for a fault. It differs
	// from the reason itself where a vendor has a word of its own.
	Name   string
	ruling ruling
}

// finishes holds every known finish reason of an OpenAI-style answer. Facts as
// of 2026-11: eos_token is TGI's, sensitive and model_context_window_exceeded
// Zhipu's, insufficient_system_resource DeepSeek's, error OpenRouter's, abort
// vLLM's and SGLang's; the capitals are Gemini's, also through relays.
var finishes = map[string]Finish{
	"stop":          {Kind: FinishGood, Name: "stop"},
	"tool_calls":    {Kind: FinishGood, Name: "tool_calls"},
	"function_call": {Kind: FinishGood, Name: "function_call"},
	"eos":           {Kind: FinishGood, Name: "stop"},
	"eos_token":     {Kind: FinishGood, Name: "stop"},
	"stop_sequence": {Kind: FinishGood, Name: "stop"},
	"end_turn":      {Kind: FinishGood, Name: "stop"},
	"complete":      {Kind: FinishGood, Name: "stop"},
	"COMPLETE":      {Kind: FinishGood, Name: "stop"},
	"STOP":          {Kind: FinishGood, Name: "stop"},
	"tool_use":      {Kind: FinishGood, Name: "tool_calls"},

	"length":                        {Kind: FinishLength, Name: "length"},
	"max_tokens":                    {Kind: FinishLength, Name: "length"},
	"MAX_TOKENS":                    {Kind: FinishLength, Name: "length"},
	"model_context_window_exceeded": {Kind: FinishLength, Name: "length"},
	"model_length":                  {Kind: FinishLength, Name: "length"},

	"content_filter":     {Kind: FinishFilter, Name: "content_filter"},
	"sensitive":          {Kind: FinishFilter, Name: "content_filter"},
	"refusal":            {Kind: FinishFilter, Name: "content_filter"},
	"SAFETY":             {Kind: FinishFilter, Name: "content_filter"},
	"RECITATION":         {Kind: FinishFilter, Name: "content_filter"},
	"PROHIBITED_CONTENT": {Kind: FinishFilter, Name: "content_filter"},
	"BLOCKLIST":          {Kind: FinishFilter, Name: "content_filter"},
	"SPII":               {Kind: FinishFilter, Name: "content_filter"},
	"LANGUAGE":           {Kind: FinishFilter, Name: "content_filter"},
	"MODEL_ARMOR":        {Kind: FinishFilter, Name: "content_filter"},

	"NO_IMAGE":                 {Kind: FinishFilter, Name: "content_filter"},
	"IMAGE_SAFETY":             {Kind: FinishFilter, Name: "content_filter"},
	"IMAGE_RECITATION":         {Kind: FinishFilter, Name: "content_filter"},
	"IMAGE_PROHIBITED_CONTENT": {Kind: FinishFilter, Name: "content_filter"},

	"insufficient_system_resource": {Kind: FinishFault, ruling: overload},
	"network_error":                {Kind: FinishFault, ruling: server},
	"error":                        {Kind: FinishFault, ruling: server},
	"abort":                        {Kind: FinishFault, ruling: server},
	"timeout":                      {Kind: FinishFault, ruling: late},
	"MALFORMED_FUNCTION_CALL":      {Kind: FinishFault, ruling: badJSON},
	"UNEXPECTED_TOOL_CALL":         {Kind: FinishFault, ruling: badJSON},
	"TOO_MANY_TOOL_CALLS":          {Kind: FinishFault, ruling: badJSON},
	"MISSING_THOUGHT_SIGNATURE":    {Kind: FinishFault, ruling: badJSON},
	"MALFORMED_RESPONSE":           {Kind: FinishFault, ruling: badJSON},
	"OTHER":                        {Kind: FinishFault, ruling: server},
	"IMAGE_OTHER":                  {Kind: FinishFault, ruling: server},
}

// FinishOf returns the meaning of a finish reason. A reason that nobody knows
// is a fault: it is not passed on as a success.
func FinishOf(reason string) Finish {
	if f, ok := finishes[reason]; ok {
		return f
	}
	return Finish{Kind: FinishFault, ruling: alien}
}

// JudgeFinish judges an answer that ended with a finish reason; a is the
// answer or the event that carried it. Good and length endings are OK, filters
// are refused, all others are faults of the upstream.
func JudgeFinish(a *Reply, reason string) backstop.Outcome {
	f := FinishOf(reason)
	switch f.Kind {
	case FinishFault:
		return settle(a, &envelope{}, f.ruling)
	case FinishFilter:
		o := settle(a, &envelope{}, filter)
		o.Status = a.Status
		o.Passthrough = f.Name == reason && a.Caller == a.Dialect && a.Surface == SurfaceBody
		if o.Passthrough {
			o.Body = a.Body
		}
		return o
	}
	return Good(a, f.Name == reason)
}

// JudgeBlank judges a whole answer without content, refusal or tool call.
func JudgeBlank(a *Reply) backstop.Outcome { return settle(a, &envelope{}, blank) }

// JudgeForeign judges a whole answer with nothing in it that the caller's
// dialect has a form for, such as a picture alone: its upstream would say the
// same again.
func JudgeForeign(a *Reply) backstop.Outcome {
	o := JudgeBlank(a)
	o.RetrySame = false
	return o
}

// JudgeRefusal judges a whole answer in which the model refuses in so many
// words. The answer itself is the caller's, so Body is the answer.
func JudgeRefusal(a *Reply) backstop.Outcome { return JudgeFinish(a, "content_filter") }

// Good is the outcome of an answer that is fine. Passthrough tells whether the
// bytes may go to a caller of the same dialect as they are; without it
// something has to be renamed first.
func Good(a *Reply, asItIs bool) backstop.Outcome {
	return backstop.Outcome{
		Class: backstop.OK, Status: a.Status, InputTokens: -1, OutputTokens: -1,
		Passthrough: asItIs && a.Caller == a.Dialect,
	}
}
