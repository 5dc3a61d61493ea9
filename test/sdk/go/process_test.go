package sdk

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
)

// process is a started binary. What it says is kept, up to a bound.
type process struct {
	cmd  *exec.Cmd
	over chan error // its end, once
	mu   sync.Mutex
	said strings.Builder
}

const mostSaid = 1 << 20

// start runs a program until a line of its output matches address, and returns
// what the first group of that found.
func start(ctx context.Context, address string, name string, args ...string) (*process, string, error) {
	p := &process{cmd: exec.CommandContext(ctx, name, args...), over: make(chan error, 1)}
	out, in := io.Pipe()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	if err := p.cmd.Start(); err != nil {
		return nil, "", err
	}
	found := make(chan string, 1)
	go p.listen(out, regexp.MustCompile(address), found)
	go func() {
		err := p.cmd.Wait()
		_ = in.Close()
		p.over <- err
	}()
	at, ok := <-found
	if !ok {
		return nil, "", fmt.Errorf("%s %s ended before it said where it listens:\n%s", name, args[0], p.output())
	}
	return p, at, nil
}

// listen keeps all output and closes found at its end.
func (p *process) listen(out io.Reader, address *regexp.Regexp, found chan<- string) {
	defer close(found)
	told := false
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		p.mu.Lock()
		if p.said.Len() < mostSaid {
			p.said.WriteString(line)
		}
		p.mu.Unlock()
		if at := address.FindStringSubmatch(line); at != nil && !told {
			told = true
			found <- at[1]
		}
		if err != nil {
			return
		}
	}
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// end asks the process to stop and waits until it has.
func (p *process) end() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	return <-p.over
}
