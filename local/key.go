package local

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
	"slices"

	"backstop/wire"
)

// Key names a request of one caller on one route.
type Key [32]byte

// KeyOf makes the key under which a request's answer is kept: HMAC-SHA256,
// under a secret of the process, over caller, route, dialect, operation, model
// and the normalised body, each with its length before it. Without the secret
// nobody can tell from a key what was asked.
//
// Two bodies have the same key if and only if they differ in nothing but white
// space, the order of members and the top-level stream and stream_options,
// which change how an answer is delivered and not what it says. Doubled
// members, and other spellings of a number or string, make another key: a miss
// costs less than a wrong answer.
func KeyOf(secretSeed []byte, caller, route string, r *wire.Request) Key {
	mac := hmac.New(sha256.New, secretSeed)
	for _, s := range [...]string{caller, route, string(r.Dialect), string(r.Op), r.Model} {
		writeSized(mac, []byte(s))
	}
	if json.Valid(r.Body) {
		mac.Write([]byte{'v'})
		w := walker{b: r.Body}
		digest := w.value(true)
		mac.Write(digest[:])
	} else { // never read by a dialect room: exact bytes only
		mac.Write([]byte{'x'})
		writeSized(mac, r.Body)
	}
	var k Key
	mac.Sum(k[:0])
	return k
}

func writeSized(h hash.Hash, b []byte) {
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(b)))
	h.Write(size[:])
	h.Write(b)
}

// delivery holds the top-level members that do not change an answer.
var delivery = map[string]bool{"stream": true, "stream_options": true}

// walker hashes a valid document bottom up: every value becomes a digest of
// its kind and its parts, so the cost is linear however deep it is nested.
type walker struct {
	b      []byte
	i      int
	scalar []byte
}

type digest = [sha256.Size]byte

// value hashes the value at the current place and moves behind it.
func (w *walker) value(top bool) digest {
	w.i = space(w.b, w.i)
	switch w.b[w.i] {
	case '{':
		return w.object(top)
	case '[':
		return w.array()
	}
	from := w.i
	if w.b[from] == '"' {
		w.i = stringEnd(w.b, from)
	} else {
		for w.i < len(w.b) && bytes.IndexByte([]byte(",]} \t\r\n"), w.b[w.i]) < 0 {
			w.i++
		}
	}
	w.scalar = append(append(w.scalar[:0], 's'), w.b[from:w.i]...)
	return sha256.Sum256(w.scalar)
}

type member struct {
	key   []byte // with quotes
	value digest
}

func (w *walker) object(top bool) digest {
	var list []member
	w.i++
	for w.more('}') {
		from := w.i
		w.i = stringEnd(w.b, from)
		key := w.b[from:w.i]
		w.i = space(w.b, w.i) + 1 // the colon
		v := w.value(false)
		if !top || !delivery[name(key)] {
			list = append(list, member{key, v})
		}
	}
	slices.SortStableFunc(list, func(x, y member) int { return bytes.Compare(x.key, y.key) })
	h := sha256.New()
	h.Write([]byte{'o'})
	for _, m := range list {
		writeSized(h, m.key)
		h.Write(m.value[:])
	}
	return digest(h.Sum(nil))
}

func (w *walker) array() digest {
	h := sha256.New()
	h.Write([]byte{'a'})
	w.i++
	for w.more(']') {
		v := w.value(false)
		h.Write(v[:])
	}
	return digest(h.Sum(nil))
}

// more moves to the next part of an object or array, or behind its end.
func (w *walker) more(end byte) bool {
	w.i = space(w.b, w.i)
	switch w.b[w.i] {
	case end:
		w.i++
		return false
	case ',':
		w.i = space(w.b, w.i+1)
	}
	return true
}

// name is a key without quotes and escapes.
func name(key []byte) string {
	var s string
	if json.Unmarshal(key, &s) != nil {
		return ""
	}
	return s
}
