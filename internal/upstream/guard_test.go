package upstream

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"backstop"
)

func TestGuard(t *testing.T) {
	const (
		open      = "open to all"
		private   = "open with allow_private"
		forbidden = "never"
	)
	for addr, want := range map[string]string{
		"8.8.8.8":                  open,
		"198.18.0.7":               open, // fake-IP resolvers
		"2606:4700::1111":          open,
		"127.0.0.1":                private,
		"127.8.0.1":                private,
		"10.1.2.3":                 private,
		"172.16.0.1":               private,
		"192.168.1.1":              private,
		"100.64.0.1":               private,
		"::1":                      private,
		"fd12::1":                  private,
		"::ffff:10.0.0.1":          private,
		"64:ff9b::10.0.0.1":        private,
		"169.254.169.254":          forbidden,
		"::ffff:169.254.169.254":   forbidden,
		"64:ff9b::169.254.169.254": forbidden,
		"::169.254.169.254":        forbidden,
		"64:ff9b:1::a9fe:a9fe":     forbidden,
		"64:ff9b:1::10.0.0.1":      private,
		"64:ff9b:1:a9fe:a9:fe00::": forbidden, // four bytes at another place: no address at all
		"::ffff:0:169.254.169.254": forbidden,
		"::ffff:0:127.0.0.1":       private,
		"2002:a9fe:a9fe::1":        forbidden,
		"fe80::1":                  forbidden,
		"fe80::1%eth0":             forbidden,
		"fd00:ec2::254":            forbidden,
		"100.100.100.200":          forbidden,
		"168.63.129.16":            forbidden,
		"0.0.0.0":                  forbidden,
		"0.1.2.3":                  forbidden,
		"::":                       forbidden,
		"224.0.0.1":                forbidden,
		"ff02::1":                  forbidden,
		"255.255.255.255":          forbidden,
		"240.0.0.1":                forbidden,
		"2002:7f00:1::1":           private,
		"64:ff9b::8.8.8.8":         open,
	} {
		t.Run(addr+" is "+want, func(t *testing.T) {
			ip := netip.MustParseAddr(addr)
			shut, lax := guard(ip, false), guard(ip, true)
			got := open
			switch {
			case lax != nil:
				got = forbidden
			case shut != nil:
				got = private
			}
			if got != want {
				t.Fatalf("guard = %s (%v, %v), want %s", got, shut, lax, want)
			}
		})
	}
}

func TestTheGuardSeesTheAddressThatANameResolvedTo(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	name := net.JoinHostPort("localhost", port)

	if _, err := newDial(time.Second, false, true)(context.Background(), "tcp4", name); !errors.Is(err, errPrivate) {
		t.Fatalf("dialing a name that resolves to loopback: %v, want the guard's refusal", err)
	}
	c, err := newDial(time.Second, true, true)(context.Background(), "tcp4", name)
	if err != nil {
		t.Fatalf("with allow_private: %v", err)
	}
	_ = c.Close()
}

func TestAnAddressInTheBaseURLIsCheckedWhenThePlanIsBuilt(t *testing.T) {
	for base, allowPrivate := range map[string]bool{
		"http://169.254.169.254/v1": true,
		"http://[fe80::1]/v1":       true,
		"http://127.0.0.1:9/v1":     false,
	} {
		u := backstop.DefaultUpstream()
		u.Name, u.BaseURL, u.AllowPrivate = "u", base, allowPrivate
		if _, err := New(&u, Options{}); err == nil {
			t.Errorf("New accepted %s with allow_private %v", base, allowPrivate)
		}
	}
}
