package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// resolveListen turns an address of the file into host:port addresses to
// listen on, or says what is wrong with it.
func resolveListen(address string) (list []string, why, hint string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, "is not an address", "write host:port, e.g. localhost:3000"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return nil, "has no port from 0 to 65535", "write host:port, e.g. localhost:3000"
	}
	switch {
	case strings.EqualFold(host, "localhost"):
		return []string{"127.0.0.1:" + port, "[::1]:" + port}, "", ""
	case host != "" && net.ParseIP(withoutZone(host)) == nil && !hostName(host):
		return nil, "has no valid host", "write host:port, e.g. localhost:3000"
	}
	return []string{net.JoinHostPort(host, port)}, "", ""
}

func withoutZone(host string) string {
	host, _, _ = strings.Cut(host, "%")
	return host
}

func hostName(host string) bool {
	for i := 0; i < len(host); i++ {
		c := host[i]
		if c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c < 0x80 {
			return false
		}
	}
	return host != "" && len(host) <= 253
}

// loopbackOnly reports whether no other machine reaches the addresses. A name
// other than localhost may mean anything, so it does not count.
func loopbackOnly(list []string) bool {
	for _, a := range list {
		host, _, err := net.SplitHostPort(a)
		if err != nil {
			return false
		}
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Unmap().IsLoopback() {
			return false
		}
	}
	return true
}

// place is how far away a base URL is.
type place uint8

const (
	public   place = iota // or a name that only DNS knows
	loopback              // this machine
	private               // this network
	never                 // link-local and metadata addresses: never dialed
)

var sharedNet = netip.MustParsePrefix("100.64.0.0/10")

// placeOf says where the host of a URL is as far as its text tells.
func placeOf(host string) place {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return loopback
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return public
	}
	ip = ip.Unmap().WithZone("")
	switch {
	case ip.IsLoopback(), ip.IsUnspecified():
		return loopback
	case ip.IsLinkLocalUnicast(), ip.IsMulticast(), ip == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return never
	case ip.IsPrivate(), sharedNet.Contains(ip):
		return private
	}
	return public
}

// checkBaseURL reads a base URL strictly. The result has no trailing slash.
func checkBaseURL(text string) (u *url.URL, why, hint string) {
	u, err := url.Parse(text)
	switch {
	case err != nil || strings.ContainsAny(text, " \t\n\\"):
		return nil, "is not a URL", "write for example https://api.openai.com/v1"
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, "is not an absolute http or https URL", "write for example https://api.openai.com/v1"
	case u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		return nil, "has no host", "write for example https://api.openai.com/v1"
	case u.User != nil:
		return nil, "holds a user name or password", "put the credential into key"
	case u.RawQuery != "" || u.ForceQuery:
		return nil, "has a query", "put it into query: {name: value}"
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return nil, "has a fragment", "remove what follows #"
	case !goodPort(u):
		return nil, "has no port from 1 to 65535", ""
	case strings.Contains(u.Path, "/../") || strings.HasSuffix(u.Path, "/.."):
		return nil, "has .. in its path", "write the path out"
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u, "", ""
}

func goodPort(u *url.URL) bool {
	if strings.HasSuffix(u.Host, ":") {
		return false
	}
	if u.Port() == "" {
		return true
	}
	n, err := strconv.Atoi(u.Port())
	return err == nil && n >= 1 && n <= 65535
}

// port returns the port of a URL, the scheme's own if it names none.
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// ownListener reports whether a URL leads back to one of our listeners: every
// call would go round in a circle.
func ownListener(u *url.URL, listen []string) bool {
	for _, a := range listen {
		host, p, err := net.SplitHostPort(a)
		if err != nil || p != port(u) || p == "0" {
			continue
		}
		if strings.EqualFold(host, u.Hostname()) {
			return true
		}
		ip, err := netip.ParseAddr(host)
		wide := host == "" || err == nil && ip.IsUnspecified()
		here := err == nil && ip.Unmap().IsLoopback()
		target, literal := netip.ParseAddr(u.Hostname())
		switch {
		case placeOf(u.Hostname()) != loopback:
		case wide, literal != nil && here:
			return true
		case here && (target.IsUnspecified() || target.Unmap() == ip.Unmap()):
			return true
		}
	}
	return false
}
