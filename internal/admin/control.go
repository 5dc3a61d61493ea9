package admin

import (
	"cmp"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"time"
)

const (
	maxBody    = 4 << 10
	mostForced = 7 * 24 * time.Hour
	maxMessage = 4 << 10
)

// breaker forces an upstream's breakers open or closed, or gives them back to
// their own rules.
func (p *plane) breaker(w http.ResponseWriter, r *http.Request) {
	var in struct {
		State string `json:"state"`
		For   string `json:"for"`
	}
	if !order(w, r, &in, `{"state": "open", "for": "15m"}; for is optional`) {
		return
	}
	if in.State != "open" && in.State != "closed" && in.State != "auto" {
		fail(w, http.StatusBadRequest, "invalid_request", "state takes open, closed or auto")
		return
	}
	var d time.Duration
	if in.For != "" {
		var err error
		if d, err = time.ParseDuration(in.For); err != nil || d <= 0 || d > mostForced {
			fail(w, http.StatusBadRequest, "invalid_request", "for takes a duration such as 90s or 15m, up to 168h")
			return
		}
	}
	name := r.PathValue("upstream")
	if !p.has(name) {
		fail(w, http.StatusNotFound, "not_found", "no upstream has this name; see GET /api/state")
		return
	}
	if err := p.Force(name, in.State, d); err != nil {
		fail(w, http.StatusBadRequest, "invalid_request", cut(err.Error()))
		return
	}
	// A breaker tells when it changes, but not what was asked of it, for how
	// long, or that parks are lifted.
	what := []any{"state", in.State, "for", cmp.Or(in.For, "until changed")}
	if in.State != "open" {
		what = append(what, "parks", "lifted")
	}
	p.Log.Info("admin plane: the breakers of "+name+" were set", what...)
	reply(w, http.StatusOK, map[string]string{"upstream": name, "state": in.State, "for": in.For})
}

func (p *plane) has(upstream string) bool {
	for _, u := range p.State().Upstreams {
		if u.Name == upstream {
			return true
		}
	}
	return false
}

// reload reads the configuration from disk again, nothing else.
func (p *plane) reload(w http.ResponseWriter, _ *http.Request) {
	if err := p.Reload(); err != nil {
		fail(w, http.StatusUnprocessableEntity, "config_error", cut(err.Error()))
		return
	}
	changes := []string{}
	if list := p.Config().Reloads; len(list) > 0 {
		changes = append(changes, list[0].Changes...)
	}
	reply(w, http.StatusOK, map[string]any{"status": "reloaded", "changes": changes})
}

func (p *plane) drain(w http.ResponseWriter, _ *http.Request) {
	p.Drain()
	reply(w, http.StatusAccepted, map[string]string{"status": "draining"})
}

func cut(message string) string {
	if len(message) > maxMessage {
		return message[:maxMessage] + "…"
	}
	return message
}

// order reads the body of a switch: one JSON object with known names only.
func order(w http.ResponseWriter, r *http.Request, into any, form string) bool {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, "unsupported_media", "the body must be JSON: send content-type: application/json")
		return false
	}
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	_, end := dec.Token()
	if err != nil || end != io.EOF {
		fail(w, http.StatusBadRequest, "invalid_request", "the body must be "+form)
		return false
	}
	return true
}
