package mock

import (
	"encoding/json"
	"net/http"
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

func both(path string) []string { return []string{path, "/v1" + path} }

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

// listModels is GET /v1/models: an example of every fault, and the models
// that have a fault tied to them.
func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	if !s.admit(w, r) {
		return
	}
	list := []any{}
	for _, id := range s.models() {
		list = append(list, s.model(id))
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}

// oneModel is GET /v1/models/{id}; every name is a model here.
func (s *Server) oneModel(w http.ResponseWriter, r *http.Request) {
	if s.admit(w, r) {
		writeJSON(w, http.StatusOK, s.model(head(r.PathValue("id"), longestModel)))
	}
}

func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	if s.opts.Key != "" && peerKey(r) != s.opts.Key {
		writeFailure(w, openAIDialect{}, failureFor(http.StatusUnauthorized))
		return false
	}
	return true
}

func (s *Server) models() []string {
	var ids []string
	for _, w := range Words() {
		ids = append(ids, w.Example)
	}
	for model := range s.rules.all() {
		if model != "*" && !slices.Contains(ids, model) {
			ids = append(ids, model)
		}
	}
	slices.Sort(ids)
	return ids
}

func (s *Server) model(id string) any {
	return map[string]any{"id": id, "object": "model", "created": firstCreated, "owned_by": s.opts.Name}
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
