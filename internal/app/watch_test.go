package app

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/fsnotify/fsnotify"
)

// counted counts how often a house reads its configuration.
func (h *house) counted() *atomic.Int64 {
	var n atomic.Int64
	count := func() { n.Add(1) }
	h.loading.Store(&count)
	return &n
}

func TestAWatchThatMissesEventsReadsTheFileAgain(t *testing.T) {
	h := newHouse(t, false)
	n := h.counted()
	w := &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}
	over := make(chan struct{})
	go func() { defer close(over); h.follow(w, h.file) }()
	w.Errors <- fsnotify.ErrEventOverflow
	eventually(t, "a reload", func() bool { return n.Load() == 1 })
	close(w.Events)
	<-over
}

func TestAWatchGoesAlongWithALink(t *testing.T) {
	h := newHouse(t, false)
	n := h.counted()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	point := func(at string) {
		next := filepath.Join(dir, "at", "next")
		if err := os.Symlink(filepath.Join("..", at, "b.yaml"), next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, "at", "b.yaml")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"at", "one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("one/b.yaml", "1")
	write("two/b.yaml", "1")
	point("one")
	if err := h.watch(filepath.Join(dir, "at", "b.yaml")); err != nil {
		t.Fatal(err)
	}
	for i, change := range []func(){
		func() { write("one/b.yaml", "2") },
		func() { point("two") },
		func() { write("two/b.yaml", "2") },
		func() { point("one") },
		func() { write("one/b.yaml", "3") },
	} {
		before := n.Load()
		change()
		eventually(t, "a reload", func() bool { return n.Load() > before })
		if t.Failed() {
			t.Fatalf("after change %d", i+1)
		}
	}
}
