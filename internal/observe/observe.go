// Package observe turns what the engine did into log lines, metrics and a
// ring of recent calls. It reads and never steers: nothing here blocks a call
// or fails one. No prompt, answer or key ever gets here, and texts of callers
// (model names, ids) are cut and escaped.
package observe

import (
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"backstop"
)

// Options are what an observer needs.
type Options struct {
	Out    io.Writer // of log lines; nil = none
	Format string    // auto | text | json; auto = text on a terminal
	Level  string    // debug | info | warn | error; "" = info

	Version string
	State   func() backstop.State // of the engine in force, asked at each scrape; nil = none
	// Silences lists models whose calls wait without a token, asked once a
	// second; nil = none.
	Silences func() []backstop.Silence
	Clock    func() time.Time // nil = time.Now
	Ring     int              // calls that are remembered; 0 = 10,000

	Telemetry Telemetry // what is sent to an OpenTelemetry collector; the zero value is nothing
}

// Observer hears calls, transitions and probes. Its methods are safe for
// concurrent use and do not block.
type Observer struct {
	log     *slog.Logger
	text    bool      // lines of key=value, else JSON
	spare   sync.Pool // of *line
	queue   *queue
	metrics *metrics
	outage  outage
	silent  func() []backstop.Silence
	recent  *Recent
	traffic Traffic
	tracing *tracing // nil = off
	clock   func() time.Time

	stop   chan struct{}
	ticker sync.WaitGroup
	once   sync.Once
}

// New starts an observer. [Observer.Close] stops it.
func New(o Options) *Observer {
	if o.Out == nil {
		o.Out = io.Discard
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Ring <= 0 {
		o.Ring = defaultRing
	}
	q, text := newQueue(o.Out), asText(o)
	b := &Observer{
		log: newLogger(q, text, o.Level), text: text, queue: q, metrics: newMetrics(&o, q),
		recent: newRecent(o.Ring), clock: o.Clock, silent: o.Silences, stop: make(chan struct{}),
	}
	if o.Telemetry.on() {
		b.tracing = newTracing(&o, b)
	}
	b.ticker.Go(b.tick)
	return b
}

// Log is a logger that writes where the observer does, without ever blocking.
func (o *Observer) Log() *slog.Logger { return o.log }

// Metrics answers with all metrics in Prometheus' text form.
func (o *Observer) Metrics() http.Handler { return o.metrics.handler() }

// Recent is the memory of the last calls and transitions.
func (o *Observer) Recent() *Recent { return o.recent }

// Traffic is the memory of the last seconds.
func (o *Observer) Traffic() *Traffic { return &o.traffic }

// Known tells the names that a plan gives to routes and upstreams, and the
// callers' names. Only these become labels; everything else is "other".
func (o *Observer) Known(p *backstop.Plan, callers []string) {
	n := newNames(p, callers)
	for i := range p.Upstreams {
		name := p.Upstreams[i].Name
		n.gaps[name] = o.metrics.tokenGap.WithLabelValues(name)
	}
	o.metrics.names.Store(n)
}

// Reloaded tells whether the latest configuration could be put in force.
func (o *Observer) Reloaded(ok bool) { o.metrics.reloaded(ok) }

// Call records one finished call.
func (o *Observer) Call(e *backstop.Event) {
	o.metrics.call(e)
	o.recent.add(e)
	o.traffic.call(e, o.clock())
	o.logCall(e)
	o.logPrimary(e)
	o.logSwitched(e)
	o.outage.count(e)
	if o.tracing != nil {
		o.tracing.call(o.metrics.names.Load(), e)
	}
}

// Transition records a change of a breaker.
func (o *Observer) Transition(t backstop.Transition) {
	o.recent.changed(t)
	o.metrics.transition(&t)
	if !t.Trial {
		o.outage.changed(&t)
	}
	o.logTransition(&t)
}

// Gap records the time between two tokens of a stream from an upstream.
func (o *Observer) Gap(upstream string, d time.Duration) { o.metrics.gap(upstream, d) }

// Probe records one finished background probe.
func (o *Observer) Probe(p backstop.Probe, out backstop.Outcome) {
	o.metrics.probe(&p, &out)
	o.logProbe(&p, &out)
	if o.tracing != nil {
		o.tracing.probe(o.metrics.names.Load(), &p, &out, o.clock())
	}
}

// Close stops the observer after the lines that wait are written, or after
// three seconds if nobody takes them.
func (o *Observer) Close() {
	o.once.Do(func() {
		close(o.stop)
		o.ticker.Wait()
		if o.tracing != nil {
			o.tracing.close()
		}
		o.queue.close()
	})
}

// tick writes the lines of each second in the middle of the second, so that a
// late tick still falls into its own.
func (o *Observer) tick() {
	for {
		now := o.clock()
		next := now.Truncate(time.Second).Add(time.Second / 2)
		if !next.After(now) {
			next = next.Add(time.Second)
		}
		select {
		case <-time.After(next.Sub(now)):
			o.logSecond()
		case <-o.stop:
			o.logSecond()
			return
		}
	}
}
