package wire

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// With its halves put together, what is told of a value is what encoding/json
// reads.
func FuzzSpoken(f *testing.F) {
	for _, s := range []string{"", "a", `\ud83c`, `\ud83c\udf0d`, `\\ud83c`, `\"\u00e9\b`, `\udf0d\ud83c`, "\ufffd\\n", `\ud83c\u0041`, `\ud83c\ud83c\udf0d`, "\ud55c\ud7ff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, want := []byte(`"`+s+`"`), ""
		if !utf8.Valid(raw) || json.Unmarshal(raw, &want) != nil {
			return
		}
		if got := paired(Spoken(gjson.ParseBytes(raw))); got != want {
			t.Errorf("%+q, want %+q", got, want)
		}
	})
}
