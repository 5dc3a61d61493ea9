package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"backstop"
	"backstop/internal/upstream"
)

// unreachable explains a question that got no answer. The words of the error
// itself stay inside: they may repeat what somebody else wrote.
func (c *checkup) unreachable(v *visit) {
	what, cause, fix := c.explain(v)
	c.problem(what, cause, fix)
}

func (c *checkup) explain(v *visit) (what, cause, fix string) {
	err, name := v.err, c.nameOf()
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case upstream.Private(err):
		return name + " is a loopback or private address, and allow_private is not set", c.privateCause(v), "add allow_private: true to upstream " + c.Name + " if this machine or network is meant; otherwise mend DNS or base_url"
	case upstream.Forbidden(err):
		return name + " leads to an address that is never dialed", "it is link-local, a metadata service, multicast or reserved", "correct base_url, or the DNS entry of the name"
	case errors.As(err, &dns):
		return c.explainDNS(dns)
	case errors.As(err, &op) && (op.Op == "proxyconnect" || op.Op == "socks connect"):
		return "the proxy " + c.Upstream.Proxy + " cannot be reached", "it does not run, or its address is wrong", "start it, correct its address, or set proxy: off for this upstream"
	case c.via != nil && !v.dialTo.IsZero() && v.tlsFrom.IsZero() && v.sent.IsZero():
		return "the proxy " + c.Upstream.Proxy + " refuses the connection" + refusalOf(err), "it wants a login, or does not let this host through", "put name and password into the URL of the proxy, allow the host there, or set proxy: off"
	case isTLS(err):
		return c.explainTLS(v)
	case errors.Is(err, syscall.ECONNREFUSED):
		return c.explainRefused(v)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return c.explainSilence(v)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no route to " + c.base.Host, "this machine has no network there, or only IPv6 or only IPv4", "check the network, the VPN and the container's network"
	case errors.Is(err, context.Canceled):
		return "the check was interrupted", "", "run it again"
	}
	return c.explainCut(v)
}

// privateCause says how a public-looking name led home.
func (c *checkup) privateCause(v *visit) string {
	if len(v.addrs) == 0 {
		return "base_url names the address itself"
	}
	return "DNS answers " + v.addrs[0].String() + " for it"
}

func (c *checkup) explainDNS(e *net.DNSError) (what, cause, fix string) {
	name := c.nameOf()
	switch {
	case e.IsNotFound:
		return "the name " + name + " does not exist for this machine", "it is misspelled, or only another DNS server or a proxy knows it", "correct base_url; behind a company proxy set HTTPS_PROXY, or proxy: for this upstream"
	case e.IsTimeout:
		return "DNS does not answer", "the name server of this machine is down or cannot be reached", "check the network and the resolver (/etc/resolv.conf)"
	}
	return "DNS cannot resolve " + name, "the name server of this machine refuses or fails", "check the resolver (/etc/resolv.conf); in a container, its DNS settings"
}

func (c *checkup) explainRefused(v *visit) (what, cause, fix string) {
	what = "nothing listens at " + c.base.Host
	switch {
	case c.via != nil:
		return "the proxy " + c.Upstream.Proxy + " cannot be reached", "it does not run, or its address is wrong", "start it, correct its address, or set proxy: off for this upstream"
	case v.fake():
		return what, "the name resolves to a fake IP, and the proxy program behind it does not take the connection", "start that program, or let it resolve this name for real"
	case c.up.AllowPrivate:
		return what, "the model server is not started, or listens on another port or address", "start it; in a container localhost is the container itself: use the host's name"
	}
	return what, "the port is wrong, or a firewall refuses the connection", "correct the port in base_url"
}

