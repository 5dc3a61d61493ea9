package upstream

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Errors of the dial guard. They name no address: the operator knows it from
// the plan or from `doctor`.
var (
	errForbidden = errors.New("leads to an address that is never dialed (link-local, metadata, multicast or reserved)")
	errPrivate   = errors.New("leads to a loopback or private address: set allow_private: true if that is meant")
)

// never are the ranges that no setting opens: they hold instance metadata or
// no host at all.
var never = prefixes(
	"0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4",
	"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32",
	"::/128", "fe80::/10", "ff00::/8", "fd00:ec2::/32", "fd20:ce::254/128",
)

// private are the ranges that need allow_private. 198.18.0.0/15 is missing on
// purpose: fake-IP resolvers answer with it for public names.
var private = prefixes(
	"127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24",
	"::1/128", "fc00::/7", "fec0::/10",
)

// embedding are IPv6 ranges whose last or next bits are an IPv4 address.
var (
	nat64     = netip.MustParsePrefix("64:ff9b::/96")
	nat64Own  = netip.MustParsePrefix("64:ff9b:1::/48") // of the network that one is in (RFC 8215)
	siit      = netip.MustParsePrefix("::ffff:0:0:0/96")
	sixToFour = netip.MustParsePrefix("2002::/16")
	compat    = netip.MustParsePrefix("::/96")
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}

// guard says whether an address may be dialed, nil = yes.
func guard(ip netip.Addr, allowPrivate bool) error {
	ip = plainAddr(ip)
	if !ip.IsValid() || within(never, ip) {
		return errForbidden
	}
	if !allowPrivate && within(private, ip) {
		return errPrivate
	}
	return nil
}

// plainAddr strips zones and unwraps IPv4 addresses inside IPv6 ones, so that
// no spelling of an address escapes the tables.
func plainAddr(ip netip.Addr) netip.Addr {
	ip = ip.WithZone("").Unmap()
	if !ip.Is6() {
		return ip
	}
	b := ip.As16()
	switch {
	case nat64.Contains(ip), nat64Own.Contains(ip), siit.Contains(ip), compat.Contains(ip) && ip != netip.IPv6Loopback() && ip != netip.IPv6Unspecified():
		return netip.AddrFrom4([4]byte(b[12:]))
	case sixToFour.Contains(ip):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return ip
}

func within(list []netip.Prefix, ip netip.Addr) bool {
	for _, p := range list {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}

// newDial returns a dialer whose guard sees the address after resolution,
// right before the connection is made: a name that changes its mind between
// check and use gains nothing.
func newDial(connect time.Duration, allowPrivate, guarded bool) func(context.Context, string, string) (net.Conn, error) {
	d := &net.Dialer{Timeout: connect, KeepAlive: 30 * time.Second}
	if guarded {
		d.Control = func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil {
				return errForbidden
			}
			return guard(ap.Addr(), allowPrivate)
		}
	}
	return d.DialContext
}
