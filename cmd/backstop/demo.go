package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"backstop"
	"backstop/internal/load"
	"backstop/mock"
)

type demoCmd struct {
	Once   bool   `help:"Exit after the verdict: 0 passed, 1 failed."`
	Fault  string `placeholder:"NAME" help:"Break the primary with this fault instead of the usual three."`
	Listen string `default:"localhost:3000" placeholder:"ADDR" help:"Address of the gateway."`
	Admin  string `default:"localhost:3001" placeholder:"ADDR" help:"Address of the dashboard."`
}

// scene is one part of the demo: a fault of the primary, the load sent at it
// and what it shows.
type scene struct {
	name  string
	fault string
	secs  int
	json  bool
	tells string
}

// scenes is the usual outage: the article's hang, a rate limit, damaged JSON.
var scenes = []scene{
	{"healthy", "ok", 2, false, "the primary answers"},
	{"hang", "hang", 10, false, "connections stay open, no token comes"},
	{"recovery", "ok", 8, false, "a background probe finds the primary back"},
	{"429", "429:retry-after=2", 4, false, "the key is parked, nobody retries into it"},
	{"fenced JSON", "fenced", 4, true, "JSON mode answers with a Markdown fence"},
}

func (c *demoCmd) Run(s *streams) error {
	ctx, stop := signal.NotifyContext(s.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	play := scenes
	if c.Fault != "" {
		if _, err := mock.Parse(c.Fault); err != nil {
			return failf(exitUsage, "--fault: %s", err)
		}
		play = []scene{scenes[0], {c.Fault, c.Fault, 10, false, "as you asked"}, scenes[2]}
	}
	started := time.Now()
	st, err := newStage(stageOptions{listen: c.Listen, admin: c.Admin, edit: shortReset},
		mock.Options{Seed: 1, Name: "primary", Tokens: 16, Delay: mockFirst, Gap: mockGap},
		mock.Options{Seed: 1, Name: "backup", Tokens: 16, Delay: mockFirst / 2, Gap: mockGap})
	if err != nil {
		return startError(err)
	}
	defer st.close()
	d := &demo{out: s.out, stage: st, url: st.app.URL()}
	if err := d.first(ctx, started); err != nil {
		return err
	}
	v, err := d.play(ctx, play)
	if err != nil || ctx.Err() != nil {
		return err
	}
	fmt.Fprintln(s.out)
	if err := v.WriteTable(s.out); err != nil {
		return err
	}
	if c.Once {
		if !v.OK() {
			return &exit{code: exitFailed}
		}
		return nil
	}
	fmt.Fprintf(s.out, "\nstill serving: gateway %s, dashboard %s (Ctrl-C ends it)\n", d.url, st.app.AdminURL())
	select {
	case <-ctx.Done():
		return nil
	case err := <-st.app.Failed():
		return failf(exitFailed, "%s", err)
	}
}

// demoReset lets the demo show a recovery within seconds; the card has 60 s.
const demoReset = 12 * time.Second

func shortReset(p *backstop.Plan) {
	for i := range p.Upstreams {
		p.Upstreams[i].Breaker.Reset = demoReset
	}
}

// demo plays scenes on a stage.
type demo struct {
	out   io.Writer
	stage *stage
	url   string
}

// first sends one call and shows it, as a newcomer would with curl.
func (d *demo) first(ctx context.Context, started time.Time) error {
	fmt.Fprintf(d.out, "gateway %s, dashboard %s\n\n$ curl %s/api/agent -H 'Content-Type: application/json' -d '{\"prompt\":\"hello\"}'\n",
		d.url, d.stage.app.AdminURL(), d.url)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url+"/api/agent", bytes.NewReader([]byte(`{"prompt":"hello"}`)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return failf(exitFailed, "the first call got no answer: %s", plainReason(err))
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	var a struct {
		Output string `json:"output"`
		Tier   string `json:"tier"`
	}
	if err := json.Unmarshal(body, &a); err != nil || a.Tier == "" {
		return failf(exitFailed, "the first call got %d: %.200s", resp.StatusCode, body)
	}
	fmt.Fprintf(d.out, "%d, tier %s: %.60s…\nfirst answer %.1f s after the start\n\n", resp.StatusCode, a.Tier, a.Output, time.Since(started).Seconds())
	return nil
}

// play runs the scenes and prints a line a second.
func (d *demo) play(ctx context.Context, play []scene) (load.Verdict, error) {
	var v load.Verdict
	fmt.Fprintf(d.out, "load: %g calls/s at POST /api/agent; breaker.reset is %s here instead of 60 s, to show a recovery\n\n", articleRate, demoReset)
	fmt.Fprintln(d.out, demoHead)
	at := 0
	for _, sc := range play {
		set(d.stage.primary, sc.fault)
		before := time.Now()
		r, err := d.scene(ctx, sc, &at)
		if err != nil || ctx.Err() != nil {
			return v, err
		}
		v = append(v, d.judge(sc, r, before)...)
	}
	set(d.stage.primary, "ok")
	return v, nil
}

func (d *demo) scene(ctx context.Context, sc scene, at *int) (*load.Report, error) {
	body := []byte(`{"prompt":"Classify this ticket: my invoice is wrong."}`)
	o := load.Options{Rate: articleRate, Count: int(articleRate) * sc.secs, URL: d.url + "/api/agent"}
	if sc.json {
		body = []byte(`{"prompt":"Classify this ticket: my invoice is wrong.","json":true}`)
		o.Check = checkJSON
	}
	o.Body = func(int) []byte { return body }
	t := &ticker{demo: d, scene: sc, from: time.Now(), at: at}
	o.Each = t.add
	over := make(chan struct{})
	go t.run(over)
	r, err := load.Run(ctx, o)
	close(over)
	<-t.done()
	return r, err
}

// checkJSON wants what the article's application wants: an answer that parses.
func checkJSON(body []byte) error {
	var a struct {
		Output string `json:"output"`
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return err
	}
	if !json.Valid([]byte(a.Output)) {
		return fmt.Errorf("output is not JSON")
	}
	return nil
}
