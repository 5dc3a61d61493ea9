package config

import (
	"fmt"
	"strings"

	"backstop/internal/config/tree"
)

// foreign are words of other gateways and of older habits, with ours.
var foreign = map[string]string{
	"api_key": "key", "apikey": "key", "api_keys": "keys", "secret": "key",
	"api_base": "base_url", "baseurl": "base_url", "url": "base_url", "endpoint": "base_url", "host": "base_url",
	"model_list": "routes", "models": "routes", "router_settings": "routes", "virtual_models": "routes",
	"fallbacks": "tiers", "default_fallbacks": "tiers", "context_window_fallbacks": "tiers", "targets": "tiers", "backends": "upstreams",
	"model_name": "model", "litellm_params": "tiers", "provider": "dialect", "providers": "upstreams", "type": "dialect", "api_type": "dialect",
	"timeout": "timeouts", "request_timeout": "timeouts: {total: …}", "stream_timeout": "timeouts: {first_token: …}",
	"num_retries": "retry: {max: …}", "max_retries": "retry: {max: …}", "retries": "retry: {max: …}",
	"allowed_fails": "breaker: {failures: …}", "cooldown_time": "breaker: {reset: …}", "circuit_breaker": "breaker",
	"rpm": "limits: {rate: 60/m}", "max_parallel_requests": "limits: {inflight: …}", "rate_limit": "limits: {rate: …}",
	"general_settings": "admin, callers", "litellm_settings": "defaults", "master_key": "callers", "virtual_keys": "callers",
	"port": "listen", "bind": "listen", "address": "listen", "server": "listen", "logging": "log",
	"extra_headers": "headers", "extra_body": "quirks: {set_params: …}", "drop_params": "quirks: {drop_params: …}",
	"organization": "headers", "api_version": "query: {api-version: …}",
	"failurethreshold": "breaker: {failures: …}", "resettimeoutms": "breaker: {reset: …}", "requesttimeoutms": "timeouts: {first_token: …}",
}

// importable are keys that only the whole file of another product has.
var importable = map[string]string{"model_list": "litellm", "strategy": "portkey"}

// unknown reports a key that is not a word of the file here, with the word
// that was probably meant.
func (r *reader) unknown(p tree.Pair, m mapping) {
	r.src.HideAll(p.Value)
	message := fmt.Sprintf("unknown key %s", raw(p.Key))
	if len(r.path) > 0 {
		message += " in " + r.place()
	}
	hint := suggestion(p.Key.Text, m)
	if from := importable[p.Key.Text]; from != "" && len(r.path) == 0 {
		hint = "that is a file of another gateway; turn it into ours with: backstop import " + from + " FILE"
	}
	if !r.opt.Lenient {
		r.problem(p.Key, message, hint)
		return
	}
	if hint != "" {
		message += " (" + hint + ")"
	}
	r.warn(p.Key, "%s: ignored", message)
}

// place names where in the file the reader is, for people.
func (r *reader) place() string {
	var words []string
	for _, w := range r.path {
		if w != "*" {
			words = append(words, w)
		}
	}
	return strings.Join(words, ".")
}

// suggestion says what was probably meant by a key: the word for it in other
// products if that word is of use here, the nearest spelling, or the place
// where the key belongs.
func suggestion(name string, m mapping) string {
	lower := strings.ToLower(name)
	ours, known := foreign[lower]
	first, _, _ := strings.Cut(ours, ":")
	if known && has(m, strings.SplitN(first, ",", 2)[0]) {
		return "did you mean " + ours + "?"
	}
	if near := nearest(lower, m.names()); near != "" {
		return "did you mean " + near + "?"
	}
	if at := elsewhere(lower); at != "" {
		return "it belongs to " + at
	}
	if known {
		return "here it is called " + ours
	}
	return "known here: " + strings.Join(m.names(), ", ")
}

func has(m mapping, name string) bool {
	for i := range m {
		if m[i].name == name {
			return true
		}
	}
	return false
}

// elsewhere finds the one place of the file where a key is at home.
func elsewhere(name string) string {
	var found []string
	for _, row := range rows() {
		parent, last := "", row.path
		if i := strings.LastIndexByte(row.path, '.'); i >= 0 {
			parent, last = row.path[:i], row.path[i+1:]
		}
		if last == name {
			found = append(found, parent)
		}
	}
	switch {
	case len(found) == 0 || len(found) > 3:
		return ""
	case found[0] == "":
		return "the top of the file"
	}
	return strings.Join(found, " or ")
}

// nearest returns the word with the fewest typing errors, "" if none is near.
func nearest(got string, words []string) string {
	if len(got) > 64 {
		return ""
	}
	best, bestAt := "", max(1, len(got)/3)+1
	for _, w := range words {
		if d := distance(got, w); d < bestAt {
			best, bestAt = w, d
		}
	}
	return best
}

// distance counts insertions, deletions, changes and swaps of neighbours
// between two words (optimal string alignment).
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	var twoBefore []int
	for i := 1; i <= len(a); i++ {
		twoBefore, before, row = before, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := before[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, before[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twoBefore[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
