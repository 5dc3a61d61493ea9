package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"backstop/internal/app"
	"backstop/internal/config"
)

// setup is a configuration, as far as it is not the usual one.
type setup struct {
	pace            pace
	gap             time.Duration // between two tokens of a healthy answer, 0 = 15 ms at the pace
	quicker         bool          // the backup takes a tenth of it
	byName          bool          // the model's name picks the primary's fault
	primary, backup string        // more lines of an upstream
	alone           bool          // there is no backup tier
	route           string        // more lines of the route
	tiers           string        // the tiers instead
	local           string        // text of a template
}

// gateway is the whole program between a caller and two upstreams.
type gateway struct {
	setup
	primary, backup *fake
	app             *app.App
	url             string
	conns           *http.Transport // the caller's
}

const adminToken = "an-admin-token-of-the-crash-test"

// open starts the upstreams and the program.
func open(s setup) (h *gateway, err error) {
	if s.gap == 0 {
		s.gap = s.pace.of(15 * time.Millisecond)
	}
	h = &gateway{setup: s, conns: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256, ReadBufferSize: 4 << 10, WriteBufferSize: 4 << 10}}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if h.primary, err = newFake(s.gap, s.byName); err != nil {
		return h, err
	}
	if s.quicker {
		s.gap /= 10
	}
	if h.backup, err = newFake(s.gap, false); err != nil {
		return h, err
	}
	file := h.file()
	h.app, err = app.New(app.Options{Version: "crash", Load: func() (*config.Config, []config.Warning, error) {
		return config.Parse("crash.yaml", []byte(file), config.Options{})
	}})
	if err != nil {
		return h, fmt.Errorf("%w in\n%s", err, file)
	}
	if err = h.app.Start(); err != nil {
		return h, err
	}
	h.url = "http://" + h.app.Addr()
	return h, nil
}

func (h *gateway) close() {
	h.conns.CloseIdleConnections()
	if h.app != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = h.app.Stop(ctx)
	}
	for _, f := range []*fake{h.primary, h.backup} {
		if f != nil {
			f.close()
		}
	}
}

// file is what an operator would have written.
func (h *gateway) file() string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: 127.0.0.1:0\nadmin: {listen: \"127.0.0.1:0\", token: %s}\nlog: {level: error}\n%s", adminToken, h.pace.lines())
	fmt.Fprintf(&b, "upstreams:\n  primary:\n    base_url: http://%s/v1\n    allow_private: true\n    key: sk-crash-primary\n%s", h.primary.addr, indent("    ", h.setup.primary))
	fmt.Fprintf(&b, "  backup:\n    base_url: http://%s/v1\n    allow_private: true\n    key: sk-crash-backup\n%s", h.backup.addr, indent("    ", h.setup.backup))
	b.WriteString("routes:\n")
	switch {
	case h.tiers != "":
		b.WriteString(h.tiers)
		return b.String()
	case h.alone:
		b.WriteString("  - model: \"*\"\n    tiers:\n      - {upstream: primary}\n")
	default:
		b.WriteString("  - model: \"*\"\n    tiers:\n      - {upstream: primary}\n      - {upstream: backup, model: ok}\n")
	}
	if h.local != "" {
		fmt.Fprintf(&b, "      - local: {template: {text: %q}}\n", h.local)
	}
	b.WriteString(indent("    ", h.route))
	return b.String()
}

func indent(by, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(by + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}
