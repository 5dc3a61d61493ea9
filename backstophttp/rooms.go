package backstophttp

import (
	"backstop"
	"backstop/wire"
	"backstop/wire/anthropic"
	"backstop/wire/gemini"
	"backstop/wire/openai"
	"backstop/wire/responses"
)

// Rooms returns the dialects that this build speaks, each with its room. The
// map is the caller's own.
func Rooms() map[backstop.Dialect]wire.Room {
	return map[backstop.Dialect]wire.Room{
		backstop.OpenAI:    openai.Room{},
		backstop.Responses: responses.Room{},
		backstop.Anthropic: anthropic.Room{},
		backstop.Gemini:    gemini.Room{},
	}
}
