package sdk

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// world is what all tests share.
var world struct {
	binary string
	mocks  map[string]string // URL by name, see twin and other
}

// The two mocks. They have different seeds, so a text tells which one wrote it.
const (
	twin  = "twin"
	other = "other"
)

func TestMain(m *testing.M) {
	for _, pair := range os.Environ() { // the SDKs look for keys and addresses there
		name, _, _ := strings.Cut(pair, "=")
		for _, prefix := range []string{"OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_"} {
			if strings.HasPrefix(name, prefix) {
				_ = os.Unsetenv(name)
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, m)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run builds the binary, starts the mocks, runs the tests and ends the mocks.
func run(ctx context.Context, m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "backstop-sdk-go-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	if world.binary, err = built(folder); err != nil {
		return 1, err
	}
	world.mocks = map[string]string{}
	for name, seed := range map[string]string{twin: "1", other: "2"} {
		p, address, err := start(ctx, `http://(127\.0\.0\.1:\d+)`, world.binary, "mock", "--listen", "127.0.0.1:0", "--seed", seed)
		if err != nil {
			return 1, err
		}
		defer p.end()
		world.mocks[name] = "http://" + address
	}
	return m.Run(), nil
}

// built is the binary: the one that BACKSTOP_BIN names, or a new one.
func built(folder string) (string, error) {
	if there := os.Getenv("BACKSTOP_BIN"); there != "" {
		return filepath.Abs(there)
	}
	binary := filepath.Join(folder, "backstop")
	build := exec.Command("go", "build", "-o", binary, "./cmd/backstop")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/backstop: %w\n%s", err, out)
	}
	return binary, nil
}
