package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"backstop/internal/app"
	"backstop/internal/config"
)

const deploy = "../../deploy"

// strictly reads a YAML file; a key that the type does not know is an error.
func strictly(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deploy, file))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// parses wants a command line that our own parser takes, and returns the file
// that it names with -c.
func parses(t *testing.T, where string, args []string) (configFile string) {
	t.Helper()
	p, err := newParser(&streams{out: io.Discard, err: io.Discard}, func(int) { t.Errorf("%s: %v asks for help", where, args) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse(args); err != nil {
		t.Errorf("%s: %v: %v", where, args, err)
	}
	if i := slices.Index(args, "-c"); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}

var longEnough = regexp.MustCompile(`_(KEY|TOKEN)$`)

// passesCheck loads a configuration as serve would, with the variables that
// its surroundings give it and no others.
func passesCheck(t *testing.T, where, text string, given []string) *config.Config {
	t.Helper()
	env := func(name string) (string, bool) {
		if slices.Contains(given, name) && longEnough.MatchString(name) {
			return "value-of-" + name + "-0123456789", true
		}
		return "", false
	}
	cfg, warnings, err := config.Parse("backstop.yaml", []byte(text), config.Options{Env: env, Schema: compileSchema()})
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	for _, w := range warnings {
		t.Errorf("%s: line %d: %s", where, w.Line, w.Message)
	}
	return cfg
}

func portOf(t *testing.T, addrs []string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// outlives wants a time to end that is longer than the drain.
func outlives(t *testing.T, where string, grace time.Duration, d config.Drain) {
	t.Helper()
	if grace <= d.Delay+d.Limit {
		t.Errorf("%s: %s is not longer than drain.delay %s and drain.limit %s", where, grace, d.Delay, d.Limit)
	}
}

// running is a gateway with a configuration of the examples, on other ports.
type running struct{ data, metrics string }

// start runs it. The metrics listener has no port of its own choice, so a port
// that somebody else took in between is tried again.
func start(t *testing.T, text string) running {
	t.Helper()
	for try := 1; ; try++ {
		r, err := startAt(t, text, freeAddress(t))
		var busy *app.BusyError
		if err == nil {
			return r
		}
		if !errors.As(err, &busy) || try == 10 {
			t.Fatal(err)
		}
	}
}

func startAt(t *testing.T, text, metrics string) (running, error) {
	t.Helper()
	text = regexp.MustCompile(`metrics: \{listen: "[^"]*"\}`).ReplaceAllString(text, `metrics: {listen: "`+metrics+`"}`)
	load := func() (*config.Config, []config.Warning, error) {
		return config.Parse("backstop.yaml", []byte(text), config.Options{
			Env: func(name string) (string, bool) { return "value-of-" + name + "-0123456789", true }, Listen: "0.0.0.0:0", Admin: "127.0.0.1:0",
		})
	}
	a, err := app.New(app.Options{Load: load, Out: io.Discard, StateDir: t.TempDir()})
	if err != nil {
		return running{}, err
	}
	if err := a.Start(); err != nil {
		return running{}, err
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = a.Stop(ctx)
	})
	_, port, _ := net.SplitHostPort(a.Addr())
	return running{data: "http://127.0.0.1:" + port, metrics: "http://" + metrics}, nil
}

// freeAddress is one that nobody listens at just now.
func freeAddress(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// status asks as a kubelet does: by address, without a key.
func status(t *testing.T, url, host string) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// instruction is one line of a Dockerfile.
type instruction struct{ word, rest string }

func dockerfile(t *testing.T) (out []instruction) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deploy, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(data), "\\\n", " ")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			word, rest, _ := strings.Cut(line, " ")
			out = append(out, instruction{word, strings.Join(strings.Fields(rest), " ")})
		}
	}
	return out
}

// list reads the JSON form of a command.
func list(t *testing.T, text string) (out []string) {
	t.Helper()
	i := strings.Index(text, "[")
	if i < 0 || yaml.Unmarshal([]byte(text[i:]), &out) != nil || len(out) == 0 {
		t.Fatalf("%q is no list: a shell would be needed, and there is none", text)
	}
	return out
}

