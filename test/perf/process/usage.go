//go:build linux

package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func (p *Process) threads() []string {
	dirs, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", p.command.Process.Pid))
	return dirs
}

// CPU is the time that the program's threads have run.
func (p *Process) CPU() (ran time.Duration) {
	for _, dir := range p.threads() {
		b, err := os.ReadFile(filepath.Join(dir, "schedstat"))
		if err != nil {
			continue // the thread has just ended
		}
		first, _, _ := bytes.Cut(b, []byte(" "))
		ns, _ := strconv.ParseInt(string(first), 10, 64)
		ran += time.Duration(ns)
	}
	return ran
}

// Memory is the program's proportional set size in KiB.
func (p *Process) Memory() float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.command.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(b, []byte("\nPss:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseFloat(string(fields[0]), 64)
	return kib
}

// Busy is how long a core has worked since the machine started.
func Busy(core int) (worked time.Duration) {
	b, _ := os.ReadFile("/proc/stat")
	for line := range bytes.Lines(b) {
		words := bytes.Fields(line)
		if len(words) < 9 || string(words[0]) != fmt.Sprintf("cpu%d", core) {
			continue
		}
		const idle, waiting = 3, 4
		for i, w := range words[1:9] {
			if i != idle && i != waiting {
				ticks, _ := strconv.ParseInt(string(w), 10, 64)
				worked += time.Duration(ticks) * 10 * time.Millisecond
			}
		}
	}
	return worked
}

// MostFiles is how many files a program may open here.
func MostFiles() (uint64, error) {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return limit.Max, err
}
