package cases

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
)

// rest is how long a case may take to come to rest (G3).
const rest = 2 * time.Second

// close is the end of every case: the common rules G3 and G4, then the way
// down. G1, G2, G5 and G6 are checked with each answer.
func (g *gateway) close() {
	if !g.t.Failed() {
		g.atRest()
	}
	if !g.t.Failed() {
		g.countedOnce()
	}
	g.conns.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), rest)
	defer cancel()
	_ = g.app.Stop(ctx)
	if !g.t.Failed() {
		before(g.t, rest, "all goroutines of the program have ended", func() bool { return g.goroutines() == 0 })
		for _, f := range g.fakes {
			before(g.t, rest, "no connection to "+f.name+" stands", func() bool { return f.open() == 0 })
		}
	}
	if g.t.Failed() {
		g.t.Log(g.stacks())
	}
}

// atRest is G3: after the case nothing of it is left but pooled connections.
func (g *gateway) atRest() {
	g.conns.CloseIdleConnections()
	for _, f := range g.fakes {
		before(g.t, rest, "every connection to "+f.name+" whose answer did not end well is closed", f.idle)
	}
	before(g.t, rest, "the goroutines are back at their number before the first call", func() bool { return g.goroutines() <= g.quiet })
	before(g.t, rest, "no socket is in CLOSE_WAIT", func() bool { return g.closeWait() == 0 })
	if g.t.Failed() {
		g.t.Logf("%d goroutines, %d before, %d in CLOSE_WAIT", g.goroutines(), g.quiet, g.closeWait())
	}
}

// countedOnce is G4: what the fakes saw is what the program says it did, in
// the records of calls and in the metrics.
func (g *gateway) countedOnce() {
	for _, f := range g.fakes {
		if f.many {
			continue
		}
		seen := f.count()
		var told, counted string
		before(g.t, rest, "requests at "+f.name+" and attempts on record are equal", func() bool {
			attempts, replays := 0, 0
			for _, r := range g.records() {
				for _, a := range r.Attempts {
					if a.Upstream == f.name {
						attempts++
						replays += a.Replays
					}
				}
			}
			label := `upstream="` + f.name + `"`
			probes := int(g.metric("backstop_probes_total", label))
			metric := int(g.metric("backstop_attempts_total", label))
			told = fmt.Sprintf("%d attempts, %d replays, %d probes", attempts, replays, probes)
			counted = fmt.Sprintf("%d attempts in metrics", metric)
			sent := attempts + replays + probes - f.unreached
			return sent >= seen && sent <= seen+f.racing && metric == attempts
		})
		if g.t.Failed() {
			g.t.Logf("%s saw %d requests; %s; %s", f.name, seen, told, counted)
		}
	}
}

// pooled waits until the connections of answers that have ended are back in
// their pools: the end of a stream is read after its last event was passed on.
// A pooled connection is one whose reader waits for the first byte of an
// answer; one that is still at an answer waits elsewhere.
func (g *gateway) pooled() {
	g.t.Helper()
	eventually(g.t, "all connections are pooled", func() bool {
		pooled := 0
		for block := range strings.SplitSeq(profile(), "\n\n") {
			switch {
			case !g.owns(block) || !strings.Contains(block, "net/http.(*persistConn).readLoop"):
			case !strings.Contains(block, "bufio.(*Reader).Peek"):
				return false
			default:
				pooled++
			}
		}
		return pooled > 0
	})
}

// goroutines counts those that the program started, pooled connections to
// upstreams apart.
func (g *gateway) goroutines() (n int) {
	for block := range strings.SplitSeq(profile(), "\n\n") {
		if !g.owns(block) || strings.Contains(block, "net/http.(*persistConn)") || strings.Contains(block, "ClientConn).readLoop") {
			continue
		}
		count, _, _ := strings.Cut(strings.TrimSpace(block), " ")
		if k, err := strconv.Atoi(count); err == nil {
			n += k
		}
	}
	return n
}

func (g *gateway) owns(block string) bool {
	return strings.Contains(block, `"case":`+strconv.Quote(g.label)+"}")
}

// stacks shows the goroutines that a failed case left.
func (g *gateway) stacks() string {
	var b strings.Builder
	for block := range strings.SplitSeq(profile(), "\n\n") {
		if g.owns(block) {
			b.WriteString(block + "\n\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "goroutines that are left:\n" + b.String()
}

func profile() string {
	var b bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	return b.String()
}

// closeWait counts the program's sockets whose peer has closed and which the
// program has not.
func (g *gateway) closeWait() (n int) {
	ours := portOf(g.app.Addr())
	theirs := map[int]bool{}
	for _, f := range g.fakes {
		theirs[f.port()] = true
	}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(file)
		if err != nil {
			continue // not Linux: goroutines and fakes still tell
		}
		for row := range strings.Lines(string(table)) {
			f := strings.Fields(row)
			if len(f) < 4 || f[3] != "08" {
				continue
			}
			if hexPort(f[1]) == ours || theirs[hexPort(f[2])] {
				n++
			}
		}
	}
	return n
}

func hexPort(addr string) int {
	_, port, _ := strings.Cut(addr, ":")
	n, err := strconv.ParseInt(port, 16, 32)
	if err != nil {
		return -1
	}
	return int(n)
}

func portOf(addr string) int {
	n, _ := strconv.Atoi(addr[strings.LastIndexByte(addr, ':')+1:])
	return n
}
