package breaker

import (
	"testing"
	"time"
)

var card = Config{
	Failures: 5, Window: 30 * time.Second, Reset: time.Minute,
	Hang: true, FirstToken: 4500 * time.Millisecond,
}

// The slot goes back without the rules, so this is the admission and a little.
func BenchmarkAllowClosed(b *testing.B) {
	br := New(card, time.Now(), 1)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		now, hash := time.Now(), uint64(time.Now().UnixNano())
		for pb.Next() {
			hash += golden
			t, ok := br.Allow(now, Watched, hash)
			if !ok {
				b.Fail()
			}
			t.settle()
		}
	})
}

func BenchmarkReadyClosed(b *testing.B) {
	br := New(card, time.Now(), 1)
	now := time.Now()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if !br.Ready(now) {
				b.Fail()
			}
		}
	})
}

func BenchmarkAllowOpenWithClock(b *testing.B) {
	br := New(card, time.Now(), 1)
	br.Force(time.Now(), ForcedOpen, 0)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, ok := br.Allow(time.Now(), Watched, 1); ok {
				b.Fail()
			}
		}
	})
}

func BenchmarkAllowDone(b *testing.B) {
	br := New(card, time.Now(), 1)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		now, hash := time.Now(), uint64(0)
		for pb.Next() {
			hash += golden
			t, _ := br.Allow(now, Watched, hash)
			br.Done(now, t, Success, false)
		}
	})
}

func BenchmarkAllowProgressDone(b *testing.B) {
	br := New(card, time.Now(), 1)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		now, hash := time.Now(), uint64(0)
		for pb.Next() {
			hash += golden
			t, _ := br.Allow(now, Watched, hash)
			br.Progress(now, t)
			br.Done(now, t, Success, false)
		}
	})
}
