package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"backstop"
	"backstop/internal/app"
	"backstop/internal/config"
	"backstop/mock"
)

// stage is a whole outage in one process: two mock upstreams and a gateway in
// front of them. demo and bench article play on it.
type stage struct {
	primary, backup *mock.Server
	app             *app.App
	servers         []*http.Server
	over            chan error
}

// stageOptions say how the stage is set up.
type stageOptions struct {
	listen, admin string
	out           io.Writer // the gateway's log, nil = none
	edit          func(*backstop.Plan)
}

// mockAnswer makes the mocks quick but not instant, as a good model is.
const (
	mockFirst = 120 * time.Millisecond
	mockGap   = 2 * time.Millisecond
)

func newStage(o stageOptions, primary, backup mock.Options) (*stage, error) {
	st := &stage{primary: mock.New(primary), backup: mock.New(backup), over: make(chan error, 2)}
	var urls []string
	for _, m := range []*mock.Server{st.primary, st.backup} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			st.close()
			return nil, busy("the mock upstream", "127.0.0.1:0", "--listen", err)
		}
		// The short idle time makes the mock close the gateway's pooled
		// connections, so that what is left after a run is a leak.
		srv := &http.Server{Handler: m, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Second}
		st.servers = append(st.servers, srv)
		go func() { st.over <- srv.Serve(ln) }()
		urls = append(urls, "http://"+ln.Addr().String()+"/v1")
	}
	load := func() (*config.Config, []config.Warning, error) {
		cfg, w, err := config.Pair(config.PairOptions{
			Primary: urls[0], PrimaryModel: "primary-model", Backup: urls[1], BackupModel: "backup-model",
		}, config.Options{Listen: o.listen, Admin: o.admin})
		if err == nil && o.edit != nil {
			o.edit(cfg.Plan)
		}
		return cfg, w, err
	}
	out := o.out
	if out == nil {
		out = io.Discard
	}
	a, err := app.New(app.Options{Load: load, Out: out})
	if err == nil {
		err = a.Start()
	}
	if err != nil {
		st.close()
		return nil, err
	}
	st.app = a
	return st, nil
}

// close ends everything that the stage started and waits for it.
func (st *stage) close() {
	if st.app != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = st.app.Stop(ctx)
	}
	for _, m := range []*mock.Server{st.primary, st.backup} {
		m.Close() // ends what hangs
	}
	for _, s := range st.servers {
		_ = s.Close()
		<-st.over
	}
	st.servers = nil
}

// set breaks or heals a mock for every model.
func set(m *mock.Server, fault string) {
	if err := m.SetFault("*", fault); err != nil {
		panic(fmt.Sprintf("the stage's own fault %q: %s", fault, err)) // a mistake in this program
	}
}

// probeTokens is the most a background probe asks for: it tells probes from
// callers' requests in a mock's log.
const probeTokens = 16

// seen counts the requests a mock has seen since a moment, probes apart.
func seen(m *mock.Server, since time.Time) (calls, probes int) {
	for _, a := range m.Log() {
		if a.Time.Before(since) {
			continue
		}
		if a.MaxTokens > 0 && a.MaxTokens <= probeTokens {
			probes++
		} else {
			calls++
		}
	}
	return calls, probes
}
