//go:build linux

package process

import (
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// Rank is how a program stands to the others of the machine. Ahead keeps their
// work out of the figures, where the system permits it.
type Rank int

const (
	Ordinary Rank = iota
	Ahead         // SCHED_RR: others wait
)

func (r Rank) attributes() *unix.SchedAttr {
	a := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL}
	if r == Ahead {
		a.Policy, a.Priority = unix.SCHED_RR, 1
	}
	return a
}

// setRank ranks one thread, 0 = the calling one. Where it is not permitted all
// programs stay ordinary, which the report says.
func setRank(thread int, r Rank) { _ = unix.SchedSetAttr(thread, r.attributes(), 0) }

// Rank ranks the running program.
func (p *Process) Rank(r Rank) {
	for _, dir := range p.threads() {
		if id, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			setRank(id, r)
		}
	}
}

// CanRank reports whether Ahead is permitted here.
func CanRank() bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer setRank(0, Ordinary)
	return unix.SchedSetAttr(0, Ahead.attributes(), 0) == nil
}
