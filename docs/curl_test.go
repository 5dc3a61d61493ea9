package docs_test

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// request is a curl command line.
type request struct {
	method, url, body string
	header            http.Header
	include           bool // -i: show status and headers
}

// parseCurl knows the flags that the pages use and no others.
func parseCurl(words []string) (*request, error) {
	r := &request{header: http.Header{}}
	for i := 1; i < len(words); i++ {
		w := words[i]
		value := func() string {
			if i++; i < len(words) {
				return words[i]
			}
			return ""
		}
		switch w {
		case "-i":
			r.include = true
		case "-N", "-s": // nothing changes in what is sent
		case "-X":
			r.method = value()
		case "-d":
			r.body = value()
		case "-H":
			name, v, ok := strings.Cut(value(), ":")
			if !ok {
				return nil, fmt.Errorf("-H takes a header")
			}
			r.header.Add(name, strings.TrimSpace(v))
		default:
			if strings.HasPrefix(w, "-") || r.url != "" {
				return nil, fmt.Errorf("curl %s is not known to this test", w)
			}
			r.url = w
		}
	}
	if r.method == "" {
		r.method = http.MethodGet
		if r.body != "" {
			r.method = http.MethodPost
		}
	}
	return r, nil
}

// answer is what came back, as curl would print it.
type answer struct {
	status     int
	head, body string
}

