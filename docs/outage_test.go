package docs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"backstop/internal/load"
)

var record = flag.Bool("record", false, "record docs/outage.json anew: a minute of load at real processes")

// outage is the recording behind the picture. Times are milliseconds since the
// first call was due.
type outage struct {
	How    string      `json:"how"`
	Config string      `json:"config"`
	Rate   float64     `json:"rate"`
	Hang   float64     `json:"hang_ms"` // the primary began to hang
	Heal   float64     `json:"heal_ms"` // it answered again
	Lines  []logged    `json:"lines"`   // transitions, as the gateway logged them
	Calls  [][]float64 `json:"calls"`   // [due, latency, tier]: 0 primary, 1 backup, 2 local, 3 no HTTP 200
}

type logged struct {
	At   float64 `json:"ms"`
	Text string  `json:"text"`
}

const (
	outageFile = "outage.json"
	outageRate = 50.0
	hangAfter  = 5 * time.Second
	healAfter  = 25 * time.Second
	recordFor  = time.Minute

	outageConfig = `upstreams:
  primary: {base_url: "http://PRIMARY/v1", allow_private: true}
  backup: {base_url: "http://BACKUP/v1", allow_private: true}
routes:
  - model: "*"
    tiers:
      - {upstream: primary, model: primary-model}
      - {upstream: backup, model: backup-model}
      - local: {template: {text: "The assistant is busy, please try again in a minute."}}
agent: {model: primary-model}
`
)

// TestRecordTheOutage plays the outage of the picture with real processes:
// go test ./docs -run TestRecordTheOutage -record
func TestRecordTheOutage(t *testing.T) {
	if !*record {
		t.Skip("only with -record")
	}
	binary := command(t)
	primary := start(t, binary, `http://([^/\s]+)/v1`, "mock", "--listen", "127.0.0.1:0", "--delay", "120ms", "--gap", "2ms", "--tokens", "16")
	backup := start(t, binary, `http://([^/\s]+)/v1`, "mock", "--listen", "127.0.0.1:0", "--delay", "60ms", "--gap", "2ms", "--tokens", "16")
	file := filepath.Join(t.TempDir(), "backstop.yaml")
	write(t, file, strings.NewReplacer("PRIMARY", primary.addr, "BACKUP", backup.addr).Replace(outageConfig))
	gateway := start(t, binary, `gateway on http://([^"\s]+)`, "serve", "-c", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")

	began := time.Now()
	o := outage{Rate: outageRate, Config: outageConfig,
		How: fmt.Sprintf("recorded with one `backstop serve` (the config below, all defaults) and two `backstop mock` (first token after 120 and 60 ms) on one machine; %g calls a second at POST /api/agent for %s, open loop: a call's latency counts from the moment it was due", outageRate, recordFor)}
	for _, s := range []struct {
		after time.Duration
		fault string
		at    *float64
	}{{hangAfter, "hang", &o.Hang}, {healAfter, "ok", &o.Heal}} {
		time.AfterFunc(s.after, func() {
			*s.at = ms(time.Since(began))
			post(t, "http://"+primary.addr+"/mock/faults", `{"model":"*","fault":"`+s.fault+`"}`)
		})
	}
	r, err := load.Run(context.Background(), load.Options{Rate: outageRate, Duration: recordFor, URL: "http://" + gateway.addr + "/api/agent",
		Body: func(int) []byte { return []byte(`{"prompt":"Classify this ticket: my invoice is wrong."}`) }})
	if err != nil {
		t.Fatal(err)
	}
	tiers := map[string]float64{"primary": 0, "backup": 1, "local": 2}
	for _, s := range r.Samples {
		tier, ok := tiers[s.Tier]
		if !ok || !s.OK() {
			tier = 3
		}
		o.Calls = append(o.Calls, []float64{ms(s.Due), ms(s.Latency), tier})
	}
	o.Lines = gateway.transitions(r.Start)
	write(t, outageFile, o.compact(t))
	t.Logf("%d calls, %d good, slowest %s, tiers %v, %v", len(r.Samples), r.Good(), r.Latency().Max, r.Tiers(), o.Lines)
}

func ms(d time.Duration) float64 { return float64(d.Round(100*time.Microsecond).Microseconds()) / 1000 }

// compact writes one call a line.
func (o *outage) compact(t *testing.T) string {
	calls := o.Calls
	head := *o
	head.Calls = nil
	b, err := json.MarshalIndent(head, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.WriteString(strings.TrimSuffix(string(b), "null\n}"))
	out.WriteString("[\n")
	for i, c := range calls {
		line, _ := json.Marshal(c)
		out.Write(line)
		if i < len(calls)-1 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
	}
	out.WriteString("]}\n")
	return out.String()
}

// process is a running backstop command.
type process struct {
	addr string
	out  *lines
}

// start runs a command until the test ends and waits for the address that it
// prints.
func start(t *testing.T, binary, address string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "HOME="+t.TempDir())
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{out: &lines{}}
	over := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-over
		_ = cmd.Wait()
	})
	found := make(chan string, 1)
	go func() {
		defer close(over)
		pattern := regexp.MustCompile(address)
		for s := bufio.NewScanner(pipe); s.Scan(); {
			_, _ = p.out.Write(append(bytes.Clone(s.Bytes()), '\n'))
			if m := pattern.FindStringSubmatch(s.Text()); m != nil {
				select {
				case found <- m[1]:
				default:
				}
			}
		}
	}()
	select {
	case p.addr = <-found:
	case <-time.After(10 * time.Second):
		t.Fatalf("backstop %v says no address: %s", args, p.out.text())
	}
	return p
}

// transitions are the lines about breakers, with their time since the start of
// the load.
func (p *process) transitions(from time.Time) (out []logged) {
	for line := range strings.Lines(p.out.text()) {
		var l struct {
			Time time.Time
			Msg  string
		}
		if json.Unmarshal([]byte(line), &l) == nil && strings.Contains(l.Msg, " -> ") {
			out = append(out, logged{ms(l.Time.Sub(from)), l.Msg})
		}
	}
	return out
}

func post(t *testing.T, url, body string) {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode >= 300 {
		t.Errorf("%s: %d %s", url, resp.StatusCode, b)
	}
}

// TestThePictureIsDrawnFromTheRecording keeps docs/outage.svg honest.
func TestThePictureIsDrawnFromTheRecording(t *testing.T) {
	data, err := os.ReadFile(outageFile)
	if err != nil {
		t.Fatal(err)
	}
	var o outage
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	same(t, "outage.svg", o.draw())
}
