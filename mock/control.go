package mock

import (
	"encoding/json"
	"net/http"
)

// guard keeps web pages away from the controls: a browser names the page's
// origin, other programs name none.
func (s *Server) guard(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			writeJSON(w, http.StatusForbidden, map[string]string{"error": "web pages may not control the mock"})
			return
		}
		h(w, r)
	}
}

// showFaults is GET /mock/faults: the faults in force, and all words.
func (s *Server) showFaults(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"faults": s.rules.all(), "words": Words()})
}

// switchFault is POST /mock/faults {"model": "*", "fault": "hang"}.
func (s *Server) switchFault(w http.ResponseWriter, r *http.Request) {
	var order struct{ Model, Fault *string }
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&order); err != nil || order.Model == nil || order.Fault == nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": `want {"model": "NAME or *", "fault": "WORD or empty"}`})
		return
	}
	if err := s.SetFault(*order.Model, *order.Fault); err != nil {
		writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"faults": s.rules.all()})
}

// showLog is GET /mock/log: the counts, and the attempts that are kept.
func (s *Server) showLog(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{"counts": s.Counts(), "attempts": s.Log()})
}

// clearLog is DELETE /mock/log.
func (s *Server) clearLog(w http.ResponseWriter, _ *http.Request) {
	s.log.reset()
	writeJSON(w, http.StatusOK, map[string]any{"counts": s.Counts()})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"the answer could not be written"}`)
	}
	w.Header().Set("Content-Type", jsonBody)
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
