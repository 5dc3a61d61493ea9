package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// write renders the draft as YAML.
func (d *draft) write(from string) []byte {
	var b bytes.Buffer
	line := func(form string, args ...any) { fmt.Fprintf(&b, form+"\n", args...) }
	line("# Imported from %s. Look at it with: backstop check, backstop explain MODEL, backstop doctor", shown(from))
	line("version: 1")
	if d.crowded { // an upstream is where we would listen
		line("listen: localhost:3010")
		line("admin: {listen: localhost:3011}")
	}
	if len(d.callers) > 0 {
		line("callers:")
		for _, c := range d.callers {
			line("  - {name: %s, key: %s}", quote(c.name), quote(c.key))
		}
	}
	if d.jsonLog {
		line("log: {format: json}")
	}
	if settings := d.knobs.lines(); len(settings) > 0 {
		line("defaults:")
		for _, s := range settings {
			line("  %s", s)
		}
	}
	line("upstreams:")
	for i := range d.upstreams {
		d.upstreams[i].write(line)
	}
	line("routes:")
	for i := range d.routes {
		d.routes[i].write(line)
	}
	return b.Bytes()
}

func (u *upstreamDraft) write(line func(string, ...any)) {
	line("  %s:", quote(u.name))
	line("    dialect: %s", u.dialect)
	if u.vendor != "" {
		line("    vendor: %s", u.vendor)
	}
	line("    base_url: %s", quote(u.baseURL))
	switch len(u.keys) {
	case 0:
	case 1:
		line("    key: %s", quote(u.keys[0]))
	default:
		quoted := make([]string, len(u.keys))
		for i, k := range u.keys {
			quoted[i] = quote(k)
		}
		line("    keys: [%s]", strings.Join(quoted, ", "))
	}
	if len(u.headers) > 0 {
		line("    headers: %s", flow(u.headers, quote))
	}
	if len(u.query) > 0 {
		line("    query: %s", flow(u.query, quote))
	}
	if u.private {
		line("    allow_private: true")
	}
	for _, s := range u.lines() {
		line("    %s", s)
	}
	var quirks []pair
	if len(u.params) > 0 {
		quirks = append(quirks, pair{"set_params", flow(u.params, asIs)})
	}
	if len(u.drops) > 0 {
		quoted := make([]string, len(u.drops))
		for i, name := range u.drops {
			quoted[i] = quote(name)
		}
		quirks = append(quirks, pair{"drop_params", "[" + strings.Join(quoted, ", ") + "]"})
	}
	if len(quirks) > 0 {
		line("    quirks: %s", flow(quirks, asIs))
	}
}

// lines are the settings as they stand below an upstream or the defaults.
func (k *knobs) lines() (out []string) {
	var times, breaker, limits []pair
	if k.firstToken > 0 {
		times = append(times, pair{"first_token", span(k.firstToken)})
	}
	if k.total > 0 {
		times = append(times, pair{"total", span(k.total)})
	}
	if k.failures > 0 {
		breaker = append(breaker, pair{"failures", strconv.Itoa(k.failures)})
	}
	if k.reset > 0 {
		breaker = append(breaker, pair{"reset", span(k.reset)})
	}
	if k.perMinute > 0 {
		limits = append(limits, pair{"rate", strconv.FormatFloat(k.perMinute, 'f', -1, 64) + "/m"})
	}
	if k.inflight > 0 {
		limits = append(limits, pair{"inflight", strconv.Itoa(k.inflight)})
	}
	add := func(name string, list []pair) {
		if len(list) > 0 {
			out = append(out, name+": "+flow(list, asIs))
		}
	}
	add("timeouts", times)
	add("breaker", breaker)
	if k.retries != nil {
		add("retry", []pair{{"max", strconv.Itoa(*k.retries)}})
	}
	add("limits", limits)
	return out
}

func (r *routeDraft) write(line func(string, ...any)) {
	line("  - model: %s", quote(r.model))
	line("    tiers:")
	for _, t := range r.tiers {
		parts := []pair{{"upstream", quote(t.upstream)}}
		if t.model != "" {
			parts = append(parts, pair{"model", quote(t.model)})
		}
		if t.context > 0 {
			parts = append(parts, pair{"context", strconv.Itoa(t.context)})
		}
		line("      - %s", flow(parts, asIs))
	}
	if r.cache > 0 {
		line("      - local: {cache: {age: %s}}", span(r.cache))
	}
	if r.refusal {
		line("    refusal: next")
	}
}

func flow(list []pair, value func(string) string) string {
	parts := make([]string, len(list))
	for i, p := range list {
		parts[i] = quote(p.name) + ": " + value(p.value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func asIs(s string) string { return s }

var (
	bareWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._/-]*$|^https?://[A-Za-z0-9._:/-]*[A-Za-z0-9/]$`)
	reserved = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}
)

// quote writes a text as a YAML scalar: bare where nobody can misread it, else
// as JSON, which YAML reads in the same way.
func quote(s string) string {
	if bareWord.MatchString(s) && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text always can be
	return strings.TrimSuffix(b.String(), "\n")
}

// span writes a duration with its largest whole unit.
func span(d time.Duration) string {
	switch {
	case d%time.Hour == 0:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d%time.Minute == 0:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d%time.Second == 0:
		return strconv.Itoa(int(d/time.Second)) + "s"
	}
	return strconv.Itoa(int(d/time.Millisecond)) + "ms"
}
