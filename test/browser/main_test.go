package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/chromedp/chromedp"
)

// chrome is the one browser of the suite; each test has a tab of its own.
var chrome context.Context

// binaries are what Debian and others call it.
var binaries = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

func findChrome() string {
	for _, name := range binaries {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

func TestMain(m *testing.M) {
	path := findChrome()
	if path == "" {
		if os.Getenv("CI") != "" {
			fmt.Fprintln(os.Stderr, "no browser was found: install chromium (Debian: apt-get install chromium)")
			os.Exit(1)
		}
		fmt.Fprintln(os.Stderr, "skipped: no browser was found; install chromium (Debian: apt-get install chromium)")
		return
	}
	os.Exit(run(m, path))
}

func run(m *testing.M, path string) int {
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.WindowSize(1440, 960),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("hide-scrollbars", true),
		chromedp.Flag("lang", "en-US"), chromedp.Env("LANGUAGE=en"),
	)
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // the sandbox refuses to run as root
	}
	all, end := chromedp.NewExecAllocator(context.Background(), options...)
	defer end()
	var quit context.CancelFunc
	chrome, quit = chromedp.NewContext(all)
	defer quit()
	if err := chromedp.Do(chrome); err != nil {
		fmt.Fprintln(os.Stderr, "the browser does not start:", err)
		return 1
	}
	return m.Run()
}
