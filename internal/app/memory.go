package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"backstop"
)

// memoryAge is how old a kept breaker memory may be: what was known longer ago
// says nothing about now.
const memoryAge = 10 * time.Minute

// memoryEvery is how often the file is written again while a breaker is not
// closed. An outage may last for hours without a change: the file of a process
// that crashes then must not be an old one.
const memoryEvery = time.Minute

// memory keeps the breakers that are not closed over a restart, so that a
// crash loop is no cold start into a known outage. One goroutine writes.
type memory struct {
	file string
	poke chan struct{}
	stop chan struct{}
	over chan struct{}
}

// kept is what stands in the file.
type kept struct {
	Saved    time.Time         `json:"saved"`
	Snapshot backstop.Snapshot `json:"snapshot"`
}

// remember starts to keep the breaker memory in a file, "" = not at all.
func (a *App) remember(file string) {
	if file == "" {
		return
	}
	a.recall(file)
	m := &memory{file: file, poke: make(chan struct{}, 1), stop: make(chan struct{}), over: make(chan struct{})}
	a.memory.Store(m)
	go m.run(func(changed bool) { a.keep(m.file, changed) })
}

// run has the memory kept after each change, and from time to time without one.
func (m *memory) run(keep func(changed bool)) {
	defer close(m.over)
	again := time.NewTicker(memoryEvery)
	defer again.Stop()
	for {
		select {
		case <-m.poke:
			keep(true)
		case <-again.C:
			keep(false)
		case <-m.stop:
			return
		}
	}
}

// changed asks for the file to be written; it never blocks.
func (a *App) changed(t backstop.Transition) {
	a.observer.Transition(t)
	if m := a.memory.Load(); m != nil && !t.Trial {
		select {
		case m.poke <- struct{}{}:
		default:
		}
	}
}

// keep writes the file. Without a change there is nothing to write while all
// breakers are closed.
func (a *App) keep(file string, changed bool) {
	now := time.Now()
	snapshot := a.driver.Load().Engine().Snapshot(now)
	if !changed && len(snapshot.Scopes) == 0 {
		return
	}
	text, err := json.Marshal(kept{Saved: now, Snapshot: snapshot})
	if err == nil {
		err = replaceFile(file, string(text)+"\n")
	}
	if err != nil {
		a.log.Warn("the breaker memory could not be kept: check state.file and its folder", "file", file)
	}
}

// recall puts a kept memory in force if it is fresh. A file that is missing,
// old or damaged means a cold start, never a failed one.
func (a *App) recall(file string) {
	text, err := readMemory(file)
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			a.log.Warn("the breaker memory could not be read: check state.file", "file", file)
		}
		return
	}
	var k kept
	now := time.Now()
	if json.Unmarshal(text, &k) != nil {
		a.log.Warn("the breaker memory is damaged and was left out", "file", file)
		return
	}
	if age := now.Sub(k.Saved); age < 0 || age > memoryAge {
		return
	}
	a.driver.Load().Engine().Restore(now, k.Snapshot)
	a.log.Info("breaker memory restored", "scopes", len(k.Snapshot.Scopes))
}

// maxMemory bounds what is read: a table of models is far smaller.
const maxMemory = 16 << 20

// readMemory reads the file. What is no plain file could keep the process from
// starting, as a pipe that nobody writes to does.
func readMemory(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxMemory {
		return nil, errors.New("not a plain file of a few kilobytes: name another state.file")
	}
	return os.ReadFile(file)
}

// forget writes the file a last time and ends the writer, if its folder lets
// itself be written to before ctx ends.
func (a *App) forget(ctx context.Context) {
	m := a.memory.Swap(nil)
	if m == nil {
		return
	}
	close(m.stop)
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		<-m.over
		a.keep(m.file, true)
	}()
	select {
	case <-kept:
	case <-ctx.Done():
		a.log.Warn("the breaker memory could not be kept in time: check state.file and its folder", "file", m.file)
	}
}
