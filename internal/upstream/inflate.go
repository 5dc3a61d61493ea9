package upstream

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
)

const (
	// freeInflation is what any body may unpack to; above it maxRatio holds.
	freeInflation = 1 << 20
	maxRatio      = 200
)

var (
	errEncoding = errors.New("answer has a content encoding that was not asked for")
	errBomb     = errors.New("answer unpacks to far more than it is")
)

// inflate unpacks an answer that is compressed although identity was asked
// for, as it comes: what the upstream has flushed can be read at once.
func inflate(resp *http.Response) error {
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
	default:
		return errEncoding
	}
	in := &counter{r: resp.Body}
	resp.Body = &inflater{in: in, body: resp.Body}
	resp.ContentLength = -1
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	return nil
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

type inflater struct {
	in   *counter
	body io.Closer
	zip  *gzip.Reader // made by the first Read: it blocks on the gzip header
	out  int64
}

func (f *inflater) Read(p []byte) (int, error) {
	if f.zip == nil {
		zip, err := gzip.NewReader(f.in)
		if err != nil {
			if errors.Is(err, io.EOF) && f.in.n == 0 {
				return 0, io.EOF
			}
			return 0, encodingError(err)
		}
		f.zip = zip
	}
	n, err := f.zip.Read(p)
	f.out += int64(n)
	if f.out > freeInflation && f.out/maxRatio > f.in.n {
		return 0, errBomb
	}
	if err != nil && err != io.EOF {
		err = encodingError(err)
	}
	return n, err
}

func (f *inflater) Close() error { return f.body.Close() }

// encodingError keeps network errors and replaces the rest.
func encodingError(err error) error {
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || strings.HasPrefix(err.Error(), "flate:") {
		return errEncoding
	}
	return err
}
