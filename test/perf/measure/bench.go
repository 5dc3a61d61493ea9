//go:build linux

// Package measure runs the gateways side by side: the model server and the
// load on one core, the gateway on another, one gateway at a time while the
// others are frozen, their turns interleaved so that what changes on the
// machine changes for all of them.
package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"

	"backstop/test/perf/generate"
	"backstop/test/perf/process"
)

// Bench is the set-up of one run.
type Bench struct {
	Ranked bool   // the system lets us run before other programs
	Alone  bool   // do so under heavy loads too, which makes the machine sluggish
	Debug  bool   // the gateway serves profiles; it then logs more
	Other  string // binary of another build that is measured as well, "" = none
	Say    func(line string, args ...any)

	self, dir             string
	loadCore, gatewayCore int
	upstream              netip.AddrPort
	says                  io.Writer // what the programs say on standard error
	model                 *process.Process
	gateways              []*gateway
}

// Open builds the gateway from the repository at root and starts everything.
func (b *Bench) Open(root string) (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "backstop-perf-"); err != nil {
		return err
	}
	if b.says, err = os.Create(filepath.Join(b.dir, "said.log")); err != nil {
		return err
	}
	cores := process.Cores()
	b.loadCore, b.gatewayCore = cores[0], cores[min(1, len(cores)-1)]
	if b.loadCore == b.gatewayCore {
		b.Say("only one core: the load and the gateway share it, read the ratios with care")
	}
	binary := filepath.Join(b.dir, "backstop")
	b.Say("building the gateway")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "./cmd/backstop")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the gateway does not build:\n%s", bytes.TrimSpace(out))
	}
	if err := b.startModel(); err != nil {
		return err
	}
	ours, err := b.backstop(Backstop, binary)
	if err != nil {
		return err
	}
	rival, err := b.rival()
	if err != nil {
		return err
	}
	b.gateways = []*gateway{ours, rival}
	if b.Other != "" {
		other, err := b.backstop(Other, b.Other)
		if err != nil {
			return err
		}
		b.gateways = append(b.gateways, other)
	}
	for _, g := range b.gateways {
		if err := b.start(g); err != nil {
			return b.explain(err)
		}
		if err := b.first(g); err != nil {
			return b.explain(err)
		}
		g.process.Freeze()
	}
	return nil
}

const answerBytes = 1024

func (b *Bench) startModel() (err error) {
	if b.upstream, err = process.FreePort(); err != nil {
		return err
	}
	place := process.Place{Core: b.loadCore}
	if b.model, err = process.Start(b.says, place, b.self, "as", "model", b.upstream.String(), fmt.Sprint(answerBytes)); err != nil {
		return err
	}
	return b.model.Up(b.upstream)
}

// explain adds what the programs said.
func (b *Bench) explain(err error) error {
	said, _ := os.ReadFile(filepath.Join(b.dir, "said.log"))
	if len(said) == 0 {
		return err
	}
	return fmt.Errorf("%w\n%s", err, said[max(0, len(said)-2000):])
}

// Close ends everything that was started.
func (b *Bench) Close() error {
	for _, g := range b.gateways {
		g.stop()
	}
	if b.model != nil {
		b.model.Stop()
	}
	return os.RemoveAll(b.dir)
}

func (b *Bench) rank(scene Scene) process.Rank {
	if b.Ranked && (scene.Light || b.Alone) {
		return process.Ahead
	}
	return process.Ordinary
}

// Run makes all rounds of a scene.
func (b *Bench) Run(scene Scene) (samples []Sample, err error) {
	b.model.Rank(b.rank(scene))
	defer b.model.Rank(process.Ordinary)
	turns := append([]*gateway(nil), b.gateways...)
	if scene.Held {
		held := *b.gateways[0]
		held.name, held.held = Held, true
		turns = append(turns, &held)
	}
	for round := range scene.Rounds {
		var direct generate.Result
		if scene.Direct {
			if direct, err = b.load(scene, b.upstream, scene.Load.Model); err != nil {
				return samples, fmt.Errorf("%s without a gateway: %w", scene.Name, err)
			}
		}
		for i := range turns {
			s, err := b.sample(scene, turns[(i+round)%len(turns)])
			if err != nil {
				return samples, b.explain(err)
			}
			s.Round, s.Direct = round, direct
			samples = append(samples, s)
			b.Say("%s", s)
		}
	}
	return samples, nil
}

func (s Sample) String() string {
	line := fmt.Sprintf("%-12s %d %-24s %7d answers  CPU %6.1f us", s.Scene, s.Round+1, s.Gateway, s.Through.Good, s.CPURequest)
	switch {
	case s.Through.Chunks == 0:
		line += fmt.Sprintf("  p50 %5.0f (direct %3.0f)  p99 %5.0f (%3.0f) us", s.Through.Answer.P50, s.Direct.Answer.P50, s.Through.Answer.P99, s.Direct.Answer.P99)
	default:
		line += fmt.Sprintf("  a chunk %5.1f us  p50 %4.0f (%3.0f)  p99 %5.0f (%3.0f) us", s.CPUChunk, s.Through.Chunk.P50, s.Direct.Chunk.P50, s.Through.Chunk.P99, s.Direct.Chunk.P99)
	}
	return line + fmt.Sprintf("  others %2.0f %%", 100*s.Others)
}

var errNoFiles = errors.New("too few open files are permitted: raise the hard limit of `ulimit -n`")

// CheckFiles reports whether the idle scene can open its sockets.
func CheckFiles() error {
	most, err := process.MostFiles()
	if err == nil && most < 2*OpenStreams+200 {
		return errNoFiles
	}
	return err
}
