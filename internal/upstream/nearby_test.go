package upstream

import (
	"context"
	"net"
	"testing"
	"time"
)

func TestANearbyDialReachesPrivateAddressesOnly(t *testing.T) {
	ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	dial := DialNearby(time.Second)
	conn, err := dial(context.Background(), "tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	for _, addr := range []string{"8.8.8.8:80", "169.254.169.254:80", "[fd00:ec2::254]:80", "[2001:4860:4860::8888]:80", "100.100.100.200:80", "198.18.0.1:80", "0.0.0.0:80"} {
		if conn, err := dial(context.Background(), "tcp", addr); err == nil {
			conn.Close()
			t.Errorf("%s was dialed", addr)
		}
	}
}
