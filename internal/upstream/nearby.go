package upstream

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

var errPublic = errors.New("leads to a public address")

// DialNearby returns a dialer that reaches loopback and private addresses and
// nothing else, judged after resolution: for what may only ever talk to a
// program of the operator's own, such as the mock.
func DialNearby(connect time.Duration) func(context.Context, string, string) (net.Conn, error) {
	d := &net.Dialer{Timeout: connect, Control: func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil {
			return errForbidden
		}
		if err := guard(ap.Addr(), true); err != nil {
			return err
		}
		if !within(private, plainAddr(ap.Addr())) {
			return errPublic
		}
		return nil
	}}
	return d.DialContext
}
