package wire

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A relay that cuts a text by its UTF-16 units sends the two halves of a
// character in two events. Decoders tell a half as the three bytes that UTF-8
// would have for it (see TextReader), and a Bridge puts halves together.

// maxHalves bounds how many wait: each new part may leave one behind.
const maxHalves = 256

// halves are those that wait for their other half.
type halves struct{ list []half }

type half struct {
	kind         DeltaKind
	choice, part int
	bytes        string
}

// join adds to a delta the half that waits for it, and takes off the one at its
// end. A half that has no other one is U+FFFD, or nothing at the end of a part.
func (h *halves) join(d *Delta) {
	switch d.Kind {
	case DeltaText, DeltaReasoning, DeltaRefusal, DeltaArguments:
	default:
		return
	}
	for i, x := range h.list {
		if x.kind == d.Kind && x.choice == d.Choice && x.part == d.Part {
			d.Text = x.bytes + d.Text
			h.list = append(h.list[:i], h.list[i+1:]...)
			break
		}
	}
	if strings.IndexByte(d.Text, halfLead) < 0 {
		return
	}
	if n := len(d.Text) - halfSize; n >= 0 && unit(d.Text[n:])>>10 == highHalf {
		if len(h.list) == maxHalves {
			h.list = append(h.list[:0], h.list[1:]...)
		}
		h.list = append(h.list, half{d.Kind, d.Choice, d.Part, d.Text[n:]})
		d.Text = d.Text[:n]
	}
	d.Text = paired(d.Text)
}

const (
	halfSize = 3
	halfLead = 0xED // the first byte of a half
	highHalf = 0xD800 >> 10
	lowHalf  = 0xDC00 >> 10
)

// unit is the half that a text begins with, 0 = none.
func unit(s string) rune {
	if len(s) < halfSize || s[0] != halfLead || s[1] < 0xA0 {
		return 0
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
}

// paired puts the halves in a text together.
func paired(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		i := strings.IndexByte(s, halfLead)
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		high := unit(s)
		switch low := rune(0); {
		case high == 0:
			_, n := utf8.DecodeRuneInString(s)
			b.WriteString(s[:n])
			s = s[n:]
			continue
		case high>>10 == highHalf:
			if low = unit(s[halfSize:]); low>>10 == lowHalf {
				b.WriteRune(0x10000 + (high&0x3FF)<<10 + low&0x3FF)
				s = s[2*halfSize:]
				continue
			}
		}
		b.WriteRune(utf8.RuneError)
		s = s[halfSize:]
	}
	b.WriteString(s)
	return b.String()
}

// Spoken is the string of a value as a decoder tells it: with the halves of
// characters that it ends or begins with. Else a half would be U+FFFD.
func Spoken(v gjson.Result) string {
	if !strings.ContainsRune(v.Str, utf8.RuneError) || len(v.Raw) < 2 {
		return v.Str
	}
	raw, b := v.Raw[1:len(v.Raw)-1], []byte(nil)
	for len(raw) > 0 {
		i := strings.IndexByte(raw, '\\')
		if i < 0 || i+1 >= len(raw) {
			break
		}
		b, raw = append(b, raw[:i]...), raw[i:]
		n := 2
		if raw[1] == 'u' && len(raw) >= 6 {
			n = 6
			if u, err := strconv.ParseUint(raw[2:6], 16, 16); err == nil && u>>11 == 0xD800>>11 {
				b = append(b, halfLead, 0x80|byte(u>>6&0x3F), 0x80|byte(u&0x3F))
				raw = raw[n:]
				continue
			}
		}
		b = append(b, gjson.Parse(`"`+raw[:n]+`"`).Str...)
		raw = raw[n:]
	}
	return string(append(b, raw...))
}
