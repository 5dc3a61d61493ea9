package doctor

import (
	"crypto/tls"
	"net/http/httptrace"
	"net/netip"
	"sync"
	"time"
)

// trace notes when the parts of a connection began and ended. Several dials
// may run side by side, and one may end after the answer is there.
type trace struct {
	mu  sync.Mutex
	now func() time.Time
	moments
}

// moments are what a trace saw; a zero time means that it did not happen.
type moments struct {
	began, dnsFrom, dnsTo, dialFrom, dialTo time.Time
	tlsFrom, tlsTo, sent, first             time.Time
	dnsErr                                  bool
	addrs                                   []netip.Addr
	reached                                 netip.Addr
	tls                                     *tls.ConnectionState
}

func newTrace(now func() time.Time) *trace { return &trace{now: now, moments: moments{began: now()}} }

func (t *trace) mark(set func(now time.Time)) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	set(now)
}

// seen is a copy of what happened so far.
func (t *trace) seen() moments {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.moments
}

func (t *trace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { t.mark(func(now time.Time) { t.dnsFrom = now }) },
		DNSDone:  t.resolved,
		ConnectStart: func(string, string) {
			t.mark(func(now time.Time) {
				if t.dialFrom.IsZero() {
					t.dialFrom = now
				}
			})
		},
		ConnectDone: func(_, address string, err error) {
			t.mark(func(now time.Time) {
				if err == nil && t.dialTo.IsZero() {
					t.dialTo = now
					if ap, err := netip.ParseAddrPort(address); err == nil {
						t.reached = ap.Addr()
					}
				}
			})
		},
		TLSHandshakeStart: func() { t.mark(func(now time.Time) { t.tlsFrom = now }) },
		TLSHandshakeDone: func(s tls.ConnectionState, err error) {
			t.mark(func(now time.Time) {
				if err == nil {
					t.tlsTo, t.tls = now, &s
				}
			})
		},
		WroteRequest:         func(httptrace.WroteRequestInfo) { t.mark(func(now time.Time) { t.sent = now }) },
		GotFirstResponseByte: func() { t.mark(func(now time.Time) { t.first = now }) },
	}
}

func (t *trace) resolved(info httptrace.DNSDoneInfo) {
	t.mark(func(now time.Time) {
		t.dnsTo, t.dnsErr = now, info.Err != nil
		for _, a := range info.Addrs {
			if ip, ok := netip.AddrFromSlice(a.IP); ok {
				t.addrs = append(t.addrs, ip.Unmap())
			}
		}
	})
}

// fakeIP is where resolvers of proxy programs put names that they take over.
var fakeIP = netip.MustParsePrefix("198.18.0.0/15")

// fake reports whether a name resolved to an address of a proxy program.
func (m *moments) fake() bool {
	for _, a := range m.addrs {
		if fakeIP.Contains(a) {
			return true
		}
	}
	return false
}
