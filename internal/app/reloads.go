package app

import (
	"errors"
	"sync"
	"time"

	"backstop"
	"backstop/internal/admin"
	"backstop/internal/config"
)

// keptReloads are remembered for the dashboard.
const keptReloads = 20

// reloads remembers when the configuration was read again and what came of it.
type reloads struct {
	mu   sync.Mutex
	list []admin.Reload // newest first
}

// note remembers a reload; err is why nothing changed.
func (r *reloads) note(err error, changes []string) {
	x := admin.Reload{Time: time.Now(), OK: err == nil, Changes: changes}
	if err != nil {
		x.Error = err.Error()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append([]admin.Reload{x}, r.list[:min(len(r.list), keptReloads-1)]...)
}

func (r *reloads) all() []admin.Reload {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]admin.Reload{}, r.list...)
}

// load reads the configuration again. Parsers that are not ours take part in
// that, and a process that serves does not end because of one of them.
func (a *App) load() (cfg *config.Config, warnings []config.Warning, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("reading it was an internal fault: please report it, and write the file otherwise")
		}
	}()
	return a.opt.Load()
}

// plan is the plan in force.
func (a *App) plan() *backstop.Plan { return a.config.Load().Plan }

// inForce is what the admin plane shows of the configuration.
func (a *App) inForce() admin.Config {
	cfg := a.config.Load()
	out := admin.Config{Source: cfg.Source, Reloads: a.reloads.all()}
	for _, s := range cfg.Settings() {
		out.Settings = append(out.Settings, admin.Setting(s))
	}
	return out
}

// seconds are what each of the last seconds brought.
func (a *App) seconds(after time.Time) []admin.Second {
	list := a.observer.Traffic().Seconds(after, time.Now())
	out := make([]admin.Second, len(list))
	for i := range list {
		out[i] = admin.Second(list[i])
	}
	return out
}

// tally is how the attempts at an upstream ended.
func (a *App) tally(upstream string) admin.Tally {
	t := a.observer.Traffic().Tally(upstream, time.Now())
	return admin.Tally{Lately: t.Lately, Since: t.Since, Last: admin.Trouble(t.Last)}
}
