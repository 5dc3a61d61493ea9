package app

import (
	"context"
	"time"

	"backstop/backstophttp"
	"backstop/internal/server"
)

// lastWords is how long calls that are cut may take to say so.
const lastWords = time.Second

// Drain takes the process out of service: /readyz says 503 while calls are
// still taken for drain.delay (skipped without delay), then running calls have
// drain.limit to finish. When ctx ends it stops at once. It returns when
// everything is over.
func (a *App) Drain(ctx context.Context, delay bool) error {
	d := a.config.Load().Drain
	if !delay {
		d.Delay = 0
	}
	a.server.SetPhase(server.Draining)
	a.log.Info("draining", "delay", d.Delay.String(), "limit", d.Limit.String())
	if d.Delay > 0 {
		t := time.NewTimer(d.Delay)
		select {
		case <-t.C:
		case <-ctx.Done():
		}
		t.Stop()
	}
	limited, cancel := context.WithTimeout(ctx, d.Limit)
	defer cancel()
	return a.Stop(limited)
}

// Stop refuses new calls, waits for the running ones until ctx ends, and then
// cuts what is left. It returns when every goroutine of the app is over, or two
// seconds later: a file of a reload may be one that does not let itself be read.
func (a *App) Stop(ctx context.Context) error {
	a.stopOnce.Do(func() { close(a.stopped) })
	watched := a.stopWatch()
	a.server.SetPhase(server.Refusing)
	if err := a.server.Shutdown(ctx); err != nil {
		a.log.Warn("calls were cut: the drain limit is over")
		a.driver.Load().Abort()
		a.retired.Range(func(d, _ any) bool { d.(*backstophttp.Driver).Abort(); return true })
		last, cancel := context.WithTimeout(context.Background(), lastWords)
		if a.server.Shutdown(last) != nil {
			_ = a.server.Close()
		}
		cancel()
	}
	for _, h := range a.adminHTTP {
		_ = h.Close()
	}
	a.serving.Wait()
	rest, cancel := context.WithTimeout(context.Background(), a.patience)
	defer cancel()
	a.forget(rest)
	select {
	case a.turn <- struct{}{}: // a reload that runs ends first, and no other one begins
		defer func() { <-a.turn }()
		_ = a.driver.Load().Close(rest)
		a.wait(rest, watched)
	case <-rest.Done():
		a.log.Warn("a reload does not end and is left behind")
		_ = a.driver.Load().Close(rest)
	}
	a.log.Info("stopped")
	a.observer.Close()
	return nil
}

// wait waits for what ends by itself once the calls have: the drivers that were
// replaced, and the watch over the file.
func (a *App) wait(ctx context.Context, watched <-chan struct{}) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		a.closer.Wait()
		<-watched
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
}
