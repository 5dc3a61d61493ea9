//go:build linux

package epoll

import (
	"errors"
	"net/netip"

	"golang.org/x/sys/unix"
)

// Read reads what is there; later tells that nothing is there yet.
func Read(fd int, b []byte) (n int, later bool, err error) {
	n, err = unix.Read(fd, b)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return 0, true, nil
	}
	return max(n, 0), false, err
}

// Write writes what the socket takes now.
func Write(fd int, b []byte) (n int, err error) {
	n, err = unix.Write(fd, b)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	return max(n, 0), err
}

// Close closes a socket.
func Close(fd int) { _ = unix.Close(fd) }

// Abort closes a socket with a reset.
func Abort(fd int) {
	_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	_ = unix.Close(fd)
}

const kind = unix.SOCK_STREAM | unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC

// Listen opens an IPv4 listener.
func Listen(at netip.AddrPort) (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_INET, kind, 0); err != nil {
		return 0, err
	}
	if err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err == nil {
		err = unix.Bind(fd, address(at))
	}
	if err == nil {
		err = unix.Listen(fd, 4096)
	}
	if err != nil {
		Close(fd)
	}
	return fd, err
}

// Accept takes the next connection; ok is false when there is none.
func Accept(listener int) (fd int, ok bool) {
	fd, _, err := unix.Accept4(listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err != nil {
		return 0, false
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	return fd, true
}

// Dial begins to connect; the socket is writable once it stands.
func Dial(to netip.AddrPort) (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_INET, kind, 0); err != nil {
		return 0, err
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err = unix.Connect(fd, address(to)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		Close(fd)
		return 0, err
	}
	return fd, nil
}

func address(a netip.AddrPort) unix.Sockaddr {
	return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
}
