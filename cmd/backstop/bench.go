package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"backstop/internal/load"
)

type benchCmd struct {
	What     string        `arg:"" optional:"" default:"" enum:"article," help:"'article' plays the article's test on mocks of its own."`
	Target   string        `placeholder:"URL" default:"http://localhost:3000/api/agent" help:"Where the load goes: a URL that takes {\"prompt\": ...} or chat requests."`
	Rate     float64       `default:"50" help:"Calls a second."`
	Duration time.Duration `default:"10s" help:"How long calls are sent."`
	Model    string        `help:"Model name to ask for."`
	KeyEnv   string        `placeholder:"NAME" help:"Environment variable with the caller's key."`
	Stream   bool          `help:"Ask for event streams."`
	JSON     bool          `name:"json" help:"Print JSON."`
}

// benchReport is what --json prints.
type benchReport struct {
	Target  string         `json:"target"`
	Rate    float64        `json:"rate"`
	Phases  []load.Summary `json:"phases"`
	Verdict load.Verdict   `json:"verdict"`
	OK      bool           `json:"ok"`
}

func (c *benchCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(s.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	s.ctx = ctx
	if c.What == "article" {
		return c.article(s)
	}
	h := http.Header{"Content-Type": {"application/json"}}
	if c.KeyEnv != "" {
		key, ok := s.env(c.KeyEnv)
		if !ok || key == "" {
			return failf(exitUsage, "--key-env %s: the variable is not set", c.KeyEnv)
		}
		h.Set("Authorization", "Bearer "+key)
	}
	body, err := benchBody(c.Target, c.Model, c.Stream)
	if err != nil {
		return err
	}
	r, err := watched(ctx, s, "bench", load.Options{Rate: c.Rate, Duration: c.Duration, URL: c.Target, Header: h, Stream: c.Stream,
		Body: func(int) []byte { return body }})
	if err != nil {
		return failf(exitUsage, "%s", err)
	}
	phases := r.Phases(load.Derive(r.Samples))
	verdict := load.Judge(&load.Facts{Open: r.Samples}, answered)
	return c.print(s, phases, verdict)
}

// answered is the one thing that every run must show.
var answered = load.ArticleOpen[:1]

func (c *benchCmd) print(s *streams, phases []load.Phase, v load.Verdict) error {
	if c.JSON {
		rep := benchReport{Target: c.Target, Rate: c.Rate, Verdict: v, OK: v.OK()}
		for i := range phases {
			rep.Phases = append(rep.Phases, phases[i].Summarize())
		}
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		if err := e.Encode(rep); err != nil {
			return err
		}
	} else {
		if err := load.WritePhases(s.out, phases); err != nil {
			return err
		}
		var samples load.Samples
		for i := range phases {
			samples = append(samples, phases[i].Samples...)
		}
		if err := samples.WriteFailures(s.out); err != nil {
			return err
		}
		if hint := c.hint(samples); hint != "" {
			fmt.Fprintln(s.out, hint)
		}
		fmt.Fprintln(s.out)
		if err := v.WriteTable(s.out); err != nil {
			return err
		}
	}
	if !v.OK() {
		return &exit{code: exitFailed}
	}
	return nil
}

// hint says what to do where no call can have got anywhere.
func (c *benchCmd) hint(samples load.Samples) string {
	switch n := len(samples); {
	case samples.Errors()[load.ErrConnect] == n:
		return "nothing listens at " + c.Target + ": start the gateway, or name another URL with --target"
	case samples.Statuses()[http.StatusUnauthorized] == n && c.KeyEnv != "":
		return "the gateway refuses the key in " + c.KeyEnv + ": it takes those of its callers, not a vendor's"
	case samples.Statuses()[http.StatusUnauthorized] == n:
		return "the gateway wants a caller's key: name the variable that holds it with --key-env"
	}
	return ""
}

// benchBody is an agent call or, for a chat path, a chat request.
func benchBody(target, model string, stream bool) ([]byte, error) {
	const prompt = "Classify this ticket: my invoice is wrong and nobody answers."
	m := map[string]any{}
	if model != "" {
		m["model"] = model
	}
	if stream {
		m["stream"] = true
	}
	if isAgent(target) {
		m["prompt"] = prompt
	} else {
		if model == "" {
			m["model"] = "gpt-4o"
		}
		m["messages"] = []map[string]string{{"role": "user", "content": prompt}}
	}
	return json.Marshal(m)
}

func isAgent(target string) bool {
	const path = "/api/agent"
	return len(target) >= len(path) && target[len(target)-len(path):] == path
}
