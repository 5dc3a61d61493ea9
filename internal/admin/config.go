package admin

import (
	"net/http"
	"time"
)

// Config is the configuration in force, without secrets.
type Config struct {
	Source   string // file, or where else it came from
	Settings []Setting
	Reloads  []Reload // newest first
}

// Setting is one thing that it sets, in the words of the file.
type Setting struct {
	Group, Path, Value string
	Hidden             bool // it is set, and not shown
}

// Reload is one time at which the configuration was read again.
type Reload struct {
	Time    time.Time
	OK      bool
	Error   string   // why nothing changed
	Changes []string // in effect
}

// configView is GET /api/config.
type configView struct {
	Source   string        `json:"source"`
	Settings []settingView `json:"settings"`
	Reloads  []reloadView  `json:"reloads"`
}

type settingView struct {
	Group  string `json:"group,omitempty"`
	Path   string `json:"path"`
	Value  string `json:"value"`
	Hidden bool   `json:"hidden,omitempty"`
}

type reloadView struct {
	Time    time.Time `json:"time"`
	OK      bool      `json:"ok"`
	Error   string    `json:"error,omitempty"`
	Changes []string  `json:"changes"`
}

func (p *plane) config(w http.ResponseWriter, _ *http.Request) {
	c := p.Config()
	v := configView{Source: c.Source, Settings: make([]settingView, len(c.Settings)), Reloads: make([]reloadView, len(c.Reloads))}
	for i, s := range c.Settings {
		v.Settings[i] = settingView(s)
	}
	for i, r := range c.Reloads {
		v.Reloads[i] = reloadView{Time: r.Time, OK: r.OK, Error: cut(r.Error), Changes: append([]string{}, r.Changes...)}
	}
	reply(w, http.StatusOK, v)
}
