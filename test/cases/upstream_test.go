package cases

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fake is an upstream of one case: a TCP server that writes exactly the bytes
// its script says, and remembers every request that reached it.
type fake struct {
	t       testing.TB
	name    string
	fixture *fixture
	pace    pace
	ln      *net.TCPListener
	script  atomic.Pointer[script]
	aloof   atomic.Bool // it reads heads and never a body
	stop    chan struct{}
	works   sync.WaitGroup

	mu   sync.Mutex
	log  []*exchange
	live map[*net.TCPConn]bool
	made int // connections ever

	many      bool // it stands for several upstreams, whose names are not its own
	unreached int  // attempts that the case keeps from sending their head
	racing    int  // most replays whose first sending may have met a closed socket
}

// script answers one request.
type script func(x *exchange)

func newFake(t testing.TB, name string, s script) *fake {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, name: name, fixture: &chatFixture, pace: usual, ln: ln.(*net.TCPListener), stop: make(chan struct{}), live: map[*net.TCPConn]bool{}}
	f.play(s)
	f.works.Go(f.accept)
	t.Cleanup(f.close)
	return f
}

// play puts another script in force.
func (f *fake) play(s script) { f.script.Store(&s) }

// inTurn plays one script a request; the last one stays.
func inTurn(list ...script) script {
	return func(x *exchange) { list[min(x.n, len(list))-1](x) }
}

func (f *fake) addr() string { return f.ln.Addr().String() }
func (f *fake) port() int    { return f.ln.Addr().(*net.TCPAddr).Port }

func (f *fake) close() {
	_ = f.ln.Close()
	close(f.stop)
	f.mu.Lock()
	for c := range f.live {
		_ = c.Close()
	}
	f.mu.Unlock()
	f.works.Wait()
}

func (f *fake) accept() {
	for {
		c, err := f.ln.AcceptTCP()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.live[c] = true
		f.made++
		f.mu.Unlock()
		f.works.Go(func() {
			f.serve(c)
			_ = c.Close()
			f.mu.Lock()
			delete(f.live, c)
			f.mu.Unlock()
		})
	}
}

// serve plays the script for each request of a connection. A second goroutine
// reads, so that the end of the peer is seen while the script writes or holds.
func (f *fake) serve(c *net.TCPConn) {
	line := &line{conn: c, in: bufio.NewReader(c), gone: make(chan struct{}), thaw: make(chan struct{})}
	requests := make(chan *exchange, 64) // the reader must not wait for the script
	over := make(chan struct{})
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(line.gone)
		for {
			x, err := f.read(line)
			if err != nil {
				return
			}
			select {
			case requests <- x:
			case <-over:
				return
			}
			if f.aloof.Load() {
				select {
				case <-line.thaw:
				case <-over:
				}
				_, _ = io.Copy(io.Discard, line.in)
				return
			}
		}
	})
	for open := true; open; {
		select {
		case x := <-requests:
			(*f.script.Load())(x)
			open = !x.shut
			f.mu.Lock()
			x.over = true
			f.mu.Unlock()
		case <-line.gone:
			open = false
		case <-f.stop:
			open = false
		}
	}
	close(over)
	_ = c.Close()
	reading.Wait()
	f.mu.Lock()
	for _, x := range f.log {
		x.over = x.over || x.line == line
	}
	f.mu.Unlock()
}

// line is one connection to a fake.
type line struct {
	conn  *net.TCPConn
	in    *bufio.Reader
	gone  chan struct{} // closed when the peer's side is closed
	thaw  chan struct{} // closed when an aloof fake is to read on
	count int
}

// read takes one request in and logs it as soon as its head is there.
func (f *fake) read(l *line) (*exchange, error) {
	var head bytes.Buffer
	for {
		text, err := l.in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		head.WriteString(text)
		if text == "\r\n" {
			break
		}
	}
	l.count++
	x := &exchange{f: f, line: l, nth: l.count, head: head.String(), began: time.Now()}
	first, rest, _ := strings.Cut(x.head, "\r\n")
	if parts := strings.Fields(first); len(parts) == 3 {
		x.path = parts[1]
	}
	header, err := textproto.NewReader(bufio.NewReader(strings.NewReader(rest))).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	x.header = http.Header(header)
	f.mu.Lock()
	f.log = append(f.log, x)
	x.n = len(f.log)
	f.mu.Unlock()
	if f.aloof.Load() {
		return x, nil
	}
	return x, x.readBody()
}

func (x *exchange) readBody() (err error) {
	body, in := []byte(nil), x.line.in
	switch n, _ := strconv.Atoi(x.header.Get("Content-Length")); {
	case x.header.Get("Transfer-Encoding") != "":
		if body, err = io.ReadAll(httputil.NewChunkedReader(in)); err == nil {
			_, err = in.ReadString('\n')
		}
	case n > 0:
		body = make([]byte, n)
		_, err = io.ReadFull(in, body)
	}
	x.f.mu.Lock()
	x.body = string(body)
	x.f.mu.Unlock()
	return err
}

// requests are the requests that reached the fake so far.
func (f *fake) requests() []*exchange {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*exchange(nil), f.log...)
}

func (f *fake) count() int { return len(f.requests()) }

// open is the number of connections that stand.
func (f *fake) open() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.live)
}

// idle reports whether no script is running.
func (f *fake) idle() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.log {
		if !x.over {
			return false
		}
	}
	return true
}
