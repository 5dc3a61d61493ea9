package observe

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	queueLines = 4096
	batchBytes = 64 << 10
	closeTime  = 3 * time.Second
)

// queue is an io.Writer that never blocks: lines wait for one goroutine that
// writes them out, and are dropped and counted when too many wait. A full disk
// or a pipe that nobody reads costs log lines, never calls.
type queue struct {
	out     io.Writer
	lines   chan []byte
	dropped atomic.Int64
	stop    chan struct{}
	writer  sync.WaitGroup
}

func newQueue(out io.Writer) *queue {
	q := &queue{out: out, lines: make(chan []byte, queueLines), stop: make(chan struct{})}
	q.writer.Go(q.run)
	return q
}

// Write takes one line. It always succeeds.
func (q *queue) Write(line []byte) (int, error) {
	select {
	case q.lines <- bytes.Clone(line):
	default:
		q.dropped.Add(1)
	}
	return len(line), nil
}

func (q *queue) run() {
	var batch []byte
	for {
		select {
		case line := <-q.lines:
			batch = q.collect(append(batch[:0], line...))
		case <-q.stop:
			if batch = q.collect(batch[:0]); len(batch) == 0 {
				return
			}
		}
		if _, err := q.out.Write(batch); err != nil {
			q.dropped.Add(int64(bytes.Count(batch, []byte("\n"))))
		}
	}
}

// collect adds the lines that wait, up to a batch.
func (q *queue) collect(batch []byte) []byte {
	for len(batch) < batchBytes {
		select {
		case line := <-q.lines:
			batch = append(batch, line...)
		default:
			return batch
		}
	}
	return batch
}

// close writes what waits. It gives up after closeTime: a writer that blocks
// must not keep the process alive.
func (q *queue) close() {
	close(q.stop)
	done := make(chan struct{})
	go func() {
		q.writer.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeTime):
	}
}
