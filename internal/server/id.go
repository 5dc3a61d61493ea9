package server

import (
	"math/rand/v2"
	"time"
)

// maxID is the longest request id that is taken over from a caller.
const maxID = 128

// digits are Crockford's, which leave out letters that look like others.
const digits = "0123456789abcdefghjkmnpqrstvwxyz"

// requestID takes over a caller's id if it is harmless in headers, logs and
// URLs, else it makes one: 48 bits of milliseconds and 80 random bits in base
// 32, so ids sort by time.
func requestID(given string, now time.Time) string {
	if harmless(given) {
		return given
	}
	var id [26]byte
	fill(id[:10], uint64(now.UnixMilli()))
	fill(id[10:18], rand.Uint64())
	fill(id[18:], rand.Uint64())
	return string(id[:])
}

func fill(to []byte, n uint64) {
	for i := len(to) - 1; i >= 0; i-- {
		to[i] = digits[n&31]
		n >>= 5
	}
}

func harmless(id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
