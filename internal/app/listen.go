package app

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"

	"backstop/internal/admin"
	"backstop/internal/server"
)

// Start opens the listeners and begins to serve. On an error everything that
// was opened is closed again.
func (a *App) Start() error {
	cfg := a.config.Load()
	var err error
	if a.data, err = open("the gateway", "--listen", cfg.Listen); err != nil {
		a.abandon()
		return err
	}
	if a.adminLn, err = open("the admin plane", "--admin", cfg.Admin.Listen); err != nil {
		a.abandon()
		return err
	}
	if a.metricsLn, err = open("the metrics listener", "metrics.listen", cfg.Metrics); err != nil {
		a.abandon()
		return err
	}
	if a.token, err = makeToken(cfg, a.opt, portOf(a.adminLn)); err != nil {
		a.abandon()
		return err
	}
	a.remember(cfg.StateFile)
	for _, ln := range a.data {
		a.serve("gateway", func() error { return a.server.Serve(ln) })
	}
	a.startAdmin()
	if a.opt.Watch != "" {
		if err := a.watch(a.opt.Watch); err != nil {
			a.log.Warn("the configuration file is not watched: " + err.Error() + "; SIGHUP still reloads it")
		}
	}
	a.announce()
	return nil
}

func (a *App) startAdmin() {
	d := admin.Options{
		Token: a.token.value, Addrs: addrs(a.adminLn), Debug: a.opt.Debug, Version: a.opt.Version,
		State: a.State, Recent: a.observer.Recent(),
		Plan: a.plan, Config: a.inForce, Seconds: a.seconds, Tally: a.tally, Metrics: a.observer.Metrics(),
		Force: a.Force, Reload: a.Reload, Drain: a.askDrain, Log: a.log, Stop: a.stopped,
	}
	h := server.NewHTTP(admin.New(d), a.log)
	a.adminHTTP = append(a.adminHTTP, h)
	for _, ln := range a.adminLn {
		a.serve("admin plane", func() error { return h.Serve(ln) })
	}
	if len(a.metricsLn) == 0 {
		return
	}
	m := server.NewHTTP(admin.MetricsOnly(a.observer.Metrics()), a.log)
	a.adminHTTP = append(a.adminHTTP, m)
	for _, ln := range a.metricsLn {
		a.serve("metrics listener", func() error { return m.Serve(ln) })
	}
}

// serve runs a listener until it is closed; any other end is a failure of the
// process.
func (a *App) serve(what string, run func() error) {
	a.serving.Go(func() {
		if err := run(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			select {
			case a.failed <- errors.New(what + " stopped: " + err.Error()):
			default:
			}
		}
	})
}

// open listens on every address. That the machine lacks one family of
// localhost is no error as long as the other is there.
func open(what, flag string, addresses []string) ([]net.Listener, error) {
	var out []net.Listener
	var missing error
	port := ""
	for _, addr := range addresses {
		host, p, err := net.SplitHostPort(addr)
		if err == nil && p == "0" && port != "" { // both families of localhost on one free port
			addr = net.JoinHostPort(host, port)
		}
		ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
		switch {
		case err == nil:
			out = append(out, ln)
			_, port, _ = net.SplitHostPort(ln.Addr().String())
		case errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT):
			missing = &BusyError{what, addr, flag, err}
		default:
			for _, l := range out {
				_ = l.Close()
			}
			return nil, &BusyError{what, addr, flag, err}
		}
	}
	if len(out) == 0 && missing != nil {
		return nil, missing
	}
	return out, nil
}

// abandon undoes a start that failed half-way.
func (a *App) abandon() {
	for _, list := range [][]net.Listener{a.data, a.adminLn, a.metricsLn} {
		for _, ln := range list {
			_ = ln.Close()
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = a.driver.Load().Close(ctx)
	a.observer.Close()
}

func addrs(list []net.Listener) []string {
	out := make([]string, len(list))
	for i, ln := range list {
		out[i] = ln.Addr().String()
	}
	return out
}

// Addr is the first address of the gateway, host:port.
func (a *App) Addr() string { return a.data[0].Addr().String() }

// URL is the gateway's base URL for people: localhost where it is loopback.
func (a *App) URL() string { return "http://" + friendly(a.data[0].Addr().String()) }

// AdminURL is the dashboard's URL with its token.
func (a *App) AdminURL() string {
	return "http://" + friendly(a.adminLn[0].Addr().String()) + "/?token=" + a.token.value.Reveal()
}

func friendly(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if host == "127.0.0.1" || host == "::1" {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

func portOf(list []net.Listener) string {
	_, port, _ := net.SplitHostPort(list[0].Addr().String())
	return port
}

// announce says where everything is.
func (a *App) announce() {
	a.log.Info("gateway on "+a.URL(), "listen", strings.Join(addrs(a.data), " "), "config", a.config.Load().Source)
	adminURL := "http://" + friendly(a.adminLn[0].Addr().String()) + "/"
	switch {
	case a.token.shown:
		a.log.Info("dashboard on " + a.AdminURL())
	case a.token.file != "":
		a.log.Info("dashboard on "+adminURL, "token_file", a.token.file)
	default:
		a.log.Info("dashboard on " + adminURL + " with the token of the configuration")
	}
}
