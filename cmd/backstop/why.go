package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"backstop"
	"backstop/internal/config"
)

type whyCmd struct {
	ID    string `arg:"" help:"Request id, as in the x-request-id header."`
	Admin string `placeholder:"URL" help:"The admin plane (default: admin.listen of backstop.yaml here, else http://localhost:3001)."`
	Token string `placeholder:"T" help:"Its token (default: that of backstop.yaml here, or the one that a local gateway keeps in its file)."`
}

// whyCall is what the command reads of GET /api/calls/{id}.
type whyCall struct {
	ID, Op, Caller, Route, Asked, Tier, Upstream, Model, Reason, Outcome, Code, Message string
	Time                                                                                time.Time
	Status                                                                              int
	Stream, Committed, Truncated                                                        bool
	Repaired, Dropped                                                                   []string
	Duration                                                                            float64 `json:"duration_ms"`
	FirstToken                                                                          float64 `json:"first_token_ms"`
	Attempts                                                                            []struct {
		Attempt, Tier, Key, Status, Replays int
		Upstream, Model, Outcome            string
		Probe, Retry, Hedge                 bool
		Start                               float64 `json:"start_ms"`
		Waited                              float64 `json:"waited_ms"`
		FirstByte                           float64 `json:"first_byte_ms"`
		FirstToken                          float64 `json:"first_token_ms"`
		Duration                            float64 `json:"duration_ms"`
	}
	Skipped []struct {
		Tier          int
		Upstream, Why string
		Kind          string
		Until         float64 `json:"until_ms"`
	}
}

func (c *whyCmd) Run(s *streams) error {
	written, _, _ := config.Load(defaultFile, config.Options{Env: s.env}) // one that cannot be loaded in this shell says nothing
	c.Admin = cmp.Or(c.Admin, writtenAdmin(written), "http://localhost:3001")
	base, err := url.Parse(c.Admin)
	if err != nil || base.Host == "" {
		return failf(exitUsage, "--admin %q: give the URL of the admin plane, such as http://localhost:3001", c.Admin)
	}
	token := c.Token
	if token == "" {
		token = cmp.Or(writtenToken(written, base), keptToken(base.Port()))
	}
	if token == "" {
		return failf(exitUsage, "no token: give --token, as in admin.token or in the dashboard URL")
	}
	plane := adminPlane{base: c.Admin, token: token}
	a, err := plane.get(s.ctx, "/api/calls/"+url.PathEscape(c.ID))
	if err != nil {
		return err
	}
	var call whyCall
	switch {
	case a.status == http.StatusOK && json.Unmarshal(a.body, &call) == nil && call.ID != "":
		call.tell(s.out)
		return nil
	case a.status == http.StatusNotFound:
		return plane.forgotten(s.ctx, a, c.ID)
	}
	return plane.stranger(a)
}

// writtenAdmin is where a gateway of the configuration in this folder has its
// admin plane, if that is on this machine.
func writtenAdmin(cfg *config.Config) string {
	if cfg == nil || len(cfg.Admin.Listen) == 0 {
		return ""
	}
	host, port, err := net.SplitHostPort(cfg.Admin.Listen[0])
	if ip := net.ParseIP(host); err != nil || port == "0" || host != "" && (ip == nil || !ip.IsUnspecified() && !ip.IsLoopback()) {
		return ""
	}
	return "http://localhost:" + port
}

// writtenToken is admin.token of the configuration in this folder, if that is
// the one of the local gateway that is asked.
func writtenToken(cfg *config.Config, base *url.URL) string {
	if cfg == nil {
		return ""
	}
	ours := slices.ContainsFunc(cfg.Admin.Listen, func(at string) bool { return strings.HasSuffix(at, ":"+base.Port()) })
	if host := base.Hostname(); !ours || host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return ""
	}
	return cfg.Admin.Token.Reveal()
}

