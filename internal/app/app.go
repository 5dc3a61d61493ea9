// Package app is the process as a value: it wires the rooms of the house
// together, starts and stops them in order, and replaces the plan while they
// run. It decides nothing. Tests run whole programs with it in-process.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"backstop"
	"backstop/backstophttp"
	"backstop/internal/config"
	"backstop/internal/observe"
	"backstop/internal/schema"
	"backstop/internal/server"
)

// Loader reads the configuration; it is called at the start and again for
// every reload.
type Loader func() (*config.Config, []config.Warning, error)

// Options are what a process needs besides its configuration.
type Options struct {
	Load     Loader
	Watch    string    // configuration file that is watched for changes, "" = none
	Out      io.Writer // log lines; nil = none
	Terminal bool      // Out is a terminal: the dashboard URL is printed with its token
	Debug    bool      // pprof on the admin plane, log level debug
	Version  string
	StateDir string // where a made-up admin token is kept; "" = the user's cache folder

	// Env looks up OTEL_* variables: whether telemetry is sent, and where to.
	// nil = none is.
	Env func(name string) (value string, set bool)
}

// App is one gateway. Its methods are safe for concurrent use after Start.
type App struct {
	opt      Options
	log      *slog.Logger
	observer *observe.Observer
	server   *server.Server
	token    token

	turn    chan struct{} // has an element while a reload runs: one at a time
	config  atomic.Pointer[config.Config]
	reloads reloads
	memory  atomic.Pointer[memory]
	driver  atomic.Pointer[backstophttp.Driver]
	caches  cacheSet
	schemas schemas
	closer  sync.WaitGroup // old drivers that finish their calls
	retired sync.Map       // … and which they are: *backstophttp.Driver

	data, adminLn, metricsLn []net.Listener
	adminHTTP                []*http.Server
	serving                  sync.WaitGroup
	failed                   chan error
	drainAsked               chan struct{}
	drainOnce                sync.Once
	stopWatch                func() (over <-chan struct{})
	stopped                  chan struct{} // closed when Stop begins: ends the admin plane's event streams
	stopOnce                 sync.Once
	patience                 time.Duration // of Stop with what should have ended by itself
}

// BusyError is a listener that could not be opened.
type BusyError struct {
	What, Addr, Flag string
	Err              error
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s cannot listen on %s: %s", e.What, e.Addr, e.Err)
}
func (e *BusyError) Unwrap() error { return e.Err }

// New loads the configuration and builds everything that needs no listener.
// The error is config.Problems if the configuration is at fault.
func New(o Options) (*App, error) {
	if o.Out == nil {
		o.Out = io.Discard
	}
	cfg, warnings, err := o.Load()
	if err != nil {
		return nil, err
	}
	a := &App{opt: o, failed: make(chan error, 8), drainAsked: make(chan struct{}), stopped: make(chan struct{}), turn: make(chan struct{}, 1), stopWatch: unwatched, patience: 2 * time.Second}
	level := cfg.Log.Level
	if o.Debug {
		level = "debug"
	}
	telemetry, unfollowed := telemetryOf(o.Env)
	a.observer = observe.New(observe.Options{Telemetry: telemetry, Out: o.Out, Format: cfg.Log.Format, Level: level, Version: o.Version, State: a.State, Silences: a.silences})
	a.log = a.observer.Log()
	a.schemas.cache, a.schemas.warn = schema.NewCache(0), a.log.Warn
	for _, w := range warnings {
		a.log.Warn("configuration: "+w.Message, "line", w.Line)
	}
	for _, w := range unfollowed {
		a.log.Warn(w)
	}
	so := server.Options{Rooms: rooms(), Observe: a.observer.Call, Log: a.log}
	if a.observer.Traced() {
		so.Trace = a.observer.Trace
	}
	a.server = server.New(so)
	if err := a.apply(cfg); err != nil {
		a.observer.Close()
		return nil, err
	}
	return a, nil
}

// telemetryOf reads from the environment what is sent to a collector.
func telemetryOf(env func(string) (string, bool)) (observe.Telemetry, []string) {
	if env == nil {
		return observe.Telemetry{}, nil
	}
	return observe.TelemetryFrom(func(name string) string {
		value, _ := env(name)
		return value
	})
}

