//go:build linux

// Package llm is a model server of one thread that speaks the chat dialect of
// OpenAI and costs as little as one can, so that what is measured is the
// gateway in front of it.
//
// The name of the model says how a stream runs: "any-n100-d5000" is 100 chunks
// with 5,000 us between them. Each chunk carries the time at which it was
// sent, "@" and nanoseconds of the machine's monotonic clock.
package llm

import (
	"container/heap"
	"net/netip"
	"runtime"

	"golang.org/x/sys/unix"

	"backstop/test/perf/epoll"
)

// Server answers chat requests. The zero value is of no use; see Run.
type server struct {
	loop  *epoll.Loop
	conns map[int]*conn
	due   timers
	paces map[string]pace
	whole []byte // the answer that is not streamed, head and body
}

// Run serves at an address until the process ends.
func Run(at netip.AddrPort, answerBytes int) error {
	runtime.LockOSThread()
	loop, err := epoll.NewLoop()
	if err != nil {
		return err
	}
	listener, err := epoll.Listen(at)
	if err != nil {
		return err
	}
	if err := loop.Add(listener, unix.EPOLLIN); err != nil {
		return err
	}
	s := &server{loop: loop, conns: map[int]*conn{}, paces: map[string]pace{}, whole: wholeAnswer(answerBytes)}
	buf := make([]byte, 256<<10)
	for {
		var until int64
		if len(s.due) > 0 {
			until = s.due[0].at
		}
		ready := loop.Wait(until)
		for now := epoll.Now(); len(s.due) > 0 && s.due[0].at <= now; {
			heap.Pop(&s.due).(*conn).chunk(now)
		}
		for _, e := range ready {
			if int(e.Fd) == listener {
				s.accept(listener)
			} else if c := s.conns[int(e.Fd)]; c != nil {
				c.serve(e.Events, buf)
			}
		}
	}
}

func (s *server) accept(listener int) {
	for {
		fd, ok := epoll.Accept(listener)
		if !ok {
			return
		}
		s.conns[fd] = &conn{server: s, fd: fd, place: -1}
		if s.loop.Add(fd, unix.EPOLLIN|unix.EPOLLRDHUP) != nil {
			s.conns[fd].drop()
		}
	}
}

// timers are the streams that wait for the time of their next chunk.
type timers []*conn

func (t timers) Len() int           { return len(t) }
func (t timers) Less(i, j int) bool { return t[i].at < t[j].at }
func (t timers) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i, j
}

func (t *timers) Push(x any) {
	c := x.(*conn)
	c.place = len(*t)
	*t = append(*t, c)
}

func (t *timers) Pop() any {
	last := len(*t) - 1
	c := (*t)[last]
	*t = (*t)[:last]
	c.place = -1
	return c
}
