//go:build linux

package generate

import (
	"errors"
	"runtime"

	"golang.org/x/sys/unix"

	"backstop/test/perf/epoll"
	"backstop/test/perf/hist"
)

// load is one run under way.
type load struct {
	Options
	loop   *epoll.Loop
	bytes  []byte // of a request
	byFD   map[int]*conn
	all    []*conn
	idle   []*conn // open loop: free connections, last used first
	queue  []int64 // due times of requests that found none
	next   int64   // due time of the next request
	begun  int     // closed loop: connections that have started
	start  int64
	from   int64 // timing begins
	stop   int64 // sending ends
	result Result

	answer, first, chunk hist.Hist
}

// lookEvery is how often answers are checked for their age.
const lookEvery = 50e6

// Run makes one run and returns when its last answer is there, or Patience
// after the last request.
func Run(o Options) (Result, error) {
	if !o.To.Addr().IsLoopback() || !o.To.Addr().Is4() {
		return Result{}, errors.New("the load goes to 127.0.0.1 only")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	loop, err := epoll.NewLoop()
	if err != nil {
		return Result{}, err
	}
	l := &load{Options: o, loop: loop, bytes: request(o), byFD: map[int]*conn{}, result: Result{Faults: map[string]int{}}}
	l.start = epoll.Now()
	l.from = l.start + int64(o.Warmup)
	l.stop = l.from + int64(o.Duration)
	l.next = l.start
	for range o.Connections {
		c := &conn{load: l, fd: -1}
		l.all = append(l.all, c)
		if o.Rate > 0 {
			l.idle = append(l.idle, c)
		}
	}
	l.run()
	l.result.Answer, l.result.First, l.result.Chunk = l.answer.Summary(), l.first.Summary(), l.chunk.Summary()
	return l.result, nil
}

func (l *load) run() {
	buf := make([]byte, 256<<10)
	look := l.start
	for {
		now := epoll.Now()
		if l.Rate > 0 {
			l.sendDue()
		} else {
			l.begin(now)
		}
		if now >= look {
			look = now + lookEvery
			l.giveUp(now)
		}
		if now >= l.stop && l.over(now) {
			return
		}
		until := look
		if now < l.stop {
			until = min(until, l.stop)
		}
		if l.Rate > 0 && l.next < l.stop {
			until = min(until, l.next)
		} else if l.Rate == 0 && l.begun < len(l.all) {
			until = min(until, l.startOf(l.begun))
		}
		for _, e := range l.loop.Wait(until) {
			if c := l.byFD[int(e.Fd)]; c != nil {
				c.ready(e.Events, buf)
			}
		}
	}
}

func (l *load) startOf(i int) int64 { return l.start + int64(l.Ramp)*int64(i)/int64(len(l.all)) }

// begin starts connections of the closed loop whose time has come.
func (l *load) begin(now int64) {
	for l.begun < len(l.all) && l.startOf(l.begun) <= now && now < l.stop {
		l.all[l.begun].send(now)
		l.begun++
	}
}

// sendDue sends the requests of the open loop whose time has come.
func (l *load) sendDue() {
	for now := epoll.Now(); l.next <= now && l.next < l.stop; now = epoll.Now() {
		if n := len(l.idle); n > 0 {
			c := l.idle[n-1]
			l.idle = l.idle[:n-1]
			c.send(now)
		} else {
			l.queue = append(l.queue, l.next)
			l.result.Queued++
		}
		l.next += int64(1e9 / l.Rate)
	}
}

// giveUp ends requests that are older than Patience.
func (l *load) giveUp(now int64) {
	for _, c := range l.all {
		if c.busy && now-c.sent > int64(l.Patience) {
			c.fail("no answer in time", now)
		}
	}
}

// over reports whether nothing is under way any more. The closed loop does
// not count what ends after the stop.
func (l *load) over(now int64) bool {
	for _, c := range l.all {
		if c.busy {
			return false
		}
	}
	l.result.Seconds = float64(now-l.from) / 1e9
	if l.Rate == 0 && !l.Once {
		l.result.Seconds = float64(l.stop-l.from) / 1e9
	}
	return len(l.queue) == 0
}

// counts reports whether what ended at a time belongs to the figures.
func (l *load) counts(sent, now int64) bool {
	if l.Rate > 0 || l.Once {
		return sent >= l.from
	}
	return now >= l.from && now <= l.stop
}

// free gives a connection its next request, if there is one.
func (l *load) free(c *conn, now int64) {
	switch {
	case l.Rate > 0 && len(l.queue) > 0:
		l.queue = l.queue[1:]
		c.send(now)
	case l.Rate > 0:
		l.idle = append(l.idle, c)
	case !l.Once && now < l.stop:
		c.send(now)
	}
}

const watched = unix.EPOLLIN | unix.EPOLLRDHUP
