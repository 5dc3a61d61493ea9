package docs_test

import (
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramsRun builds and runs the Go programs of the pages as if they were
// part of the module, without writing there.
func TestProgramsRun(t *testing.T) {
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	outputs := map[string]string{}
	each(t, "go", func(t *testing.T, b block) {
		if formatted, err := format.Source([]byte(b.text)); err != nil || string(formatted) != b.text {
			t.Errorf("%s:%d: not formatted, or not Go: %v", b.page, b.line, err)
			return
		}
		_, want, ok := strings.Cut(b.text, "// Output: ")
		if !strings.HasPrefix(b.text, "package main\n") || !ok {
			t.Errorf("%s:%d: a program says what it prints in a comment // Output:", b.page, b.line)
			return
		}
		want, _, _ = strings.Cut(want, "\n")
		name := fmt.Sprintf("line%d", b.line)
		file := filepath.Join(dir, name+".go")
		write(t, file, b.text)
		overlay["Replace"][filepath.Join(top, "docs", "programs", name, "main.go")] = file
		outputs[name] = want
	})
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "overlay.json"), string(list))
	for name, want := range outputs {
		binary := filepath.Join(dir, name)
		build := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, "./docs/programs/"+name)
		build.Dir = top
		if out, err := build.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
			continue
		}
		out, err := exec.Command(binary).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s prints %q, want %q (%v)", name, got, want, err)
		}
	}
	if _, err := os.Stat("programs"); err == nil {
		t.Error("docs/programs was written")
	}
}
