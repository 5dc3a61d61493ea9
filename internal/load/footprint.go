package load

import (
	"bufio"
	"context"
	"os"
	"runtime"
	"strings"
	"time"
)

// Footprint is what a process holds on to. -1 = not measured (the socket
// counts need Linux's /proc).
type Footprint struct {
	Goroutines int `json:"goroutines"`
	Sockets    int `json:"sockets"`    // TCP sockets of this process, listeners apart
	CloseWait  int `json:"close_wait"` // of these, left open after the peer has closed
}

// Measure takes the footprint of this process.
func Measure() Footprint {
	f := Footprint{Goroutines: runtime.NumGoroutine(), Sockets: -1, CloseWait: -1}
	own, err := ownSockets()
	if err != nil {
		return f
	}
	sockets, waiting, measured := 0, 0, false
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		if n, w, err := countSockets(table, own); err == nil {
			sockets, waiting, measured = sockets+n, waiting+w, true
		}
	}
	if measured {
		f.Sockets, f.CloseWait = sockets, waiting
	}
	return f
}

// Settle measures until the footprint is back within slack of base, or for at
// most limit; it returns the last measurement.
func Settle(ctx context.Context, base Footprint, slack int, limit time.Duration) Footprint {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		f := Measure()
		if f.CloseWait <= 0 && f.Goroutines <= base.Goroutines+slack && f.Sockets <= base.Sockets+slack {
			return f
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return f
		}
	}
}

// ownSockets lists the inodes of this process's sockets: /proc/self/net shows
// those of the whole network namespace.
func ownSockets() (map[string]bool, error) {
	const dir = "/proc/self/fd"
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, n := range names {
		link, err := os.Readlink(dir + "/" + n.Name())
		if err != nil {
			continue // closed since
		}
		if inode, ok := strings.CutPrefix(link, "socket:["); ok {
			own[strings.TrimSuffix(inode, "]")] = true
		}
	}
	return own, nil
}

// States of /proc/net/tcp, as in the kernel's tcp_states.h.
const (
	stateCloseWait = "08"
	stateListen    = "0A"
)

// countSockets reads one table of the kernel: the state is its fourth column,
// the inode its tenth.
func countSockets(table string, own map[string]bool) (sockets, waiting int, err error) {
	file, err := os.Open(table)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		col := strings.Fields(lines.Text())
		if len(col) < 10 || !own[col[9]] || col[3] == stateListen {
			continue
		}
		sockets++
		if col[3] == stateCloseWait {
			waiting++
		}
	}
	return sockets, waiting, lines.Err()
}
