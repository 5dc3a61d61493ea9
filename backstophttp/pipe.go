package backstophttp

import (
	"context"
	"io"
	"net/http"
)

// pipe is the caller's side of a call whose caller is in this process: what
// Serve writes is what the response's body reads. Writes wait for their reader.
type pipe struct {
	cancel context.CancelFunc
	header http.Header
	status int
	begun  chan struct{} // closed when status and headers are set
	r      *io.PipeReader
	w      *io.PipeWriter
}

func newPipe(cancel context.CancelFunc) *pipe {
	r, w := io.Pipe()
	return &pipe{cancel: cancel, header: http.Header{}, begun: make(chan struct{}), r: r, w: w}
}

// Header implements http.ResponseWriter.
func (p *pipe) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter; headers are final with it.
func (p *pipe) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
		close(p.begun)
	}
}

// Write implements http.ResponseWriter.
func (p *pipe) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.w.Write(b)
}

// Flush implements http.Flusher; nothing is ever held back.
func (p *pipe) Flush() {}

// Read implements io.Reader for the response's body.
func (p *pipe) Read(b []byte) (int, error) { return p.r.Read(b) }

// Close ends the call if it still runs.
func (p *pipe) Close() error {
	p.cancel()
	return p.r.Close()
}
