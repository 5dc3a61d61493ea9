package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"backstop/internal/app"
	"backstop/internal/config"
)

// The versions of HTTP that an upstream may speak.
const (
	plainHTTP1  = "HTTP/1.1"
	secureHTTP2 = "HTTP/2 with TLS"
)

// front is a way to a fake upstream.
type front struct {
	url    string // of the upstream's API
	ca     string // file of the certificate to trust, "" = no TLS
	server *httptest.Server
	dir    string
}

// front makes the primary answer over another version of HTTP too.
func (h *gateway) front(version string) (*front, error) {
	if version == plainHTTP1 {
		return &front{url: "http://" + h.primary.addr}, nil
	}
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return nil, err
	}
	s := httptest.NewUnstartedServer(h.primary)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.EnableHTTP2 = true
	s.StartTLS()
	f := &front{url: s.URL, ca: filepath.Join(dir, "ca.pem"), server: s, dir: dir}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(f.ca, block, 0o600); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *front) close() {
	if f.server != nil {
		f.server.CloseClientConnections()
		f.server.Close()
		_ = os.RemoveAll(f.dir)
	}
}

// The parts that this program can be started as, with the upstream's URL and
// the file of its certificate. It says where it listens and ends with its input.
const (
	asGateway = "gateway"
	asStock   = "stock"
	asBare    = "bare"
)

// process is this program in such a part.
type process struct {
	url   string
	child *os.Process
	input io.Closer
}

func startProcess(role string, f *front) (p *process, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	hears, input, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer hears.Close()
	output, says, err := os.Pipe()
	if err != nil {
		_ = input.Close()
		return nil, err
	}
	defer output.Close()
	p = &process{input: input}
	p.child, err = os.StartProcess(self, []string{self, "as", role, f.url, f.ca}, &os.ProcAttr{Files: []*os.File{hears, says, os.Stderr}})
	_ = says.Close()
	if err != nil {
		_ = input.Close()
		return nil, err
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("the %s did not start: %w", role, err)
	}
	p.url = "http://" + strings.TrimSpace(line)
	return p, nil
}

func (p *process) stop() {
	_ = p.input.Close()
	_, _ = p.child.Wait()
}

var errMemory = errors.New("the memory of the process is unknown; the figure needs Linux")

// memory is the resident memory of the process in KiB.
func (p *process) memory() (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.child.Pid))
	if err != nil {
		return 0, errMemory
	}
	_, rest, ok := bytes.Cut(data, []byte("VmRSS:"))
	line, _, _ := strings.Cut(string(rest), "kB")
	kib, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
	if !ok || err != nil {
		return 0, errMemory
	}
	return kib, nil
}

// playPart is the program as one of its parts.
func playPart(args []string) error {
	if len(args) != 3 {
		return errors.New("a part is played with its name, the upstream's URL, and the file of a certificate")
	}
	if args[0] != asGateway {
		return playOther(args[0], args[1], args[2])
	}
	file := fmt.Sprintf("listen: 127.0.0.1:0\nadmin: {listen: \"127.0.0.1:0\", token: %s}\nlog: {level: error}\nupstreams:\n  primary:\n    base_url: %s/v1\n    allow_private: true\n    proxy: \"off\"\n    key: sk-crash-primary\n    limits: {inflight: 0}\n", adminToken, args[1])
	if args[2] != "" {
		file += fmt.Sprintf("    ca: %q\n", args[2])
	}
	file += "routes:\n  - model: \"*\"\n    tiers: [{upstream: primary}]\n"
	a, err := app.New(app.Options{Version: "crash", Load: func() (*config.Config, []config.Warning, error) {
		return config.Parse("crash.yaml", []byte(file), config.Options{})
	}})
	if err != nil {
		return err
	}
	if err := a.Start(); err != nil {
		return err
	}
	fmt.Println(a.Addr())
	untilInputEnds()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return a.Stop(ctx)
}

// playOther is what the gateway is weighed against.
func playOther(role, upstream, ca string) error {
	to, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 4096, ForceAttemptHTTP2: true, DisableCompression: true}
	if ca != "" {
		block, err := os.ReadFile(ca)
		if err != nil {
			return err
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(block)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	handler := bare
	if role == asStock {
		handler = stock
	}
	s := httptest.NewServer(handler(to, transport))
	fmt.Println(strings.TrimPrefix(s.URL, "http://"))
	untilInputEnds()
	s.CloseClientConnections()
	s.Close()
	return nil
}

func untilInputEnds() { _, _ = io.Copy(io.Discard, os.Stdin) }
