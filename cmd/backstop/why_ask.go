package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// adminPlane is where questions about calls go. What answers there may be
// another server: each answer is looked at for whose it is.
type adminPlane struct{ base, token string }

// adminAnswer is what came back.
type adminAnswer struct {
	status int
	header http.Header
	body   []byte
}

// get asks for a path.
func (p adminPlane) get(ctx context.Context, path string) (*adminAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(p.base, "/")+path, nil)
	if err != nil {
		return nil, failf(exitUsage, "--admin %q: %s", p.base, err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, failf(exitFailed, "no gateway answers at %s: %s; name its admin plane with --admin", p.base, plainReason(err))
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return &adminAnswer{resp.StatusCode, resp.Header, body}, nil
}

// forgotten is the error for an id that is not known: there, or because what
// answers is no admin plane. One of those tells how long it has run.
func (p adminPlane) forgotten(ctx context.Context, a *adminAnswer, id string) error {
	state, err := p.get(ctx, "/api/state")
	if err != nil {
		return err
	}
	var seen struct {
		Uptime *float64 `json:"uptime_s"`
	}
	if state.status != http.StatusOK || json.Unmarshal(state.body, &seen) != nil || seen.Uptime == nil {
		return p.stranger(a)
	}
	return failf(exitFailed, "no call with the id %.60q is remembered: the gateway keeps the last 10,000 since its start %s ago, and none that it turned away at the door (a wrong key, an unknown path), of which its log tells",
		id, time.Duration(*seen.Uptime*float64(time.Second)).Round(time.Second))
}

// stranger is the error for an answer that tells of no call.
func (p adminPlane) stranger(a *adminAnswer) error {
	var e struct {
		Error struct{ Code string }
	}
	_ = json.Unmarshal(a.body, &e)
	what := fmt.Sprintf("what answers at %s (HTTP %d) is no admin plane of backstop", p.base, a.status)
	switch {
	case a.header.Get("X-Request-Id") != "" && a.header.Get("Request-Id") != "":
		what = p.base + " is where the gateway takes calls, not its admin plane"
	case a.status == http.StatusUnauthorized && e.Error.Code == "unauthorized":
		return failf(exitFailed, "the admin plane refused the token: give that of admin.token or of the dashboard URL with --token")
	case a.status == http.StatusForbidden && e.Error.Code == "forbidden":
		return failf(exitFailed, "the admin plane takes no other host name than its own: name it in --admin as in admin.listen")
	}
	return failf(exitFailed, "%s: give the address of admin.listen (http://localhost:3001 unless it is set) with --admin", what)
}