func TestTheImageRunsOurBinaryAsNobodyWithoutAShell(t *testing.T) {
	last := map[string]string{}
	from := 0
	var run string
	for _, in := range dockerfile(t) {
		switch in.word {
		case "FROM":
			from++
		case "RUN":
			run = in.rest
		}
		last[in.word] = in.rest
	}
	if from != 2 || !strings.HasPrefix(last["FROM"], "gcr.io/distroless/static") || !strings.HasSuffix(last["FROM"], ":nonroot") {
		t.Errorf("the image is made from %s", last["FROM"])
	}
	entry := list(t, last["ENTRYPOINT"])
	copied := strings.Fields(last["COPY"])
	if len(entry) != 1 || copied[len(copied)-1] != entry[0] || !strings.Contains(run, "-o "+copied[1]+" ./cmd/backstop") {
		t.Errorf("built %q, copied %v, started %v", run, copied, entry)
	}
	for _, flag := range []string{"CGO_ENABLED=0", "-trimpath", "-X main.version=$VERSION"} {
		if !strings.Contains(run, flag) {
			t.Errorf("the build lacks %s", flag)
		}
	}
	parses(t, "CMD", list(t, last["CMD"]))
	check := list(t, last["HEALTHCHECK"])
	if check[0] != entry[0] {
		t.Errorf("the health check runs %s", check[0])
	}
	parses(t, "HEALTHCHECK", check[1:])
	if user, _, _ := strings.Cut(last["USER"], ":"); user == "0" || user == "" || user == "root" {
		t.Errorf("USER %s", last["USER"])
	}
	if last["STOPSIGNAL"] != "SIGTERM" {
		t.Errorf("STOPSIGNAL %s: only SIGTERM drains", last["STOPSIGNAL"])
	}
	text, err := os.ReadFile(filepath.Join(deploy, "backstop.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	cfg := passesCheck(t, "backstop.yaml", string(text), []string{"DEEPSEEK_API_KEY", "DASHSCOPE_API_KEY", "BACKSTOP_WEB_KEY", "BACKSTOP_ADMIN_TOKEN"})
	want := fmt.Sprintf("%d %d %d", portOf(t, cfg.Listen), portOf(t, cfg.Admin.Listen), portOf(t, cfg.Metrics))
	if last["EXPOSE"] != want {
		t.Errorf("EXPOSE %s, the configuration listens at %s", last["EXPOSE"], want)
	}
	data, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`(?m)^go (1\.[0-9]+)`).FindSubmatch(data); m == nil || !strings.Contains(run+dockerfile(t)[0].rest, "golang:"+string(m[1])) {
		t.Errorf("the image is built with %s", dockerfile(t)[0].rest)
	}
}

func TestTheComposeFileStartsWhatItSays(t *testing.T) {
	type service struct {
		Image string `yaml:"image"`
		Build struct {
			Context    string `yaml:"context"`
			Dockerfile string `yaml:"dockerfile"`
		} `yaml:"build"`
		Command     []string          `yaml:"command"`
		Environment map[string]string `yaml:"environment"`
		Ports       []string          `yaml:"ports"`
		Volumes     []string          `yaml:"volumes"`
		Health      struct {
			Test     []string `yaml:"test"`
			Interval string   `yaml:"interval"`
			Timeout  string   `yaml:"timeout"`
			Start    string   `yaml:"start_period"`
			Retries  int      `yaml:"retries"`
		} `yaml:"healthcheck"`
		Grace    string   `yaml:"stop_grace_period"`
		Restart  string   `yaml:"restart"`
		ReadOnly bool     `yaml:"read_only"`
		User     string   `yaml:"user"`
		Drop     []string `yaml:"cap_drop"`
		Security []string `yaml:"security_opt"`
		Pids     int      `yaml:"pids_limit"`
		Memory   string   `yaml:"mem_limit"`
	}
	var f struct {
		Name     string             `yaml:"name"`
		Services map[string]service `yaml:"services"`
	}
	strictly(t, "compose.yaml", &f)
	s, ok := f.Services["backstop"]
	if !ok || len(f.Services) != 1 {
		t.Fatalf("services %v", f.Services)
	}
	if _, err := os.Stat(filepath.Join(deploy, s.Build.Context, s.Build.Dockerfile)); err != nil {
		t.Error(err)
	}
	source, at, _ := strings.Cut(s.Volumes[0], ":")
	at, _, _ = strings.Cut(at, ":")
	text, err := os.ReadFile(filepath.Join(deploy, source))
	if err != nil {
		t.Fatal(err)
	}
	var given []string
	for name, value := range s.Environment {
		given = append(given, name)
		if !strings.HasPrefix(value, "${"+name+":?") {
			t.Errorf("%s is %q: a missing one would be noticed late", name, value)
		}
	}
	cfg := passesCheck(t, "backstop.yaml", string(text), given)
	if file := parses(t, "command", s.Command); file != at {
		t.Errorf("the command reads %s, the file is mounted at %s", file, at)
	}
	grace, err := time.ParseDuration(s.Grace)
	if err != nil {
		t.Fatal(err)
	}
	outlives(t, "stop_grace_period", grace, cfg.Drain)
	for i, addrs := range [][]string{cfg.Listen, cfg.Admin.Listen, cfg.Metrics} {
		port := strconv.Itoa(portOf(t, addrs))
		if s.Ports[i] != "127.0.0.1:"+port+":"+port {
			t.Errorf("port %s, want %s on loopback", s.Ports[i], port)
		}
	}
	if s.Health.Test[0] != "CMD" || !s.ReadOnly || !slices.Equal(s.Drop, []string{"ALL"}) {
		t.Errorf("health check %v, read only %v, capabilities dropped %v", s.Health.Test, s.ReadOnly, s.Drop)
	}
	parses(t, "healthcheck", s.Health.Test[2:])
	r := start(t, string(text))
	var errs bytes.Buffer
	ask := &streams{ctx: context.Background(), in: strings.NewReader(""), out: io.Discard, err: &errs}
	url := strings.Replace(s.Health.Test[3], "http://127.0.0.1:"+strconv.Itoa(portOf(t, cfg.Listen)), r.data, 1)
	if code := run([]string{"health", "--limit", "1m", url}, ask); code != exitFine {
		t.Errorf("health %s: exit %d: %s", url, code, errs.String())
	}
	if code := run([]string{"health", "--limit", "1m", r.data + "/nothing"}, ask); code != exitFailed {
		t.Errorf("health at a wrong path: exit %d", code)
	}
}

// unit reads a systemd unit: section, key, values in order.
func unit(t *testing.T, file string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(deploy, file))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	section := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || section == "" {
				t.Errorf("%s: %q is no setting", file, line)
			}
			out[section+"."+key] = append(out[section+"."+key], value)
		}
	}
	return out
}

