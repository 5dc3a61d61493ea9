package sdk

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// recorder stands between the gateway and the mocks and keeps what was asked.
// The base URL of an upstream is its address, the mock's name and the
// upstream's own name: /twin/NAME/v1/…
type recorder struct {
	mocks map[string]*httputil.ReverseProxy
	mu    sync.Mutex
	seen  map[string][][]byte // bodies by upstream
	gates map[string]*gate    // by upstream
}

const mostAsked = 1 << 20

func newRecorder(mocks map[string]string) *recorder {
	r := &recorder{mocks: map[string]*httputil.ReverseProxy{}, seen: map[string][][]byte{}, gates: map[string]*gate{}}
	for name, address := range mocks {
		to, err := url.Parse(address)
		if err != nil {
			panic(err)
		}
		r.mocks[name] = &httputil.ReverseProxy{
			Rewrite: func(pr *httputil.ProxyRequest) {
				pr.SetURL(to)
				pr.Out.Host = ""
			},
			FlushInterval:  -1,
			ErrorLog:       log.New(io.Discard, "", 0), // attempts that the gateway gave up
			ModifyResponse: r.holdBack,
		}
	}
	return r
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	parts := strings.SplitN(strings.TrimPrefix(req.URL.Path, "/"), "/", 3)
	if len(parts) < 3 || r.mocks[parts[0]] == nil {
		http.Error(w, "the path names no mock and upstream", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, mostAsked))
	if err != nil {
		return
	}
	r.mu.Lock()
	r.seen[parts[1]] = append(r.seen[parts[1]], body)
	held := r.gates[parts[1]]
	r.mu.Unlock()
	if held != nil {
		req = req.WithContext(behind(req.Context(), held))
	}
	req.URL.Path, req.URL.RawPath = "/"+parts[2], ""
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.mocks[parts[0]].ServeHTTP(w, req)
}

// of returns the bodies that an upstream was sent, oldest first.
func (r *recorder) of(upstream string) [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([][]byte(nil), r.seen[upstream]...)
}
