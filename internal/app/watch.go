package app

import (
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settleTime collects the several events that one save of a file causes.
const settleTime = 200 * time.Millisecond

// watch reloads when the file changes. It watches the folder, because editors
// and mounted configurations replace the file rather than write into it.
func (a *App) watch(file string) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	file, err = filepath.Abs(file)
	if err == nil {
		err = w.Add(filepath.Dir(file))
	}
	if err != nil {
		_ = w.Close()
		return err
	}
	if target, e := filepath.EvalSymlinks(file); e == nil && filepath.Dir(target) != filepath.Dir(file) {
		_ = w.Add(filepath.Dir(target)) // an edit of what a link points at; the link itself is watched already
	}
	var once sync.Once
	over := make(chan struct{})
	a.stopWatch = func() <-chan struct{} {
		once.Do(func() { _ = w.Close() })
		return over
	}
	go func() {
		defer close(over)
		a.follow(w, file)
	}()
	return nil
}

// follow runs until the watcher is closed.
func (a *App) follow(w *fsnotify.Watcher, file string) {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	real, _ := filepath.EvalSymlinks(file)
	for {
		select {
		case ev, ok := <-w.Events:
			if !ok {
				return
			}
			now, _ := filepath.EvalSymlinks(file)
			name := filepath.Clean(ev.Name)
			mine := (name == file || name == real) && ev.Has(fsnotify.Write|fsnotify.Create|fsnotify.Rename)
			if mine || (now != "" && now != real) { // the second: a symlink that was swapped
				turn(w, file, real, now)
				real = now
				timer.Reset(settleTime)
			}
		case _, ok := <-w.Errors:
			if !ok {
				return
			}
			timer.Reset(settleTime) // events are missing, maybe ours
		case <-timer.C:
			_ = a.Reload() // a bad file changes nothing; the log says what is wrong
		}
	}
}

// turn watches what a swapped link points at now, in place of what it did.
func turn(w *fsnotify.Watcher, file, before, now string) {
	home := filepath.Dir(file)
	from, to := filepath.Dir(before), filepath.Dir(now)
	if now == "" || from == to {
		return
	}
	if before != "" && from != home {
		_ = w.Remove(from) // it may be gone
	}
	if to != home {
		_ = w.Add(to)
	}
}

// unwatched ends the watch over no file.
func unwatched() <-chan struct{} {
	over := make(chan struct{})
	close(over)
	return over
}
