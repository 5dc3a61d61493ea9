package server

import (
	"net/http"
	"time"

	"backstop"
)

// exactModels are the route names that are no patterns, each once.
func exactModels(p *backstop.Plan) []string {
	if p == nil {
		return nil
	}
	var names []string
	seen := map[string]bool{}
	for i := range p.Routes {
		if r := &p.Routes[i]; r.Exact() && !seen[r.Model] {
			seen[r.Model] = true
			names = append(names, r.Model)
		}
	}
	return names
}

// list answers with the models that the caller may name.
func (s *Server) list(w http.ResponseWriter, r *http.Request, v *visit) {
	models := []any{}
	var first, last any
	for _, name := range v.plane.models {
		if v.caller.allows(name) {
			models = append(models, modelObject(v.dialect, name, v.plane.since))
			if first == nil {
				first = name
			}
			last = name
		}
	}
	switch v.dialect {
	case backstop.Anthropic:
		s.answer(w, r, v, http.StatusOK, marshal(map[string]any{"data": models, "has_more": false, "first_id": first, "last_id": last}))
	case backstop.Gemini:
		s.answer(w, r, v, http.StatusOK, marshal(map[string]any{"models": models}))
	default:
		s.answer(w, r, v, http.StatusOK, marshal(map[string]any{"object": "list", "data": models}))
	}
}

// model answers for one of them.
func (s *Server) model(w http.ResponseWriter, r *http.Request, v *visit) {
	for _, name := range v.plane.models {
		if name == v.at.model && v.caller.allows(name) {
			s.answer(w, r, v, http.StatusOK, marshal(modelObject(v.dialect, name, v.plane.since)))
			return
		}
	}
	s.refuse(w, r, v, deny(backstop.CodeNotFound, "no route has this name; see GET /v1/models"))
}

func modelObject(dialect backstop.Dialect, name string, since time.Time) map[string]any {
	switch dialect {
	case backstop.Anthropic:
		return map[string]any{"type": "model", "id": name, "display_name": name, "created_at": since.UTC().Format(time.RFC3339)}
	case backstop.Gemini:
		return map[string]any{"name": "models/" + name, "displayName": name, "supportedGenerationMethods": []string{"generateContent", "streamGenerateContent"}}
	}
	return map[string]any{"id": name, "object": "model", "created": since.Unix(), "owned_by": "backstop"}
}
