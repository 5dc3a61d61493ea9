package backstophttp

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestWorksMayBeginWhileSomebodyWaitsForTheirEnd(t *testing.T) {
	var w works
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 2000 {
				w.add()
				w.done()
			}
		})
		all.Go(func() {
			for range 2000 {
				<-w.over()
			}
		})
	}
	all.Wait()
	<-w.over()
}

func TestWorksAreOverWhenTheLastOneIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w works
		first, second := make(chan struct{}), make(chan struct{})
		w.run(func() { <-first })
		over := w.over()
		w.run(func() { <-second })
		close(first)
		synctest.Wait()
		select {
		case <-over:
			t.Error("over, but one runs")
		default:
		}
		close(second)
		<-over
		<-w.over()
		w.add()
		select {
		case <-w.over():
			t.Error("over, but one has begun")
		default:
		}
		w.done()
		<-w.over()
	})
}
