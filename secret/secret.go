// Package secret holds values that must never be printed.
//
// Stability: stable.
package secret

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

const mask = "[secret]"

// Value is a credential. Every formatter and encoder prints it as "[secret]";
// only [Value.Reveal] gives the text, and it is called where a header is
// written. The zero Value is empty. Values are immutable and safe for
// concurrent use.
type Value struct {
	_ [0]func() // not comparable: == on secrets does not compile

	// The text sits behind a pointer because fmt does not ask an unexported
	// field of some other struct for its methods, nor any value under a wrong
	// verb; it prints the memory then, and of a pointer only the address.
	text *string
}

// New wraps a credential.
func New(text string) Value {
	if text == "" {
		return Value{}
	}
	return Value{text: &text}
}

// Reveal returns the credential itself.
func (v Value) Reveal() string {
	if v.text == nil {
		return ""
	}
	return *v.text
}

// Empty reports whether there is no credential.
func (v Value) Empty() bool { return v.text == nil }

// Len is the number of bytes of the credential.
func (v Value) Len() int { return len(v.Reveal()) }

// Sum is the SHA-256 of the credential, for lookups without the text.
func (v Value) Sum() [sha256.Size]byte { return sha256.Sum256([]byte(v.Reveal())) }

// Equal reports whether two credentials are the same text. Its time depends
// on their lengths at most, not on where they differ.
func (v Value) Equal(w Value) bool {
	a, b := v.Sum(), w.Sum()
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// String implements fmt.Stringer.
func (v Value) String() string { return mask }

// GoString implements fmt.GoStringer.
func (v Value) GoString() string { return mask }

// Format implements fmt.Formatter: the mask for every verb, flag and width.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, mask) }

// MarshalText implements encoding.TextMarshaler, which JSON, YAML and XML
// encoders use.
func (v Value) MarshalText() ([]byte, error) { return []byte(mask), nil }

// LogValue implements slog.LogValuer.
func (v Value) LogValue() slog.Value { return slog.StringValue(mask) }