// keptToken reads the token that a gateway of this user keeps for its port.
func keptToken(port string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	text, err := os.ReadFile(filepath.Join(dir, "backstop", "admin-token-"+filepath.Base(port)))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// end is when an attempt was over. Start and duration are rounded apart, so it
// may seem to lie a hair behind the start of the try that followed it.
func (c *whyCall) end(i int) float64 {
	end := c.Attempts[i].Start + c.Attempts[i].Duration
	if i+1 < len(c.Attempts) && end-c.Attempts[i+1].Start < 0.05 {
		return min(end, c.Attempts[i+1].Start)
	}
	return end
}

// tell prints the timeline of a call.
func (c *whyCall) tell(w io.Writer) {
	head := c.Op + " " + c.ID
	if c.Asked != "" {
		head += fmt.Sprintf(", model %q", c.Asked)
	}
	if c.Caller != "" {
		head += ", caller " + c.Caller
	}
	if c.Route != "" {
		head += fmt.Sprintf(", route %q", c.Route)
	}
	fmt.Fprintf(w, "%s, %s\n", head, c.Time.Format(time.RFC3339))
	type line struct {
		at   float64
		text string
	}
	var lines []line
	add := func(at float64, form string, args ...any) {
		lines = append(lines, line{at, fmt.Sprintf(form, args...)})
	}
	for _, k := range c.Skipped {
		again := ""
		if k.Until > 0 {
			again = fmt.Sprintf(", free again in %.0f ms", k.Until)
		}
		why := k.Why
		if k.Kind != "" {
			why += " (" + k.Kind + ")"
		}
		add(-1, "tier %d %s passed over: %s%s", k.Tier+1, k.Upstream, why, again)
	}
	for i, a := range c.Attempts {
		what := "try"
		if a.Retry {
			what = "retry"
		}
		if a.Hedge {
			what = "hedge"
		}
		note := ""
		if a.Probe {
			note = ", the breaker's probe"
		}
		if a.Waited > 0 {
			note += fmt.Sprintf(", after a wait of %.0f ms", a.Waited)
		}
		if a.Replays > 0 {
			note += fmt.Sprintf(", %d replays on a fresh connection", a.Replays)
		}
		add(a.Start, "%s %d at tier %d %s as %q%s", what, a.Attempt, a.Tier+1, a.Upstream, a.Model, note)
		if a.FirstByte > 0 {
			add(a.Start+a.FirstByte, "  headers")
		}
		if a.FirstToken > 0 {
			add(a.Start+a.FirstToken, "  first token")
		}
		status := ""
		if a.Status > 0 {
			status = fmt.Sprintf(" (HTTP %d)", a.Status)
		}
		add(c.end(i), "  %s%s", a.Outcome, status)
	}
	sort.SliceStable(lines, func(i, j int) bool { return lines[i].at < lines[j].at })
	for _, l := range lines {
		if l.at < 0 {
			fmt.Fprintf(w, "%13s  %s\n", "", l.text)
			continue
		}
		fmt.Fprintf(w, "%10.1f ms  %s\n", l.at, l.text)
	}
	fmt.Fprintf(w, "%10.1f ms  %s\n", c.Duration, c.closing())
}

// closing is what the caller got, and why.
func (c *whyCall) closing() string {
	end := fmt.Sprintf("answered by %s %s with HTTP %d", c.Tier, c.Upstream, c.Status)
	if c.Op == backstop.OpPass {
		end = fmt.Sprintf("passed on to %s: %s with HTTP %d", c.Upstream, c.Outcome, c.Status)
	}
	if c.Code != "" {
		end = fmt.Sprintf("error %s with HTTP %d", c.Code, c.Status)
	}
	if c.Reason != "" {
		end += ", because of " + c.Reason
	}
	if len(c.Repaired) > 0 {
		end += ", repaired " + strings.Join(c.Repaired, ", ")
	}
	if len(c.Dropped) > 0 {
		end += ", left out " + strings.Join(c.Dropped, ", ")
	}
	if c.Code != "" && c.Message != "" {
		end += ": " + c.Message // the last word, for it is a sentence of its own
	}
	return end
}
