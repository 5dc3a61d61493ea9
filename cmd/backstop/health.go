package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"time"
)

type healthCmd struct {
	URL   string        `arg:"" optional:"" default:"http://127.0.0.1:3000/readyz" help:"What to ask (default http://127.0.0.1:3000/readyz)."`
	Limit time.Duration `default:"2s" help:"Longest time to wait."`
}

func (*healthCmd) Help() string {
	return `For containers that have no shell and no curl: a health check by the binary itself. No key is needed and no token is spent.

  backstop health
  backstop health http://127.0.0.1:3000/healthz

Exit code: 0 it answers 200, 1 it does not.`
}

func (c *healthCmd) Run(s *streams) error {
	u, err := url.Parse(c.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return failf(exitUsage, "%q is no http URL; write for example http://127.0.0.1:3000/readyz", c.URL)
	}
	ctx, cancel := context.WithTimeout(s.ctx, c.Limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return failf(exitUsage, "%q is no http URL; write for example http://127.0.0.1:3000/readyz", c.URL)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return failf(exitFailed, "nothing answers at %s: %s", c.URL, plainReason(err))
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<16))
	if resp.StatusCode != http.StatusOK {
		return failf(exitFailed, "%s answers %d", c.URL, resp.StatusCode)
	}
	return nil
}
