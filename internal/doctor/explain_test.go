package doctor

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"backstop"
)

// checkupAt is a checkup of a public upstream that was asked nothing yet.
func checkupAt(t *testing.T, base string) *checkup {
	t.Helper()
	u := backstop.DefaultUpstream()
	u.Name, u.BaseURL = "primary", base
	b, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	return &checkup{up: &u, base: b, opt: &Options{Limit: defaultLimit, Now: time.Now}, plan: &backstop.Plan{}, Upstream: Upstream{Name: "primary", BaseURL: base}}
}

func dialError(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }

func TestEveryWayToFailHasACauseAndAFix(t *testing.T) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	dns := moments{dnsFrom: now}
	resolved := moments{dnsFrom: now, dnsTo: now, addrs: []netip.Addr{netip.MustParseAddr("93.184.216.34")}, dialFrom: now}
	fake := resolved
	fake.addrs = []netip.Addr{netip.MustParseAddr("198.18.0.12")}
	connected := resolved
	connected.dialTo = now
	secured := connected
	secured.tlsFrom, secured.tlsTo = now, now
	stranger := &x509.Certificate{Issuer: pkix.Name{Organization: []string{"Company\x1b[2J Firewall"}}}
	for name, c := range map[string]struct {
		err  error
		seen moments
		want string
	}{
		"no such name":                  {dialError(&net.DNSError{IsNotFound: true}), dns, "does not exist for this machine"},
		"silent DNS":                    {dialError(&net.DNSError{IsTimeout: true}), dns, "DNS does not answer"},
		"failing DNS":                   {dialError(&net.DNSError{IsTemporary: true}), dns, "DNS cannot resolve"},
		"silent DNS to the end":         {context.DeadlineExceeded, dns, "DNS does not answer"},
		"refused":                       {dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)), resolved, "nothing listens at"},
		"refused behind a fake IP":      {dialError(os.NewSyscallError("connect", syscall.ECONNREFUSED)), fake, "does not take the connection"},
		"dropped packets":               {dialError(os.ErrDeadlineExceeded), resolved, "no connection to model.example within 2s"},
		"dropped behind a fake IP":      {dialError(os.ErrDeadlineExceeded), fake, "behind the fake IP does not get through"},
		"no route":                      {dialError(os.NewSyscallError("connect", syscall.ENETUNREACH)), resolved, "there is no route"},
		"silent TLS":                    {context.DeadlineExceeded, connected, "the TLS handshake is not answered"},
		"silent HTTP":                   {context.DeadlineExceeded, secured, "takes connections but did not answer GET /v1/models within 15s"},
		"a certificate of nobody":       {&tlsError{x509.UnknownAuthorityError{Cert: stranger}}, connected, "issued by Company?[2J Firewall"},
		"a certificate of another name": {&tlsError{x509.HostnameError{Certificate: stranger, Host: "model.example"}}, connected, "is for another name"},
		"an old certificate":            {&tlsError{x509.CertificateInvalidError{Cert: stranger, Reason: x509.Expired}}, connected, "is not valid today"},
		"a cut connection":              {io.EOF, secured, "closes it without an answer"},
		"a reset":                       {fmt.Errorf("read: %w", syscall.ECONNRESET), connected, "closes it without an answer"},
		"another language":              {errors.New(`malformed HTTP response "SSH-2.0"`), connected, "answers something that is no HTTP"},
		"an unknown fault":              {errors.New("strange"), resolved, "cannot be connected to"},
	} {
		t.Run(name, func(t *testing.T) {
			what, cause, fix := checkupAt(t, "https://model.example/v1").explain(&visit{moments: c.seen, err: c.err, path: "/models"})
			if text := what + "; " + cause; !strings.Contains(text, c.want) {
				t.Errorf("%q does not say %q", text, c.want)
			}
			if cause == "" || fix == "" {
				t.Errorf("cause %q, fix %q", cause, fix)
			}
			if strings.ContainsAny(what+cause+fix, "\x1b\n") {
				t.Error("a control character is shown")
			}
		})
	}
}

// tlsError wraps as crypto/tls does.
type tlsError struct{ err error }

func (e *tlsError) Error() string { return "tls: failed to verify certificate: " + e.err.Error() }
func (e *tlsError) Unwrap() error { return e.err }

func TestAFakeIPIsNamed(t *testing.T) {
	now := time.Now()
	c := checkupAt(t, "https://model.example/v1")
	c.way(&visit{moments: moments{began: now, dnsFrom: now, dnsTo: now, addrs: []netip.Addr{netip.MustParseAddr("198.19.255.1")}, dialFrom: now, dialTo: now, sent: now, first: now}, status: 200, header: http.Header{}, ended: now})
	if len(c.Findings) != 1 || !strings.Contains(c.Findings[0].What, "fake IP (198.18.0.0/15)") || c.Findings[0].Weight != Note {
		t.Errorf("findings = %+v", c.Findings)
	}
}

func TestASlowConnectionIsComparedWithItsLimit(t *testing.T) {
	for took, want := range map[time.Duration]Weight{3 * time.Second: Problem, 1500 * time.Millisecond: Warning, 200 * time.Millisecond: ""} {
		now := time.Now()
		c := checkupAt(t, "http://model.example/v1")
		c.way(&visit{moments: moments{began: now, dialFrom: now, dialTo: now.Add(took), sent: now.Add(took), first: now.Add(took)}, status: 200, header: http.Header{}})
		got := Weight("")
		if len(c.Findings) > 0 {
			got = c.Findings[0].Weight
		}
		if got != want {
			t.Errorf("%s: %q, want %q", took, got, want)
		}
	}
}

// Whatever an upstream answers is read in bounds and shows nothing of itself.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{list, `{"models":[{"name":"models/g"}]}`, "<html>", `{"data":[{"id":1}]}`, `{"error":{"status":"X","code":4}}`, "[[[", "\xff", `{"type":"error","error":{"type":"x"}}`} {
		f.Add(body, "application/json", 200)
		f.Add(body, "text/html", 404)
	}
	f.Fuzz(func(t *testing.T, body, kind string, status int) {
		v := &visit{body: []byte(body), whole: true, status: status, header: http.Header{"Content-Type": {kind}, "Date": {body}}, path: "/models"}
		a := v.read()
		if a.html && a.list || len(a.models) > maxModels {
			t.Errorf("answer = %+v", a)
		}
		c := checkupAt(t, "https://model.example/v1")
		c.clock(v)
		c.foreign(v, a)
		c.kindOf(v)
		c.redirected(v)
		for _, f := range c.Findings {
			if strings.ContainsAny(f.What+f.Cause+f.Fix, "\x1b\n\x00") {
				t.Errorf("%+v", f)
			}
		}
	})
}
