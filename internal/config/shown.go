package config

import "strings"

// Setting is one thing that a configuration sets, in the words of the file.
type Setting struct {
	Group  string // the upstream, route or caller that it is part of, "" = none
	Path   string
	Value  string // "" if it is hidden
	Hidden bool   // a key, or what may hold one: that it is set is all that is told
}

// Settings lists everything a configuration sets, defaults included. Keys,
// tokens and the values of headers are named, never shown.
func (c *Config) Settings() []Setting {
	var out []Setting
	for _, e := range effectsOf(c) {
		s := Setting{Group: e.group, Path: e.path, Value: e.value, Hidden: e.hidden}
		switch {
		case !e.hidden:
		case strings.HasPrefix(e.value, "0 "): // no key at all
			s.Value, s.Hidden = "none", false
		case strings.HasSuffix(e.path, ".proxy password"): // part of the proxy, which is shown
			continue
		default:
			s.Value = ""
		}
		out = append(out, s)
	}
	return out
}
