package server

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// raw sends bytes as they are and returns every answer until the connection
// ends, as statuses; "open" at the end means that it would go on.
func (b *bench) raw(parts ...string) []string {
	b.t.Helper()
	c, err := net.Dial("tcp", b.addr)
	if err != nil {
		b.t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	for _, p := range parts {
		if _, err := c.Write([]byte(p)); err != nil {
			break
		}
	}
	var got []string
	ended := false
	br := bufio.NewReader(c)
	for {
		// The canary: a connection that is still in step answers it.
		if len(got) > 0 && !ended {
			_ = c.SetReadDeadline(time.Now().Add(150 * time.Millisecond))
		}
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				got = append(got, "open")
			}
			return got
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		got = append(got, fmt.Sprint(resp.StatusCode))
		ended = resp.Close
	}
}

const (
	okHead = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	canary = "GET /canary HTTP/1.1\r\nHost: localhost\r\n\r\n" // 404 when it is taken for a request
)

func sized(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

func chunked(body string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body) }

func TestNoMessageHidesAnother(t *testing.T) {
	b := serve(t, Options{})
	ten := strings.Replace(okHead, "HTTP/1.1", "HTTP/1.0", 1)
	for _, c := range []struct {
		name, bytes string
		want        string
	}{
		{"a plain call and a second one", okHead + sized(chat) + okHead + sized(chat), "200 200 open"},
		{"a call and a canary", okHead + sized(chat) + canary, "200 404 open"},
		{"an empty line between", okHead + sized(chat) + "\r\n" + canary, "200 404 open"},
		{"bare line feeds", strings.ReplaceAll(okHead, "\r\n", "\n") + sized(chat), "200 open"},
		{"chunked is the last of its connection", okHead + "Transfer-Encoding: chunked\r\n\r\n" + chunked(chat) + canary, "200"},
		{"chunk extensions", okHead + "Transfer-Encoding: chunked\r\n\r\n" + strings.Replace(chunked(chat), "\r\n", ";a=b\r\n", 1) + canary, "200"},
		{"length before coding", okHead + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(chat) + canary, "400"},
		{"coding before length", okHead + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + chunked(chat) + canary, "400"},
		{"coding in odd case", okHead + "Content-Length: 5\r\ntRANSFER-eNCODING: chunked\r\n\r\n" + chunked(chat) + canary, "400"},
		{"coding of another name", okHead + "Content-Length: 5\r\nTransfer-Encoding: xchunked\r\n\r\n12345" + canary, "400"},
		{"two equal lengths", okHead + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n12345" + canary, "400"},
		{"two different lengths", okHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345" + canary, "400"},
		{"a list of lengths", okHead + "Content-Length: 5, 5\r\n\r\n12345" + canary, "400"},
		{"a signed length", okHead + "Content-Length: +5\r\n\r\n12345" + canary, "400"},
		{"a hexadecimal length", okHead + "Content-Length: 0x5\r\n\r\n12345" + canary, "400"},
		{"a negative length", okHead + "Content-Length: -1\r\n\r\n" + canary, "400"},
		{"a giant length", okHead + "Content-Length: 9999999999999999999\r\n\r\n" + canary, "400"},
		{"an empty length", okHead + "Content-Length:\r\n\r\n" + canary, "400"},
		{"a padded length", okHead + "Content-Length: " + strings.Repeat(" ", 60) + "5\r\n\r\n12345" + canary, "400"},
		{"a folded header", okHead + "X-A: b\r\n c\r\n" + sized(chat) + canary, "400"},
		{"a folded length", okHead + "Content-Length: 5\r\n 0\r\n\r\n12345" + canary, "400"},
		{"a tab-folded coding", okHead + "Content-Length: 5\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n" + canary, "400"},
		{"space before the colon", okHead + "Content-Length : 5\r\n\r\n12345" + canary, "400"},
		{"space before the colon of a coding", okHead + "Content-Length: 5\r\nTransfer-Encoding : chunked\r\n\r\n" + canary, "400"},
		{"a NUL in a name", okHead + "X\x00A: b\r\n\r\n" + canary, "400"},
		{"two codings", okHead + "Transfer-Encoding: gzip, chunked\r\n\r\n" + canary, "501"},
		{"coding twice", okHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + canary, "501"},
		{"coding identity", okHead + "Transfer-Encoding: identity\r\n" + sized(chat) + canary, "501"},
		{"two hosts", okHead + "Host: localhost\r\n" + sized(chat) + canary, "400"},
		{"no host", "GET /v1/models HTTP/1.1\r\n\r\n" + canary, "400"},
		{"1.0 is the last of its connection", ten + "Connection: keep-alive\r\n" + sized(chat) + canary, "200"},
		{"1.0 with a coding", ten + "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(canary), "400"},
		{"1.0 with both", ten + "Connection: keep-alive\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + canary, "400"},
		{"upgrade to websocket", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n" + canary, "400"},
		{"upgrade to h2c", okHead + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n" + sized(chat) + canary, "400"},
		{"upgrade on health", "GET /healthz HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n" + canary, "400"},
		{"http2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "403"},
		{"options star", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(chat) + canary, "404"},
		{"our own mark", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Backstop-Framing: x\r\n\r\n" + canary, "400"},
		{"a body on GET", "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n" + sized("hello") + canary, "200 404 open"},
		{"a body that is not read", "POST /nowhere HTTP/1.1\r\nHost: localhost\r\n" + sized(chat) + canary, "404 404 open"},
		{"a large body that is not read", "POST /nowhere HTTP/1.1\r\nHost: localhost\r\n" + sized(strings.Repeat("x", 300<<10)) + canary, "404"},
		{"garbage", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
		{"a query in the host", "GET /v1/models HTTP/1.1\r\nHost: localhost/v1/models?\r\n\r\n", "400"},
		{"an absolute target", "GET http://evil.example/v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n" + canary, "403 404 open"},
		{"connect", "CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", "403 open"},
	} {
		if got := strings.Join(b.raw(c.bytes), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRefusalsDoNotDependOnHowBytesArrive(t *testing.T) {
	for _, c := range []string{
		okHead + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + canary,
		okHead + "Content-Length: 5\r\nContent-Length: 5\r\n\r\n12345" + canary,
		okHead + "X-A: b\r\n c\r\n\r\n" + canary,
	} {
		for cut := 1; cut < len(c); cut++ {
			conn := &framed{Conn: &pieces{parts: []string{c[:cut], c[cut:]}}}
			all, err := io.ReadAll(conn)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(all, []byte("canary")) {
				t.Fatalf("cut at %d: the canary went through: %q", cut, all)
			}
			if req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(all))); err == nil && req.Header.Get(framingHeader) == "" {
				t.Fatalf("cut at %d: %q is taken for a good request", cut, all)
			}
		}
	}
}

func TestBytesPassUnchanged(t *testing.T) {
	in := okHead + sized(chat) + "\r\n" + canary + okHead + "Transfer-Encoding: chunked\r\n\r\n" + chunked(chat) + "\x00\r\n whatever"
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"whole": func(r io.Reader) io.Reader { return r }, "bytewise": iotest.OneByteReader, "halves": iotest.HalfReader,
	} {
		got, err := io.ReadAll(wrap(&framed{Conn: &pieces{parts: []string{in}}}))
		if err != nil || string(got) != in {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		got, err = io.ReadAll(&framed{Conn: &pieces{from: wrap(strings.NewReader(in))}})
		if err != nil || string(got) != in {
			t.Errorf("%s below: %q, %v", name, got, err)
		}
	}
}

// pieces is a connection that delivers given parts, one a read.
type pieces struct {
	net.Conn
	parts []string
	from  io.Reader
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.from != nil {
		return p.from.Read(b)
	}
	if len(p.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.parts[0])
	if p.parts[0] = p.parts[0][n:]; p.parts[0] == "" {
		p.parts = p.parts[1:]
	}
	return n, nil
}

// FuzzFraming holds the scanner against net/http: what passes means the same
// to both, however it is cut.
func FuzzFraming(f *testing.F) {
	for _, seed := range []string{
		okHead + sized(chat), okHead + "Transfer-Encoding: chunked\r\n\r\n" + chunked(chat),
		okHead + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0", "\r\n" + okHead + sized("x") + canary,
		"GET / HTTP/1.0\n\n", okHead + " fold\r\n\r\n", "Content-Length: 3 HTTP/1.1\r\nContent-Length: 2\r\n\r\nab",
	} {
		f.Add([]byte(seed), uint16(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, cut uint16) {
		at := min(int(cut), len(in))
		conn := &framed{Conn: &pieces{from: io.MultiReader(bytes.NewReader(in[:at]), bytes.NewReader(in[at:]))}}
		passed, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		if !conn.refused && !bytes.Equal(passed, in) {
			t.Fatalf("bytes changed: %q became %q", in, passed)
		}
		whole := &framed{Conn: &pieces{from: bytes.NewReader(in)}}
		if _, err := io.ReadAll(whole); err != nil || whole.refused != conn.refused {
			t.Fatalf("cut at %d: refused %v, whole %v", at, conn.refused, whole.refused)
		}
		if conn.refused {
			return
		}
		agree(t, in)
	})
}

// agree walks over the messages that net/http finds and checks that the
// scanner puts their ends at the same places.
func agree(t *testing.T, in []byte) {
	var scan framing
	rest := bytes.TrimLeft(in, "\r\n")
	for len(rest) > 0 {
		src := bytes.NewReader(rest)
		br := bufio.NewReaderSize(src, 16)
		req, err := http.ReadRequest(br)
		if err != nil {
			return // net/http closes the connection
		}
		if req.ProtoMajor != 1 || req.ProtoMinor == 0 || len(req.TransferEncoding) > 0 {
			return // the handler does
		}
		head := len(rest) - src.Len() - br.Buffered()
		want := min(int64(len(rest)), int64(head)+req.ContentLength)
		scan = framing{}
		used, verdict := scan.pass(rest)
		if verdict != sound || int64(used) != want {
			t.Fatalf("net/http ends the message at %d, the scanner at %d (%v): %q", want, used, verdict, rest)
		}
		rest = bytes.TrimLeft(rest[used:], "\r\n")
	}
}