func send(t *testing.T, r *request) answer {
	t.Helper()
	req, err := http.NewRequest(r.method, r.url, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = r.header.Clone()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var head []string
	for name, values := range resp.Header {
		for _, v := range values {
			head = append(head, name+": "+v)
		}
	}
	slices.Sort(head)
	return answer{resp.StatusCode, "HTTP/1.1 " + resp.Status + "\n" + strings.Join(head, "\n") + "\n\n", string(b)}
}

func (a *answer) shown(include bool) string {
	if include {
		return a.head + a.body
	}
	return a.body
}

// words splits a command line as a shell does, as far as the pages need it.
func words(line string, env func(string) (string, bool)) (out []string, err error) {
	var b strings.Builder
	quote, some := rune(0), false
	flush := func() {
		if some {
			out = append(out, b.String())
		}
		b.Reset()
		some = false
	}
	runes := []rune(line)
	for i := 0; i < len(runes); i++ {
		c := runes[i]
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, some = c, true
		case quote != '\'' && c == '$':
			j := i + 1
			for j < len(runes) && (runes[j] == '_' || 'A' <= runes[j] && runes[j] <= 'Z') {
				j++
			}
			v, _ := env(string(runes[i+1 : j]))
			b.WriteString(v)
			i, some = j-1, true
		case quote == 0 && (c == ' ' || c == '\t'):
			flush()
		case quote == 0 && strings.ContainsRune("|&;<>`()", c):
			return nil, fmt.Errorf("%q is more shell than this test knows", c)
		default:
			b.WriteRune(c)
			some = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote is not closed")
	}
	flush()
	return out, nil
}

// joined gives the command lines of a block, continuation lines joined.
func joined(text string) (out []string) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// TestRequestsAreAnsweredAsShown plays each page from its top to its end on a
// gateway of its own.
func TestRequestsAreAnsweredAsShown(t *testing.T) {
	total := 0
	for _, p := range pages(t) {
		if !slices.ContainsFunc(p.blocks, func(b block) bool { return b.lang == "console" || strings.Contains(b.text, "curl ") }) {
			continue
		}
		total++
		t.Run(p.path, func(t *testing.T) {
			t.Parallel()
			w := newMocks(t)
			s := &shell{mocks: w, gateway: w.open(t)}
			for _, b := range p.blocks {
				switch b.lang {
				case "sh":
					for _, line := range joined(b.text) {
						if strings.HasPrefix(line, "curl ") {
							s.curl(t, b, line, "")
						}
					}
				case "console":
					line, output, _ := strings.Cut(strings.ReplaceAll(b.text, "\\\n", " "), "\n")
					s.run(t, b, strings.TrimPrefix(line, "$ "), output)
				}
			}
		})
	}
	if total < 4 {
		t.Errorf("only %d pages have requests", total)
	}
}

// ending are the commands that end by themselves.
var ending = []string{"check", "explain", "why", "repair", "version", "doctor"}

// shell runs the commands of one page.
type shell struct {
	*mocks
	gateway *gateway
}

func (s *shell) run(t *testing.T, b block, line, output string) {
	t.Helper()
	if strings.HasPrefix(line, "curl ") {
		s.curl(t, b, line, output)
		return
	}
	said, line := piped(line)
	list, err := words(strings.Replace(line, "http://localhost:3001", s.gateway.admin(), 1), environment)
	if err != nil || len(list) < 2 || list[0] != "backstop" || !slices.Contains(ending, list[1]) {
		t.Errorf("%s:%d: this test runs curl and backstop %v, not %s (%v)", b.page, b.line, ending, line, err)
		return
	}
	cmd := exec.Command(command(t), list[1:]...)
	cmd.Dir = filepath.Dir(s.gateway.file)
	cmd.Stdin = strings.NewReader(said)
	cmd.Env = append(cmd.Environ(), "ADMIN_TOKEN="+adminToken)
	got, err := cmd.CombinedOutput()
	if list[1] == "repair" && cmd.ProcessState.ExitCode() > 2 {
		err = nil // 4 and 5 are its verdicts
	}
	if err != nil || !matches(s.local(output), string(got)) {
		t.Errorf("%s:%d: %s gives (%v)\n%s", b.page, b.line, line, err, got)
	}
}

// piped takes `echo "…" | ` off a line and gives what the rest reads.
func piped(line string) (said, rest string) {
	text, after, ok := strings.Cut(line, " | ")
	if list, err := words(text, environment); ok && err == nil && len(list) == 2 && list[0] == "echo" {
		return list[1] + "\n", after
	}
	return "", line
}

func (s *shell) curl(t *testing.T, b block, line, output string) {
	t.Helper()
	list, err := words(line, environment)
	if err != nil {
		t.Errorf("%s:%d: %v", b.page, b.line, err)
		return
	}
	r, err := parseCurl(list)
	if err != nil {
		t.Errorf("%s:%d: %v", b.page, b.line, err)
		return
	}
	r.url = s.local(r.url)
	r.url = strings.Replace(r.url, "http://localhost:3000", "http://"+s.gateway.Addr(), 1)
	r.url = strings.Replace(r.url, "http://localhost:3001", s.gateway.admin(), 1)
	if !strings.HasPrefix(r.url, "http://127.0.0.1:") && !strings.HasPrefix(r.url, "http://localhost:") {
		t.Errorf("%s:%d: %s would leave this machine", b.page, b.line, r.url)
		return
	}
	a := send(t, r)
	// What a call leaves behind is there a moment after its answer.
	for end := time.Now().Add(2 * time.Second); r.method == http.MethodGet && output != "" && !matches(output, a.shown(r.include)) && time.Now().Before(end); {
		<-time.After(20 * time.Millisecond)
		a = send(t, r)
	}
	switch {
	case output == "" && a.status >= 300:
		t.Errorf("%s:%d: %s gets %d %s", b.page, b.line, line, a.status, a.body)
	case output != "" && !matches(output, a.shown(r.include)):
		t.Errorf("%s:%d: %s gives\n%s\nand the page shows\n%s", b.page, b.line, line, a.shown(r.include), output)
	}
}

// matches compares an output with a page, where … stands for anything.
func matches(shown, got string) bool {
	parts := strings.Split(strings.TrimSpace(shown), "…")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(strings.Trim(parts[i], "\n"))
	}
	re := regexp.MustCompile(`(?s)^` + strings.Join(parts, `.*?`) + `$`)
	return re.MatchString(strings.TrimSpace(got))
}
