// Package secret holds values that must never be printed.
//
// Stability: stable.
package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
)

const mask = "[secret]"

// Value is a credential. Every formatter prints it as "[secret]"; only
// [Value.Reveal] gives the text, and it is called where a header is written.
// The zero Value is empty. Values are immutable and safe for concurrent use.
type Value struct {
	_    [0]func() // not comparable: == on secrets does not compile
	text string
}

// New wraps a credential.
func New(text string) Value { return Value{text: text} }

// Reveal returns the credential itself.
func (v Value) Reveal() string { return v.text }

// Empty reports whether there is no credential.
func (v Value) Empty() bool { return v.text == "" }

// Len is the number of bytes of the credential.
func (v Value) Len() int { return len(v.text) }

// Sum is the SHA-256 of the credential, for lookups without the text.
func (v Value) Sum() [32]byte { return sha256.Sum256([]byte(v.text)) }

// Equal compares in constant time for any two lengths.
func (v Value) Equal(w Value) bool {
	a, b := v.Sum(), w.Sum()
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// String implements fmt.Stringer.
func (v Value) String() string { return mask }

// GoString implements fmt.GoStringer.
func (v Value) GoString() string { return mask }

// MarshalText keeps the credential out of JSON, YAML and logs.
func (v Value) MarshalText() ([]byte, error) { return []byte(mask), nil }

// Format keeps the credential out of every fmt verb.
func (v Value) Format(f interface{ Write([]byte) (int, error) }, _ rune) {
	_, _ = io.WriteString(f, mask)
}
