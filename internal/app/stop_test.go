package app

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestAProcessStopsAlthoughAReloadDoesNotEnd(t *testing.T) {
	for _, watch := range []bool{false, true} {
		h := newHouse(t, watch)
		h.patience = 10 * time.Millisecond
		var first sync.Once
		begun, end, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		wait := func() { first.Do(func() { close(begun) }); <-end }
		h.loading.Store(&wait)
		if watch {
			h.write(usualRoutes)
		} else {
			go func() { over <- h.Reload() }()
		}
		<-begun
		force := h.driver.Load()
		if err := h.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := h.Reload(); err == nil || !strings.Contains(err.Error(), "stopping") {
			t.Errorf("a reload behind it: %v", err)
		}
		close(end)
		if !watch {
			if err := <-over; err == nil || !strings.Contains(err.Error(), "stopping") {
				t.Errorf("it ended with: %v", err)
			}
		}
		<-h.stopWatch()
		if h.driver.Load() != force {
			t.Error("it put its plan in force")
		}
		if !h.log.has("a reload does not end") {
			t.Error("the log does not say why")
		}
	}
}

func TestAProcessStopsAlthoughItsMemoryCannotBeWritten(t *testing.T) {
	h := newHouse(t, false)
	h.patience = 10 * time.Millisecond
	m := &memory{file: h.file + ".memory", stop: make(chan struct{}), over: make(chan struct{})}
	h.memory.Store(m)
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !h.log.has("could not be kept in time") {
		t.Error("the log does not say so")
	}
	close(m.over)
	eventually(t, "the memory", func() bool { _, err := os.Stat(m.file); return err == nil })
}

func TestAProcessStopsAlthoughAReplacedDriverIsNeverDone(t *testing.T) {
	h := newHouse(t, false)
	h.patience = 10 * time.Millisecond
	end := make(chan struct{})
	h.closer.Go(func() { <-end })
	if err := h.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(end)
	h.closer.Wait()
}
