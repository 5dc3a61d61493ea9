// Package backstophttp runs calls over live HTTP: it asks the engine what to
// do, does it with net/http and reports what happened.
//
// A gateway uses a [Driver]; a program that only wants its http.Client to
// survive a dead upstream uses the [Transport] of [New] or [NewPair].
//
// Stability: experimental until v1; the names below are the ones meant to stay.
package backstophttp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"backstop"
	"backstop/internal/upstream"
	"backstop/jsonfix"
	"backstop/local"
	"backstop/secret"
	"backstop/wire"
)

// Options are the knobs of a driver that a plan does not hold. The zero value
// works. All functions must be safe for concurrent use and must not block.
type Options struct {
	Observe    func(*backstop.Event)                                             // hears each finished call
	Transition func(backstop.Transition)                                         // hears each breaker transition
	ProbeDone  func(backstop.Probe, backstop.Outcome)                            // hears each background probe
	Gap        func(upstream string, d time.Duration)                            // hears the time between two tokens of a stream
	Cache      func(*backstop.Route) local.Cache                                 // store of a route's cache tier; nil = none
	Schema     func(schema []byte) (jsonfix.Schema, error)                       // compiles the schema of promised JSON; nil = syntax only
	ReadKey    func(file string) (secret.Value, error)                           // reads a key file again, may block; nil = keys stay as they are
	KeyRead    func(upstream string, key int, err error)                         // hears that a refused key was replaced by what its file holds, or cannot be
	Rooms      map[backstop.Dialect]wire.Room                                    // dialects spoken; nil = those of Rooms
	Dial       func(ctx context.Context, network, addr string) (net.Conn, error) // replaces the dialer and its guard, for tests
	// Previous is the driver that this one replaces. Breaker memory and idle
	// connections of upstreams that stay the same are taken over; the previous
	// driver still finishes its calls and is to be closed then.
	Previous *Driver
}

// Driver runs the calls of one plan. It is safe for concurrent use.
type Driver struct {
	plan    *backstop.Plan
	options Options
	engine  *backstop.Engine
	conns   map[string]*upstream.Conn // by upstream name
	mask    *mask
	seed    []byte // of cache keys: secret, and the same over reloads
	holders *holders
	items   *items
	shadows *shadows // calls that probes repeat

	mu      sync.Mutex
	running map[*run]struct{}
	aborted chan struct{} // closed when running calls are to end

	rekeys rekeys          // keys that are read again
	closed <-chan struct{} // closed when the driver is

	poke  chan struct{} // asks the probe loop to look again
	stop  context.CancelFunc
	works works // probe loop, probes, drains and calls
}

// NewDriver builds a driver and starts its probe loop. It fails on a plan
// that can never work, naming the setting to mend; then nothing was started
// and Previous is untouched.
func NewDriver(p *backstop.Plan, o Options) (*Driver, error) {
	if o.Rooms == nil {
		o.Rooms = Rooms()
	}
	if err := spoken(p, o.Rooms); err != nil {
		return nil, err
	}
	d := &Driver{plan: p, options: o, mask: newMask(p), poke: make(chan struct{}, 1), running: map[*run]struct{}{}, aborted: make(chan struct{})}
	if err := d.connect(); err != nil {
		return nil, err
	}
	d.seed, d.holders, d.items, d.shadows = make([]byte, 32), newHolders(), newItems(), newShadows()
	_, _ = rand.Read(d.seed) // never fails
	eo := backstop.EngineOptions{Now: time.Now(), Notify: d.changed}
	if o.Previous != nil {
		eo.Previous = o.Previous.engine
		d.seed, d.holders, d.items = o.Previous.seed, o.Previous.holders, o.Previous.items
		d.options.Previous = nil // a chain of reloads must not keep all plans alive
	}
	d.engine = backstop.NewEngine(p, eo)
	for _, conn := range d.conns {
		conn.Own()
	}
	ctx, stop := context.WithCancel(context.Background())
	d.stop, d.closed = stop, ctx.Done()
	d.works.run(func() { d.probes(ctx) })
	return d, nil
}

// spoken checks that every tier of the plan has a dialect room and an upstream.
func spoken(p *backstop.Plan, rooms map[backstop.Dialect]wire.Room) error {
	for i := range p.Routes {
		for j := range p.Routes[i].Tiers {
			t := &p.Routes[i].Tiers[j]
			if t.Local != nil {
				continue
			}
			u := p.Upstream(t.Upstream)
			if u == nil {
				return fmt.Errorf("route %s: tier %d names no upstream of the plan: add %q to upstreams", p.Routes[i].Model, j+1, t.Upstream)
			}
			if rooms[u.Dialect] == nil {
				return fmt.Errorf("route %s: upstream %s speaks %s, which this build does not: remove the tier", p.Routes[i].Model, u.Name, u.Dialect)
			}
		}
	}
	return nil
}

func (d *Driver) connect() error {
	d.conns = make(map[string]*upstream.Conn, len(d.plan.Upstreams))
	var errs []error
	for i := range d.plan.Upstreams {
		u := &d.plan.Upstreams[i]
		if d.options.Rooms[u.Dialect] == nil {
			continue
		}
		o := upstream.Options{Dial: d.options.Dial}
		if d.options.Previous != nil {
			o.Previous = d.options.Previous.conns[u.Name]
		}
		conn, err := upstream.New(u, o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		d.conns[u.Name] = conn
	}
	return errors.Join(errs...)
}

// Engine is the decision core behind the driver, for snapshots and forced states.
func (d *Driver) Engine() *backstop.Engine { return d.engine }

// Plan is the plan that the driver runs.
func (d *Driver) Plan() *backstop.Plan { return d.plan }

// Close stops the probe loop and waits until all calls are over, or until ctx
// ends; then it returns the context's error. Calls are not cut: whoever wants
// that cancels their contexts.
func (d *Driver) Close(ctx context.Context) error {
	d.stop()
	var err error
	select {
	case <-d.works.over():
	case <-ctx.Done():
		err = ctx.Err()
	}
	for _, conn := range d.conns {
		conn.Close()
	}
	return err
}

// changed hears breaker transitions from the engine.
func (d *Driver) changed(t backstop.Transition) {
	d.look()
	if d.options.Transition != nil {
		d.options.Transition(t)
	}
}
