package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "as" {
		if err := playPart(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	fast := flag.Bool("fast", false, "a tenth of all times")
	jsonFile := flag.String("json", "", "write the scorecard to this file")
	svgFile := flag.String("svg", "", "draw the scorecard into this file")
	only := flag.String("only", "", "comma-separated ids, for example S08,X10; cost and streams are the figures")
	streams := flag.Bool("streams", false, "also hold 4,000 slow streams for two minutes, six times")
	flag.Parse()
	p := fullPace
	if *fast {
		p = fastPace
	}
	ids := strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	c, err := run(context.Background(), p, ids)
	if err == nil {
		all := len(ids) == 0 && !*fast
		err = c.figures(context.Background(), all || slices.Contains(ids, "cost"), *streams || slices.Contains(ids, "streams"))
	}
	if err == nil {
		var b strings.Builder
		err = c.write(&b)
		fmt.Print(b.String())
	}
	if err == nil && *jsonFile != "" {
		err = c.save(*jsonFile, false)
	}
	if err == nil && *svgFile != "" {
		err = c.save(*svgFile, true)
	}
	if err != nil {
		fmt.Println("the crash test did not run:", err)
	}
	if err != nil || !c.passed() {
		os.Exit(1)
	}
}

// run plays the scenarios, or those with the given ids.
func run(ctx context.Context, p pace, only []string) (*card, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := &gauge{}
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel()
	watch.Go(func() { late.measure(ctx) })
	h, err := openSixteen(p)
	if err != nil {
		return nil, err
	}
	defer h.close()
	c := &card{Date: time.Now().UTC().Format(time.DateOnly), Profile: p.name}
	first := pick(sixteen(h), only)
	all, err := play(ctx, p, late, append(first, pick(append(beyond(p), storms(p)...), only)...))
	if err != nil {
		return nil, err
	}
	c.Sixteen, c.Beyond = all[:len(first)], all[len(first):]
	c.count()
	return c, nil
}

func pick(list []scenario, only []string) (picked []scenario) {
	for _, s := range list {
		wanted := len(only) == 0
		for _, id := range only {
			wanted = wanted || id == s.id
		}
		if wanted {
			picked = append(picked, s)
		}
	}
	return picked
}

// play runs scenarios one after another, at the fast pace with the lanes side
// by side, apart from what wants the machine for itself. The results keep the
// order.
func play(ctx context.Context, p pace, late *gauge, list []scenario) ([]result, error) {
	results, errs := make([]result, len(list)), make([]error, len(list))
	one := func(lane []int) {
		for _, i := range lane {
			results[i], errs[i] = list[i].play(ctx, p, late)
		}
	}
	for _, heavy := range []bool{false, true} {
		var wait sync.WaitGroup
		for _, lane := range lanes(list, heavy) {
			if p.scale == 1 || heavy {
				one(lane)
			} else {
				wait.Go(func() { one(lane) })
			}
		}
		wait.Wait()
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: %w", list[i].id, err)
		}
	}
	return results, nil
}

// lanes groups scenarios that must not run side by side: those with a lane in
// common, in their order.
func lanes(list []scenario, heavy bool) (lanes [][]int) {
	byName := map[string]int{}
	for i, s := range list {
		if s.heavy != heavy {
			continue
		}
		at, there := byName[s.lane]
		if s.lane == "" || !there {
			at = len(lanes)
			byName[s.lane], lanes = at, append(lanes, nil)
		}
		lanes[at] = append(lanes[at], i)
	}
	return lanes
}

// play runs one scenario and judges it.
func (s *scenario) play(ctx context.Context, p pace, late *gauge) (result, error) {
	t := &trial{pace: p, late: late, began: time.Now()}
	if err := s.run(ctx, t); err != nil {
		return result{}, err
	}
	if t.shown == 0 {
		t.shown = time.Since(t.began)
	}
	r := result{ID: s.id, Title: s.title, Fault: s.fault, Seconds: t.shown.Seconds(), Primary: t.primary, Backup: t.backup, Findings: t.findings}
	r.Verdict, r.Reason = t.judge()
	return r, nil
}

// figures measures what a stream costs.
func (c *card) figures(ctx context.Context, cost, streams bool) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := &gauge{}
	go late.measure(ctx)
	if cost {
		if c.Added, err = measureAdded(ctx, late); err != nil {
			return err
		}
	}
	if streams {
		c.Many, err = measureMany(ctx, 4000, 2*time.Minute)
	}
	return err
}