func TestTheSystemdUnitStartsReloadsAndDrains(t *testing.T) {
	u := unit(t, "backstop.service")
	one := func(key string) string {
		if len(u[key]) != 1 {
			t.Errorf("%s is set %d times", key, len(u[key]))
			return ""
		}
		return u[key][0]
	}
	startLine, checkLine := strings.Fields(one("Service.ExecStart")), strings.Fields(one("Service.ExecStartPre"))
	if startLine[0] != checkLine[0] || !filepath.IsAbs(startLine[0]) {
		t.Errorf("start %v, check %v", startLine, checkLine)
	}
	if parses(t, "ExecStart", startLine[1:]) != parses(t, "ExecStartPre", checkLine[1:]) {
		t.Error("another file is checked than is served")
	}
	if startLine[1] != "serve" || !strings.HasSuffix(one("Service.ExecReload"), "-HUP $MAINPID") || one("Service.KillSignal") != "SIGTERM" {
		t.Error("start, reload or stop do not do what the process knows")
	}
	stop, err := time.ParseDuration(one("Service.TimeoutStopSec"))
	if err != nil {
		t.Fatal(err)
	}
	// The unit is for any configuration: the defaults of the drain hold.
	cfg, _, err := config.Pair(config.PairOptions{Primary: "https://a.example/v1", Backup: "https://b.example/v1"}, config.Options{})
	if err != nil {
		t.Fatal(err)
	}
	outlives(t, "TimeoutStopSec", stop, cfg.Drain)
	for _, code := range []int{exitUsage, exitConfig} {
		if !slices.Contains(strings.Fields(one("Service.RestartPreventExitStatus")), strconv.Itoa(code)) {
			t.Errorf("exit code %d is tried again for ever", code)
		}
	}
	for _, key := range []string{"DynamicUser", "NoNewPrivileges", "ProtectHome", "PrivateDevices", "MemoryDenyWriteExecute", "RestrictNamespaces"} {
		if one("Service."+key) != "yes" {
			t.Errorf("%s is not set", key)
		}
	}
	if one("Service.ProtectSystem") != "strict" || one("Service.CapabilityBoundingSet") != "" {
		t.Error("the service may change the system")
	}
	if cache := one("Service.Environment"); cache != "XDG_CACHE_HOME=/var/cache/"+one("Service.CacheDirectory") {
		t.Errorf("the made-up token has no place: %s", cache)
	}
	if one("Install.WantedBy") != "multi-user.target" {
		t.Error("the unit cannot be enabled")
	}
}

func TestTheReleaseScriptBuildsWhatTheDocumentsName(t *testing.T) {
	data, err := os.ReadFile("../../.ci/dist")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "-trimpath", "-buildvcs=false", "CGO_ENABLED=0", "main.version=", "SHA256SUMS", "--sbom", "cmp "} {
		if !strings.Contains(string(data), word) {
			t.Errorf(".ci/dist lacks %s", word)
		}
	}
	if _, err := os.Stat("../../deploy/Dockerfile.dockerignore"); errors.Is(err, os.ErrNotExist) {
		t.Error("the image's context would hold everything")
	}
}
