package wire

import "testing"

// Every part of a stream may end in a half, and of those there may be millions.
func TestHalvesThatWaitAreBounded(t *testing.T) {
	var h halves
	for part := range 10 * maxHalves {
		h.join(&Delta{Kind: DeltaText, Part: part, Text: "a\xed\xa0\xbc"})
	}
	if len(h.list) != maxHalves {
		t.Errorf("%d wait", len(h.list))
	}
	for _, part := range []int{9 * maxHalves, 10*maxHalves - 1} {
		d := Delta{Kind: DeltaText, Part: part, Text: "\xed\xbc\x8d"}
		if h.join(&d); d.Text != "🌍" {
			t.Errorf("part %d: %+q", part, d.Text)
		}
	}
}
