package mock

import (
	"encoding/json"
	"slices"
)

// openAIDialect carries what the paths of the dialect share: its errors.
type openAIDialect struct{}

func openAIRooms() []room {
	return []room{
		{paths: both("/chat/completions"), read: readChat, say: chatDialect{}},
		{paths: both("/completions"), read: readCompletion, say: textDialect{}},
		{paths: both("/embeddings"), read: readEmbedding, say: embedDialect{}},
	}
}

func (openAIDialect) body(*reply) []byte    { return nil }
func (openAIDialect) events(*reply) []frame { return nil }

func (openAIDialect) failure(f *failure, inBand bool) []byte {
	body := mustJSON(map[string]any{"error": map[string]any{
		"message": f.Message, "type": f.Type, "param": orNull(f.Param), "code": orNull(f.Code),
	}})
	if inBand {
		return slices.Concat([]byte("data: "), body, []byte("\n\n"))
	}
	return body
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// mustJSON encodes values of our own making.
func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic("mock: an answer could not be written: " + err.Error())
	}
	return b
}
