package backstophttp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestABodyIsReadUpToItsBound(t *testing.T) {
	for name, c := range map[string]struct {
		src    io.Reader
		length int64
		want   int
		err    error
	}{
		"known length":             {strings.NewReader("0123456789"), 10, 10, nil},
		"unknown length":           {strings.NewReader(strings.Repeat("x", 99)), -1, 99, nil},
		"byte by byte":             {iotest.OneByteReader(strings.NewReader("0123456789")), -1, 10, nil},
		"announced over the bound": {strings.NewReader("x"), 101, 0, errTooLarge},
		"over the bound":           {strings.NewReader(strings.Repeat("x", 101)), -1, 100, errTooLarge},
		"longer than announced":    {strings.NewReader("0123456789"), 3, 10, nil},
		"shorter than announced":   {io.MultiReader(strings.NewReader("01"), iotest.ErrReader(io.ErrUnexpectedEOF)), 10, 2, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := read(c.src, c.length, 100, func() {})
			if len(b) != c.want || !errors.Is(err, c.err) {
				t.Errorf("%d bytes, %v", len(b), err)
			}
		})
	}
}

func TestBlankBytesDoNotBeginABody(t *testing.T) {
	begun := 0
	if _, err := read(iotest.OneByteReader(strings.NewReader("\n\n \r\n{}")), -1, 100, func() { begun++ }); err != nil || begun != 1 {
		t.Errorf("begun %d times, %v", begun, err)
	}
	begun = 0
	if _, err := read(strings.NewReader("\n\n\n"), -1, 100, func() { begun++ }); err != nil || begun != 0 {
		t.Errorf("blank lines began it %d times, %v", begun, err)
	}
}

// FuzzSniffer: whatever comes, in whatever portions, nothing but leading
// blanks is lost.
func FuzzSniffer(f *testing.F) {
	f.Add([]byte("data: x\n\n"), "text/event-stream", true)
	f.Add([]byte("\n\n {\"a\":1}"), "text/event-stream", false)
	f.Add([]byte("<html>"), "text/html", true)
	f.Add(bytes.Repeat([]byte("\n"), 2000), "", false)
	f.Fuzz(func(t *testing.T, b []byte, contentType string, slow bool) {
		var src io.Reader = bytes.NewReader(b)
		if slow {
			src = iotest.OneByteReader(src)
		}
		s := &sniffer{src: src}
		if _, err := s.events(contentType); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(s)
		if err != nil || !bytes.Equal(got, bytes.TrimLeft(b, blanks)) {
			t.Fatalf("%q came out as %q, %v", b, got, err)
		}
	})
}
