package observe

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// logTo opens a log file as a shell's >> does.
func logTo(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// hold waits until a file has a text.
func hold(t *testing.T, path, text string) []byte {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; <-time.After(time.Millisecond) {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(text)) {
			return data
		}
		if time.Now().After(end) {
			t.Fatalf("%s never held %q: %q %v", path, text, data, err)
		}
	}
}

func TestALogThatIsCopiedAndTruncatedGoesOnAtItsBeginning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	o := New(Options{Out: logTo(t, path), Format: "json"})
	defer o.Close()
	for round := range 3 {
		o.Log().Info("before", "round", round)
		hold(t, path, "before")
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		o.Log().Info("after", "round", round)
		if data := hold(t, path, "after"); data[0] != '{' || bytes.ContainsRune(data, 0) || bytes.Count(data, []byte("\n")) != 1 {
			t.Errorf("%q", data)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}
}

func TestALogThatIsRenamedGoesOnInTheRenamedFile(t *testing.T) {
	dir := t.TempDir()
	path, old := filepath.Join(dir, "log"), filepath.Join(dir, "log.1")
	o := New(Options{Out: logTo(t, path), Format: "text"})
	defer o.Close()
	o.Log().Info("before")
	hold(t, path, "before")
	if err := os.Rename(path, old); err != nil {
		t.Fatal(err)
	}
	o.Log().Info("after")
	if data := string(hold(t, old, "after")); strings.Count(data, "\n") != 2 {
		t.Errorf("%q", data)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a new file: %v", err)
	}
}
