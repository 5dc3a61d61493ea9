package value

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// cases runs one reader over texts; want "" means that the text is refused.
func cases[T comparable](t *testing.T, read func(string) (T, error), want map[string]T, refused ...string) {
	t.Helper()
	for text, w := range want {
		if got, err := read(text); err != nil || got != w {
			t.Errorf("%q = %v, %v; want %v", text, got, err, w)
		}
	}
	for _, text := range refused {
		got, err := read(text)
		var f *Fault
		if !errors.As(err, &f) || f.Message == "" {
			t.Errorf("%q = %v, %v; want a fault", text, got, err)
		}
	}
}

func TestDurationsHaveAUnit(t *testing.T) {
	cases(t, Duration, map[string]time.Duration{"4500ms": 4500 * time.Millisecond, "1m30s": 90 * time.Second, "0": 0, "off": 0, "24h": 24 * time.Hour},
		"4500", "", "-1s", "soon", "1 s", "9999h", "1e9s")
}

func TestRangesHaveTheSmallerEndFirst(t *testing.T) {
	cases(t, Jitter, map[string]Range{"200ms-500ms": {200 * time.Millisecond, 500 * time.Millisecond}, "1s - 2s": {time.Second, 2 * time.Second}, "300ms": {300 * time.Millisecond, 300 * time.Millisecond}, "0": {}},
		"500ms-200ms", "200-500", "-", "200ms-", "a-b")
}

func TestSizesCountBytes(t *testing.T) {
	cases(t, Size, map[string]int64{"20MiB": 20 << 20, "64 kB": 64000, "1g": 1 << 30, "12": 12, "0.5KiB": 512, "7B": 7},
		"big", "-1MiB", "1e99GiB", "", "NaN", "Inf")
}

func TestRatesArePerSecond(t *testing.T) {
	cases(t, Rate, map[string]float64{"100/s": 100, "600/m": 10, "3600/hour": 1, "5": 5, "0": 0, "off": 0},
		"100/fortnight", "x/s", "-1/s", "NaN", "/s", "")
}

func TestSharesLieBetweenNoneAndAll(t *testing.T) {
	cases(t, Share, map[string]float64{"10%": 0.1, "0.25": 0.25, "100 %": 1, "off": 0}, "150%", "-1%", "10", "%", "NaN%")
}

func TestSwitchesAndWholeNumbers(t *testing.T) {
	cases(t, Switch, map[string]bool{"on": true, "Off": false, "TRUE": true, "no": false}, "1", "", "maybe")
	cases(t, Whole, map[string]int{"0": 0, "1_000": 1000, "42": 42}, "-1", "1.5", "", "9999999999")
}

func lookup(name string, file bool) (string, error) {
	switch {
	case file && name == "a/b":
		return "content", nil
	case name == "X":
		return "x${X}", nil
	case name == "EMPTY":
		return "", nil
	}
	return "", &Fault{"is not set", ""}
}

func TestReferencesAreExpandedOnceAndNeverAgain(t *testing.T) {
	expand := func(text string) (string, error) {
		got, _, err := Expand(text, lookup)
		return got, err
	}
	cases(t, expand, map[string]string{
		"plain": "plain", "$5 and $X": "$5 and $X", "${X}": "x${X}", "a${X}b${X}": "ax${X}bx${X}", "${NONE:-d}": "d", "${EMPTY:-}": "",
		"${EMPTY:-a:-b}": "a:-b", "${file:a/b}": "content", "$${X}": "${X}", "$${": "${", "$$${X}": "$${X}", "{{model}}": "{{model}}",
	}, "${NONE}", "${EMPTY}", "${file:none}", "${X", "${}", "${a b}", "${1X}", "${NONE:-${X}}", "${X:-${NONE}}")
	_, ref, err := Expand("ab${NONE}", lookup)
	if err == nil || ref.Offset != 2 || ref.Text != "${NONE}" {
		t.Errorf("reference = %+v, %v", ref, err)
	}
}

func TestAnExpansionIsBounded(t *testing.T) {
	big := func(string, bool) (string, error) { return strings.Repeat("x", 1<<16), nil }
	if _, _, err := Expand(strings.Repeat("${X}", 1000), big); err == nil {
		t.Error("65 MB are accepted")
	}
}

func FuzzValue(f *testing.F) {
	for _, s := range []string{"4500ms", "200ms-500ms", "20MiB", "100/s", "10%", "on", "${X:-${Y}}", "$${"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := Duration(s); err == nil && (d < 0 || d > Longest) {
			t.Fatalf("%q = %s", s, d)
		}
		if r, err := Jitter(s); err == nil && (r.Min < 0 || r.Min > r.Max) {
			t.Fatalf("%q = %v", s, r)
		}
		if n, err := Size(s); err == nil && n < 0 {
			t.Fatalf("%q = %d", s, n)
		}
		if v, err := Rate(s); err == nil && !(v >= 0 && v <= 1e9) {
			t.Fatalf("%q = %v", s, v)
		}
		if v, err := Share(s); err == nil && !(v >= 0 && v <= 1) {
			t.Fatalf("%q = %v", s, v)
		}
		if got, _, err := Expand(s, lookup); err == nil && !strings.Contains(s, "${") && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
