//go:build linux

// Package process runs the programs of a measurement, each on its core, and
// reads from the kernel what they use.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Place is where and how a program runs.
type Place struct {
	Core int
	Rank Rank
}

// Process is a program that runs until Stop.
type Process struct {
	command *exec.Cmd
	ended   chan struct{}
}

// Start runs a program; what it says on standard error goes to says.
func Start(says io.Writer, at Place, program string, args ...string) (*Process, error) {
	p := &Process{command: exec.Command(program, args...), ended: make(chan struct{})}
	p.command.Stderr = says
	p.command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	if err := at.do(p.command.Start); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait()
	}()
	return p, nil
}

// Output runs a program to its end and returns what it wrote.
func Output(at Place, program string, args ...string) ([]byte, error) {
	command := exec.Command(program, args...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &unix.SysProcAttr{Pdeathsig: unix.SIGKILL}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := at.do(command.Start); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(out)
	return b, errors.Join(err, command.Wait())
}

// do starts a child from a thread that has the place: the child inherits it.
func (at Place) do(start func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	one.Set(at.Core)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		return err
	}
	defer func() { _ = unix.SchedSetaffinity(0, &before) }()
	if at.Rank != Ordinary {
		setRank(0, at.Rank)
		defer setRank(0, Ordinary)
	}
	return start()
}

// Cores are the cores that this process may use.
func Cores() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return []int{0}
	}
	var cores []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			cores = append(cores, i)
		}
	}
	return cores
}

// Freeze stops the program where it is, Thaw lets it go on.
func (p *Process) Freeze() { _ = p.command.Process.Signal(unix.SIGSTOP) }

// Thaw undoes Freeze.
func (p *Process) Thaw() { _ = p.command.Process.Signal(unix.SIGCONT) }

// Stop ends the program and waits for it.
func (p *Process) Stop() {
	p.Thaw()
	_ = p.command.Process.Signal(unix.SIGINT)
	select {
	case <-p.ended:
	case <-time.After(2 * time.Second):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

// Up waits until the program listens.
func (p *Process) Up(at netip.AddrPort) error {
	if err := Up(at, p.ended); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(p.command.Path), err)
	}
	return nil
}

// Up waits until somebody listens at an address, or until ended is closed.
func Up(at netip.AddrPort, ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", at.String())
		if err == nil {
			return c.Close()
		}
		select {
		case <-ended:
			return errors.New("it ended before it listened")
		case <-ctx.Done():
			return fmt.Errorf("nobody listens on %s", at)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// FreePort is a loopback address that nobody listens on now.
func FreePort() (netip.AddrPort, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return netip.AddrPort{}, err
	}
	defer ln.Close()
	return netip.ParseAddrPort(ln.Addr().String())
}
