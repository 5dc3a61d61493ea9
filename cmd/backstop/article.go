package main

import (
	"context"
	"fmt"

	"time"

	"backstop"
	"backstop/internal/load"
	"backstop/mock"
)

// The article's test, and what it leaves out.
const (
	articleRate  = 50.0
	articleCalls = 500
	openRate     = 500.0
	openCalls    = 10000
	deadCalls    = 250
	settleLimit  = 4 * time.Second
)

// article plays the article's test in-process: 50 calls a second, the primary
// hangs for everybody from a cold start; then the open phase at ten times the
// rate; then both upstreams dead.
func (c *benchCmd) article(s *streams) error {
	log := &grepLog{}
	st, err := newStage(stageOptions{listen: "127.0.0.1:0", admin: "127.0.0.1:0", out: log, edit: liftBackup},
		mock.Options{Seed: 1, Tokens: 16}, mock.Options{Seed: 1, Tokens: 16})
	if err != nil {
		return startError(err)
	}
	defer st.close()
	c.Target, c.Rate = "http://"+st.app.Addr()+"/api/agent", articleRate
	if !c.JSON {
		fmt.Fprintf(s.out, "gateway on %s, primary hangs, backup answers at once; load %g calls/s\n", c.Target, articleRate)
	}
	if err := warm(s.ctx, c.Target); err != nil {
		return failf(exitFailed, "the gateway did not answer: %s", err)
	}
	facts := load.Facts{Before: load.Settle(s.ctx, load.Footprint{}, 0, 2500*time.Millisecond), Slack: 4}

	set(st.primary, "hang")
	began := time.Now()
	cold, err := watched(s.ctx, s, "cold start", c.load(articleRate, articleCalls))
	if err != nil {
		return err
	}
	facts.Cold = cold.Samples
	openAt := time.Now()
	again, err := watched(s.ctx, s, "open, 50/s", c.load(articleRate, articleCalls/5))
	if err != nil {
		return err
	}
	open, err := watched(s.ctx, s, "open, 500/s", c.load(openRate, openCalls))
	if err != nil {
		return err
	}
	facts.Open = open.Samples
	facts.OpenAttempts, facts.Probes = seen(st.primary, openAt)
	facts.OpenAttempts += facts.Probes
	outage := time.Now()

	set(st.backup, "hang")
	dead, err := watched(s.ctx, s, "both dead", c.load(articleRate, deadCalls))
	if err != nil {
		return err
	}
	facts.After = load.Settle(s.ctx, facts.Before, facts.Slack, settleLimit)

	phases := cold.Phases(load.Derive(cold.Samples))
	phases = append(phases,
		load.Phase{Name: "open, 50/s again", Samples: again.Samples, To: again.Elapsed},
		load.Phase{Name: "open, 500/s", Samples: open.Samples, To: open.Elapsed},
		load.Phase{Name: "both dead", Samples: dead.Samples, To: dead.Elapsed})
	v := load.Judge(&facts, load.ArticleCold, load.ArticleOpen, load.OnlyProbes)
	v = append(v, load.Line{What: "second run within reset: p99", Want: "< 20 ms", Got: millis(again.Latency().P99), OK: again.Latency().P99 < 20*time.Millisecond})
	v = append(v, load.Judge(&load.Facts{Open: dead.Samples}, load.DeadPair)...)
	quiet := log.silent(began, outage)
	v = append(v, load.Line{What: "seconds of the outage without a line for grep", Want: "none", Got: seconds(quiet), OK: len(quiet) == 0})
	v = append(v, load.Judge(&facts, load.Aftermath)...)
	if s.ctx.Err() != nil {
		return failf(exitFailed, "interrupted before the verdict")
	}
	err = c.print(s, phases, v)
	if !c.JSON { // a verdict that failed is what somebody wants to check
		fmt.Fprint(s.out, byHand)
	}
	return err
}

// byHand are the article's own commands, for a gateway that runs elsewhere.
const byHand = `
To check a gateway of your own (serve on :3000) by hand:
  echo 'POST http://localhost:3000/api/agent' | vegeta attack -rate=50 -duration=10s -header 'Content-Type: application/json' -body <(echo '{"prompt":"hi"}') | vegeta report
  ss -tan state close-wait | wc -l
  backstop serve | grep -E "Circuit Breaker|Primary Model Error"
`

func seconds(list []int64) string {
	if len(list) == 0 {
		return "none"
	}
	return fmt.Sprint(list)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }

// liftBackup takes the card's limits off the backup: the open phase sends five
// times the rate that the card allows there.
func liftBackup(p *backstop.Plan) {
	for i := range p.Routes {
		for j := range p.Routes[i].Tiers {
			p.Routes[i].Tiers[j].Rate = 0
		}
	}
}

func (c *benchCmd) load(rate float64, count int) load.Options {
	body := []byte(`{"prompt":"Classify this ticket: my invoice is wrong and nobody answers."}`)
	return load.Options{Rate: rate, Count: count, URL: c.Target, Body: func(int) []byte { return body }}
}

// warm sends one call, so that the baseline holds what every process has.
func warm(ctx context.Context, target string) error {
	r, err := load.Run(ctx, load.Options{Rate: 50, Count: 1, URL: target, Body: func(int) []byte { return []byte(`{"prompt":"hello"}`) }})
	if err != nil {
		return err
	}
	if r.Good() != 1 {
		return fmt.Errorf("%d of 1 calls answered (%v)", r.Good(), r.Errors())
	}
	return nil
}
