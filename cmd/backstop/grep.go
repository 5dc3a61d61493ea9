package main

import (
	"bytes"
	"sync"
	"time"
)

// phrases are what the article's operator greps for.
var phrases = [][]byte{[]byte("Circuit Breaker"), []byte("Primary Model Error")}

// grepLog takes the gateway's log lines and remembers in which second of the
// clock one of the phrases stood.
type grepLog struct {
	mu      sync.Mutex
	seconds map[int64]int
	lines   int
	tail    []byte
}

func (g *grepLog) Write(p []byte) (int, error) {
	now := time.Now().Unix()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seconds == nil {
		g.seconds = map[int64]int{}
	}
	g.tail = append(g.tail, p...)
	for {
		i := bytes.IndexByte(g.tail, '\n')
		if i < 0 {
			break
		}
		g.lines++
		for _, f := range phrases {
			if bytes.Contains(g.tail[:i], f) {
				g.seconds[now]++
				break
			}
		}
		g.tail = append(g.tail[:0], g.tail[i+1:]...)
	}
	return len(p), nil
}

// silent lists the whole seconds between two moments without a match, as
// seconds since the first.
func (g *grepLog) silent(from, to time.Time) (out []int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for s := from.Unix() + 1; s < to.Unix(); s++ {
		if g.seconds[s] == 0 {
			out = append(out, s-from.Unix())
		}
	}
	return out
}