// explainSilence: how far it came says who is silent.
func (c *checkup) explainSilence(v *visit) (what, cause, fix string) {
	switch {
	case v.dialTo.IsZero() && !v.dnsFrom.IsZero() && v.dnsTo.IsZero():
		return "DNS does not answer", "the name server of this machine is down or cannot be reached", "check the network and the resolver (/etc/resolv.conf)"
	case v.dialTo.IsZero():
		cause := "a firewall drops the packets, or the way needs a VPN or proxy"
		if v.fake() {
			cause = "the proxy program behind the fake IP does not get through"
		}
		return fmt.Sprintf("no connection to %s within %s", c.dialed(), c.connectLimit()), cause, "set HTTPS_PROXY, or proxy: for this upstream; raise timeouts.connect if the way is only slow"
	case c.base.Scheme == "https" && v.tlsTo.IsZero():
		return "the connection stands, but the TLS handshake is not answered", "something between here and there swallows it, or the port speaks no TLS", "try http:// if the server has no TLS; otherwise use a proxy"
	}
	return fmt.Sprintf("%s takes connections but did not answer GET %s within %s", c.base.Host, c.shownPath(v.path), c.opt.Limit), "it hangs, or is overloaded", "calls will go to the next tier; ask whoever runs it"
}

func (c *checkup) dialed() string {
	if c.via != nil {
		return "the proxy " + c.via.Host
	}
	return c.base.Host
}

func (c *checkup) connectLimit() string {
	if d := c.up.Timeouts.Connect; d > 0 {
		return d.String()
	}
	return backstop.DefaultConnect.String()
}

func (c *checkup) explainTLS(v *visit) (what, cause, fix string) {
	var (
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
	)
	name := c.base.Hostname()
	switch {
	case errors.As(v.err, &record), strings.Contains(v.err.Error(), "server gave HTTP response to HTTPS"):
		return c.base.Host + " speaks no TLS on this port", "base_url says https, the server speaks plain http", "write http:// into base_url, or the port that speaks TLS"
	case errors.As(v.err, &host):
		return "the certificate that " + name + " shows is for another name", "DNS or a proxy leads somewhere else, or the server is set up wrongly", "correct base_url; if a proxy opens TLS connections, see its documentation for its CA"
	case errors.As(v.err, &unknown):
		by := ""
		if unknown.Cert != nil && len(unknown.Cert.Issuer.Organization) > 0 {
			by = " (issued by " + plainWords(unknown.Cert.Issuer.Organization[0]) + ")"
		}
		return "the certificate of " + name + " is not trusted" + by, "the server has a private CA, or a proxy opens TLS connections", "set ca: FILE with the CA in PEM for this upstream, or install it on this machine (in a slim image: ca-certificates)"
	case errors.As(v.err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate of " + name + " is not valid today", "it has expired, or the clock of this machine is wrong", "check the date of this machine; otherwise the server must renew it"
	}
	return "the TLS handshake with " + name + " fails", "the server wants another TLS version or a certificate of ours, or something in between breaks it", "use the vendor's own address; TLS 1.2 is the oldest that is spoken"
}

func (c *checkup) explainCut(v *visit) (what, cause, fix string) {
	if o := upstream.Classify(v.err, false); o.Class == backstop.Garbled {
		return c.base.Host + " answers something that is no HTTP", "another service listens on this port", "correct the port in base_url"
	}
	if !v.dialTo.IsZero() {
		cause := "a firewall cuts it, or the server wants TLS"
		if c.base.Scheme == "https" {
			cause = "a firewall cuts connections to this name, or the server is broken"
		}
		return c.base.Host + " takes the connection and closes it without an answer", cause, "try from another network, or through a proxy; check http:// and https:// in base_url"
	}
	return c.dialed() + " cannot be connected to", "the network refuses it", "check network, firewall and proxy settings of this machine"
}

func isTLS(err error) bool {
	o := upstream.Classify(err, false)
	return o.Kind == backstop.KindTLS
}

func isTimeout(err error) bool {
	var slow interface{ Timeout() bool }
	return errors.As(err, &slow) && slow.Timeout()
}

// refusalOf shows the status of a proxy if it is one that HTTP knows.
func refusalOf(err error) string {
	for _, status := range []int{407, 403, 502, 503, 504, 401, 400, 404, 405} {
		if strings.Contains(err.Error(), http.StatusText(status)) {
			return fmt.Sprintf(" (%d)", status)
		}
	}
	return ""
}

// plainWords keeps what a foreign name may show on a terminal.
func plainWords(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c > '~' {
			return '?'
		}
		return c
	}, s)
	return s[:min(len(s), 60)]
}
