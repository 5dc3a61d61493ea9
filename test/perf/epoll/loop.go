//go:build linux

// Package epoll holds the few Linux calls that a single-threaded network
// program needs. The model server and the load generator use it in place of
// Go's scheduler: it costs less CPU a request, and it wakes within
// microseconds of a due time, where the Go poller rounds to milliseconds.
package epoll

import (
	"time"

	"golang.org/x/sys/unix"
)

// Loop waits for sockets and for one point in time. It belongs to one
// goroutine, which should hold its thread.
type Loop struct {
	fd, timer int
	armed     int64
	ready     [512]unix.EpollEvent
}

// NewLoop makes an empty loop.
func NewLoop() (*Loop, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	timer, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	l := &Loop{fd: fd, timer: timer}
	return l, l.Add(timer, unix.EPOLLIN|unix.EPOLLET)
}

// Add starts to watch a socket; events are EPOLLIN and the like.
func (l *Loop) Add(fd int, events uint32) error {
	return unix.EpollCtl(l.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// Change sets what a socket is watched for.
func (l *Loop) Change(fd int, events uint32) {
	_ = unix.EpollCtl(l.fd, unix.EPOLL_CTL_MOD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// Wait returns what is ready, or nothing once the clock reads until; 0 means
// that there is no such time. The result holds until the next Wait.
func (l *Loop) Wait(until int64) []unix.EpollEvent {
	limit := -1
	switch {
	case until == 0:
	case until <= Now():
		limit = 0
	case until != l.armed:
		l.armed = until
		at := unix.ItimerSpec{Value: unix.NsecToTimespec(until)}
		_ = unix.TimerfdSettime(l.timer, unix.TFD_TIMER_ABSTIME, &at, nil)
	}
	n, err := unix.EpollWait(l.fd, l.ready[:], limit)
	if err != nil {
		return nil
	}
	for i := range n {
		if int(l.ready[i].Fd) == l.timer {
			l.ready[i] = l.ready[n-1]
			return l.ready[:n-1]
		}
	}
	return l.ready[:n]
}

// Now is the machine's monotonic clock in nanoseconds: two processes read the
// same value. It costs no system call.
func Now() int64 { return offset + int64(time.Since(started)) }

var started, offset = clock()

func clock() (time.Time, int64) {
	var ts unix.Timespec
	now := time.Now()
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return now, 0
	}
	return now, ts.Nano()
}
