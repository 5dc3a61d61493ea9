package mock

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// speakerOf is the dialect of a path that has no room: models, and paths
// that do not exist.
func speakerOf(r *http.Request) dialect {
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/v1beta/"), strings.Contains(path, "/models/") && strings.Contains(path, ":"):
		return geminiDialect{}
	case r.Header.Get("Anthropic-Version") != "", strings.Contains(path, "/messages"):
		return anthropicDialect{}
	}
	return openAIDialect{}
}

// listModels is GET /v1/models and /v1beta/models: an example of every fault,
// and the models that have a fault tied to them.
func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	d := speakerOf(r)
	if !s.admit(w, r, d) {
		return
	}
	ids := s.models()
	list := make([]any, len(ids))
	for i, id := range ids {
		list[i] = s.model(id, d)
	}
	switch d.(type) {
	case geminiDialect:
		writeJSON(w, http.StatusOK, map[string]any{"models": list})
	case anthropicDialect:
		writeJSON(w, http.StatusOK, map[string]any{"data": list, "has_more": false, "first_id": ids[0], "last_id": ids[len(ids)-1]})
	default:
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
	}
}

// oneModel is GET /v1/models/{id}; every name is a model here.
func (s *Server) oneModel(w http.ResponseWriter, r *http.Request) {
	if d := speakerOf(r); s.admit(w, r, d) {
		writeJSON(w, http.StatusOK, s.model(head(r.PathValue("id"), longestModel), d))
	}
}

func (s *Server) admit(w http.ResponseWriter, r *http.Request, d dialect) bool {
	if s.opts.Key != "" && peerKey(r) != s.opts.Key {
		writeFailure(w, d, failureFor(http.StatusUnauthorized))
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

func (s *Server) model(id string, d dialect) any {
	switch d.(type) {
	case geminiDialect:
		return map[string]any{
			"name": "models/" + id, "version": "001", "displayName": id, "inputTokenLimit": 1 << 20, "outputTokenLimit": 1 << 16,
			"supportedGenerationMethods": []string{"generateContent", "streamGenerateContent"},
		}
	case anthropicDialect:
		return map[string]any{
			"type": "model", "id": id, "display_name": id, "created_at": time.Unix(firstCreated, 0).UTC().Format(time.RFC3339),
		}
	}
	return map[string]any{"id": id, "object": "model", "created": firstCreated, "owned_by": s.opts.Name}
}
