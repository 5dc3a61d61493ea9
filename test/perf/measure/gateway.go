//go:build linux

package measure

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"backstop/test/perf/process"
)

// The names of the gateways.
const (
	Backstop = "backstop"
	Held     = "backstop, unary: stream"
	Rival    = "ReverseProxy"
	Other    = "other build"
)

// gateway is one program under load.
type gateway struct {
	name    string
	at      netip.AddrPort
	process *process.Process
	program string
	args    []string
	held    bool // asks for the route that holds a streamed answer until it is whole
}

func (g *gateway) model(asked string) string {
	if g.held {
		return "held"
	}
	return asked
}

func (g *gateway) stop() {
	if g.process != nil {
		g.process.Stop()
		g.process = nil
	}
}

// start runs a gateway and waits until it listens.
func (b *Bench) start(g *gateway) (err error) {
	if g.process, err = process.Start(b.says, process.Place{Core: b.gatewayCore}, g.program, g.args...); err != nil {
		return err
	}
	return g.process.Up(g.at)
}

// configuration is the default one but for what the comparison needs: no
// limits, for they would turn the load away, and plain answers, for the rival
// does not look into them.
const configuration = `
listen: "%[1]s"
admin: {listen: "%[2]s", token: "%[3]s"}
defaults: {dialect: openai, base_url: "http://%[4]s/v1", key: "no-key-is-needed", allow_private: true, proxy: "off", limits: {inflight: 0}}
upstreams:
  plain: {unary: plain}
  held: {unary: stream}
routes:
  - model: held
    tiers: [{upstream: held, model: any}]
  - model: "*"
    tiers: [{upstream: plain}]
`

// token opens the admin plane of a gateway under load, for profiles.
const token = "0123456789abcdef0123456789abcdef"

func (b *Bench) backstop(name, binary string) (*gateway, error) {
	at, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	admin, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	if b.Debug {
		b.Say("%s: profiles at http://%s/debug/pprof/ with Authorization: Bearer %s", name, admin, token)
	}
	file := filepath.Join(b.dir, name+".yaml")
	text := fmt.Sprintf(configuration, at, admin, token, b.upstream)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	args := []string{"serve", "-c", file}
	if b.Debug {
		args = append(args, "--debug")
	}
	return &gateway{name: name, at: at, program: binary, args: args}, nil
}

func (b *Bench) rival() (*gateway, error) {
	at, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	return &gateway{name: Rival, at: at, program: b.self, args: []string{"as", "rival", at.String(), b.upstream.String()}}, nil
}