// apply builds the whole new plan and puts it in force, or changes nothing.
func (a *App) apply(cfg *config.Config) error {
	old := a.driver.Load()
	d, err := backstophttp.NewDriver(cfg.Plan, backstophttp.Options{
		Transition: a.changed, ProbeDone: a.observer.Probe, Gap: a.observer.Gap,
		Cache: a.caches.of, Schema: a.schemas.compile, ReadKey: config.ReadKey, KeyRead: a.keyRead, Previous: old,
	})
	if err != nil {
		return err
	}
	if old != nil {
		a.retired.Store(old, nil) // first: a stop finds it in either place
	}
	a.driver.Store(d)
	a.config.Store(cfg)
	a.observer.Known(cfg.Plan, callerNames(cfg))
	a.caches.keep(cfg.Plan)
	a.server.Swap(&server.Plane{Plan: cfg.Plan, Runner: d, Callers: callers(cfg), Agent: server.Agent{Model: cfg.Agent.Model, JSON: cfg.Agent.JSON}, Adaptive: cfg.RetrySignal == "adaptive"})
	if old != nil {
		a.closer.Go(func() {
			defer a.retired.Delete(old)
			ctx, cancel := context.WithTimeout(context.Background(), longestCall)
			defer cancel()
			_ = old.Close(ctx)
		})
	}
	return nil
}

// rooms are the dialects that callers may speak.
func rooms() map[backstop.Dialect]server.Room {
	out := map[backstop.Dialect]server.Room{}
	for dialect, room := range backstophttp.Rooms() {
		out[dialect] = room
	}
	return out
}

// longestCall is how long a replaced driver may take to finish its calls; the
// calls' own limits end them long before.
const longestCall = 24 * time.Hour

func callerNames(cfg *config.Config) []string {
	out := make([]string, len(cfg.Callers))
	for i := range cfg.Callers {
		out[i] = cfg.Callers[i].Name
	}
	return out
}

func callers(cfg *config.Config) []server.Caller {
	out := make([]server.Caller, len(cfg.Callers))
	for i, c := range cfg.Callers {
		out[i] = server.Caller{Name: c.Name, Keys: c.Keys, Models: c.Models, Rate: c.Rate, Inflight: c.Inflight, Local: c.Local}
	}
	return out
}

var errStopping = errors.New("the configuration is not reloaded: the process is stopping")

// Reload loads the configuration again and puts it in force. A bad one is
// reported and changes nothing. Once Stop has begun it is refused.
func (a *App) Reload() error {
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-a.stopped:
		return errStopping
	}
	if a.stopping() {
		return errStopping
	}
	before := a.config.Load()
	cfg, warnings, err := a.load()
	if a.stopping() { // maybe while a file did not let itself be read
		return errStopping
	}
	if err == nil {
		err = a.guarded(cfg)
	}
	if err == nil {
		err = a.apply(cfg)
	}
	a.observer.Reloaded(err == nil)
	if err != nil {
		a.reloads.note(err, nil)
		a.log.Error("configuration not reloaded, the old one stays in force: " + err.Error())
		return err
	}
	for _, w := range warnings {
		a.log.Warn("configuration: "+w.Message, "line", w.Line)
	}
	changes := later(config.Diff(before, cfg))
	a.reloads.note(nil, changes)
	if len(changes) == 0 {
		a.log.Info("configuration reloaded, nothing changed in effect")
		return nil
	}
	a.log.Info("configuration reloaded", "changes", changes)
	return nil
}

// stopping reports whether Stop has begun.
func (a *App) stopping() bool {
	select {
	case <-a.stopped:
		return true
	default:
		return false
	}
}

// State is a picture of the engine in force.
func (a *App) State() backstop.State {
	d := a.driver.Load()
	if d == nil {
		return backstop.State{}
	}
	return d.Engine().State(time.Now())
}

func (a *App) silences() []backstop.Silence {
	d := a.driver.Load()
	if d == nil {
		return nil
	}
	return d.Engine().Silences(time.Now())
}

// keyRead says what came of reading a refused key again. Its number is that of
// the doctor and the dashboard, which begin with 1.
func (a *App) keyRead(upstream string, key int, err error) {
	if err != nil {
		a.log.Warn(err.Error(), "upstream", upstream, "key", key+1)
		return
	}
	a.log.Info("a refused key was read again from its file, the new one is used from now on", "upstream", upstream, "key", key+1)
}

// Force sets a breaker of the engine in force.
func (a *App) Force(upstream, state string, d time.Duration) error {
	return a.driver.Load().Engine().Force(time.Now(), upstream, state, d)
}

// Config is the configuration in force.
func (a *App) Config() *config.Config { return a.config.Load() }

// Driver is the driver in force.
func (a *App) Driver() *backstophttp.Driver { return a.driver.Load() }

// Failed delivers the error of a listener that broke while running.
func (a *App) Failed() <-chan error { return a.failed }

// DrainAsked is closed when the admin plane asked the process to drain.
func (a *App) DrainAsked() <-chan struct{} { return a.drainAsked }

func (a *App) askDrain() { a.drainOnce.Do(func() { close(a.drainAsked) }) }
