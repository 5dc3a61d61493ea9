package app

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheMemoryIsWrittenAgainThroughALongOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{poke: make(chan struct{}, 1), stop: make(chan struct{}), over: make(chan struct{})}
		changes, others, last := 0, 0, time.Now()
		go m.run(func(changed bool) {
			if last = time.Now(); changed {
				changes++
			} else {
				others++
			}
		})
		m.poke <- struct{}{}
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		if changes != 1 || others != 60 || time.Since(last) > memoryAge/2 {
			t.Errorf("written %d times for a change and %d times without one, %s ago", changes, others, time.Since(last))
		}
		close(m.stop)
		<-m.over
	})
}

func TestTheMemoryIsWrittenAgainWhileABreakerIsNotClosed(t *testing.T) {
	h := newHouse(t, false)
	file := h.file + ".memory"
	for _, c := range []struct {
		state            string
		changed, written bool
	}{{"auto", false, false}, {"open", false, true}, {"auto", false, false}, {"auto", true, true}} {
		if err := h.Force("primary", c.state, 0); err != nil {
			t.Fatal(err)
		}
		_ = os.Remove(file)
		h.keep(file, c.changed)
		if _, err := os.Stat(file); (err == nil) != c.written {
			t.Errorf("%s, changed %v: %v", c.state, c.changed, err)
		}
	}
}
