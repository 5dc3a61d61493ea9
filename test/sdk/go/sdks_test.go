package sdk

// sdks are the SDKs under test. One more is a file with a talker and an entry
// here.
var sdks = []sdk{
	{
		name: "openai-go chat", module: "github.com/openai/openai-go/v3",
		own: aChat, others: []kind{aMessage, aGemini}, open: openChat,
		finish: map[string]string{"text": "stop", "tool": "tool_calls", "length": "length", "filter": "content_filter"},
		codes: map[string]string{
			"dead": "upstreams_exhausted", "limited": "rate_limited", "cut": "stream_incomplete",
			"key": "unauthorized", "model": "not_found",
		},
	},
	{
		name: "openai-go Responses", module: "github.com/openai/openai-go/v3",
		own: aResponse, others: []kind{aChat, aMessage, aGemini}, open: openResponses,
		finish: map[string]string{"text": "completed", "tool": "completed", "length": "incomplete", "filter": "incomplete"},
		codes: map[string]string{
			"dead": "upstreams_exhausted", "limited": "rate_limited", "cut": "stream_incomplete",
			"key": "unauthorized", "model": "not_found",
		},
	},
	{
		name: "anthropic-sdk-go", module: "github.com/anthropics/anthropic-sdk-go/v2",
		own: aMessage, others: []kind{aChat, aGemini}, open: openMessages,
		finish: map[string]string{"text": "end_turn", "tool": "tool_use", "length": "max_tokens", "filter": "refusal"},
		codes: map[string]string{
			"dead": "overloaded_error", "limited": "rate_limit_error", "cut": "api_error",
			"key": "authentication_error", "model": "not_found_error",
		},
	},
	{
		name: "genai", module: "google.golang.org/genai",
		own: aGemini, others: []kind{aChat, aMessage}, open: openGemini,
		finish: map[string]string{"text": "STOP", "tool": "STOP", "length": "MAX_TOKENS", "filter": "SAFETY"},
		codes: map[string]string{
			"dead": "UNAVAILABLE", "limited": "RESOURCE_EXHAUSTED", "cut": "UNAVAILABLE",
			"key": "UNAUTHENTICATED", "model": "NOT_FOUND",
		},
	},
}
