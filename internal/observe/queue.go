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
	// batchTime is how long the first line of a batch waits for others: under
	// load a write and a wake-up then serve many.
	batchTime = 20 * time.Millisecond
	// keptBatch is the largest buffer that is used again.
	keptBatch = 256 << 10
	closeTime = 3 * time.Second
)

// queue is an io.Writer that never blocks: lines wait for one goroutine that
// writes them out, and are dropped and counted when too many wait. A full disk
// or a pipe that nobody reads costs log lines, never calls.
type queue struct {
	out     io.Writer
	dropped atomic.Int64

	mu      sync.Mutex
	waiting []byte
	lines   int           // of waiting
	some    chan struct{} // has an element when waiting is no longer empty

	stop   chan struct{}
	writer sync.WaitGroup
}

func newQueue(out io.Writer) *queue {
	q := &queue{out: out, some: make(chan struct{}, 1), stop: make(chan struct{})}
	q.writer.Go(q.run)
	return q
}

// Write takes one line. It always succeeds.
func (q *queue) Write(line []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lines == queueLines {
		q.dropped.Add(1)
		return len(line), nil
	}
	q.waiting = append(q.waiting, line...)
	if q.lines++; q.lines == 1 {
		select {
		case q.some <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// take exchanges what waits for an empty buffer.
func (q *queue) take(empty []byte) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	batch := q.waiting
	q.waiting, q.lines = empty, 0
	return batch
}

func (q *queue) run() {
	var spare []byte
	for {
		stopped := q.wait()
		batch := q.take(spare[:0])
		if len(batch) == 0 && stopped {
			return
		}
		if _, err := q.out.Write(batch); err != nil {
			q.dropped.Add(int64(bytes.Count(batch, []byte("\n"))))
		}
		if spare = batch; cap(spare) > keptBatch {
			spare = nil
		}
	}
}

// wait returns when a batch is there, or true when the queue is to stop.
func (q *queue) wait() (stopped bool) {
	select {
	case <-q.some:
	case <-q.stop:
		return true
	}
	select {
	case <-time.After(batchTime):
		return false
	case <-q.stop:
		return true
	}
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
