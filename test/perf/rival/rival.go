// Package rival is what Backstop is compared with: httputil.ReverseProxy as
// one writes it for this job.
//
// Two settings make it faster than its zero value, so that the comparison is
// no cheaper than it should be: it keeps as many idle connections to the
// upstream as there are callers, and it takes its copy buffers (of their usual
// 32 KiB) from a pool.
package rival

import (
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
)

// Run serves at an address and forwards to the upstream until it fails.
func Run(at, upstream string) error {
	ln, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	to := &url.URL{Scheme: "http", Host: upstream}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 8192, 4096
	transport.DisableCompression = true
	return http.Serve(ln, &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(to) },
		FlushInterval: -1,
		Transport:     transport,
		BufferPool:    new(buffers),
	})
}

const bufferSize = 32 << 10

type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return make([]byte, bufferSize)
}

func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) }
