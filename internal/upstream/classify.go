package upstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"backstop"
)

// Classify turns an error of Do, or of reading the body it returned, into the
// outcome of the attempt. headers says whether response headers had arrived:
// before them a fault is the endpoint's, after them the model's. The outcome
// holds fixed words only, nothing of the error's text.
func Classify(err error, headers bool) backstop.Outcome {
	o := backstop.Outcome{InputTokens: -1, OutputTokens: -1, NextTier: true, Counts: backstop.CountsEndpoint}
	if headers {
		o.Counts = backstop.CountsModel
	}
	o.Class, o.Kind = verdict(err)
	switch {
	case o.Class == backstop.Canceled:
		o.Counts, o.NextTier = backstop.CountsNone, o.Kind == backstop.KindBug
	case o.Class == backstop.Garbled:
		o.Counts = backstop.CountsModel
	case o.Kind == backstop.KindReset:
		o.RetrySame = true
	}
	return o
}

func verdict(err error) (backstop.Class, backstop.Kind) {
	var (
		dns  *net.DNSError
		op   *net.OpError
		slow interface{ Timeout() bool }
	)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return backstop.Canceled, backstop.KindCaller
	case errors.Is(err, errPath):
		return backstop.Canceled, backstop.KindBug
	case errors.Is(err, errEncoding), errors.Is(err, errBomb):
		return backstop.Garbled, backstop.KindProtocol
	case errors.As(err, &dns):
		return backstop.Broken, backstop.KindDNS
	case isTLS(err):
		return backstop.Broken, backstop.KindTLS
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "socks connect"):
		if op.Timeout() {
			return backstop.Broken, backstop.KindConnect
		}
		return backstop.Broken, backstop.KindDial
	case isReset(err):
		return backstop.Broken, backstop.KindReset
	case errors.As(err, &slow) && slow.Timeout():
		return backstop.Broken, backstop.KindConnect // only a TLS handshake has a limit of its own
	case isProtocol(err):
		return backstop.Garbled, backstop.KindProtocol
	}
	return backstop.Broken, backstop.KindReset
}

func isTLS(err error) bool {
	var (
		record  tls.RecordHeaderError
		alert   tls.AlertError
		verify  *tls.CertificateVerificationError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		host    x509.HostnameError
	)
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) ||
		errors.As(err, &unknown) || errors.As(err, &invalid) || errors.As(err, &host) ||
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

func isReset(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// isProtocol recognises answers that are no HTTP. net/http has no types for
// them, so its words decide; an unknown word counts as a reset, which is the
// milder mistake.
func isProtocol(err error) bool {
	text := err.Error()
	for _, word := range [...]string{"malformed", "invalid byte in chunk length", "chunk", "bad status", "header", "unsupported transfer encoding", "Content-Length"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
