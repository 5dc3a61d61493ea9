package jsonfix

import (
	"encoding/json"
	"html"
	"runtime"
	"strings"
	"testing"
	"time"
)

// row is a damaged document and the one that is meant, if it is whole.
type row struct{ name, src, want string }

// rows are documents of about n bytes with one kind of damage at every place
// where it can stand.
func rows(n int) []row {
	large := string(bareDocument(n))
	plain := strings.ReplaceAll(large, `\"`, "")
	keys := strings.NewReplacer(`"id":`, `id:`, `"name":`, `name:`, `"price":`, `price:`, `"tags":`, `tags:`, `"ok":`, `ok:`, `"items":`, `items:`)
	return []row{
		{"cut", large[:len(large)-30], ""},
		{"cut in a string", large[:len(large)-9], ""},
		{"a trailing comma at the end", large[:len(large)-1] + ",}", large},
		{"a single quote at the start", `{'a':1,` + large[1:], `{"a":1,` + large[1:]},
		{"every quote single", strings.ReplaceAll(plain, `"`, `'`), plain},
		{"every quote typographic", typographic(plain), plain},
		{"every quote full-width", strings.ReplaceAll(plain, `"`, `＂`), plain},
		{"every quote a backtick", strings.ReplaceAll(plain, `"`, "`"), plain},
		{"every key bare", keys.Replace(large), large},
		{"every quote single, Python words", strings.ReplaceAll(strings.ReplaceAll(plain, `"`, `'`), "true", "True"), plain},
		{"every literal Python's", strings.ReplaceAll(large, "true", "True"), large},
		{"every number signed", strings.ReplaceAll(large, ":12", ":+12"), large},
		{"every object with a trailing comma", strings.ReplaceAll(large, "}", ",}"), large},
		{"every comma between objects missing", strings.ReplaceAll(large, "},{", "}\n{"), large},
		{"every comma missing", strings.ReplaceAll(plain, `,"`, ` "`), plain},
		{"every colon an equals sign", strings.ReplaceAll(large, `":`, `"=`), large},
		{"every colon full-width", strings.ReplaceAll(large, `":`, `"：`), large},
		{"a comment in every object", strings.ReplaceAll(large, `"id"`, "// one\n\"id\""), large},
		{"a line break in every string", strings.ReplaceAll(large, "Widget", "Wid\nget"), strings.ReplaceAll(large, "Widget", `Wid\nget`)},
		{"an inner quote pair in every name", strings.ReplaceAll(large, `\"`, `"`), large},
		{"an unknown escape in every name", strings.ReplaceAll(large, "Widget", `Wid\dget`), strings.ReplaceAll(large, "Widget", `Wid\\dget`)},
		{"escaped once", strings.ReplaceAll(strings.ReplaceAll(large, `\`, `\\`), `"`, `\"`), large},
		{"escaped for HTML", html.EscapeString(large), large},
		{"one document a line", strings.ReplaceAll(large[len(`{"items":[`):len(large)-2], "},{", "}\n{"), large[len(`{"items":`) : len(large)-1]},
		{"fenced", "```json\n" + large + "\n```", large},
		{"an opener missing", large[1:], large},
	}
}

func TestDamageEverywhereIsRepaired(t *testing.T) {
	for _, row := range rows(8 << 10) {
		src := []byte(row.src)
		checkResult(t, src)
		r, err := Repair(src, Options{})
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		got, _ := decode(r.JSON)
		if want, err := decode([]byte(row.want)); err == nil && !same(got, want) || r.Truncated != (row.want == "") {
			t.Errorf("%s: another value, or truncated %v", row.name, r.Truncated)
		}
	}
}

func typographic(s string) string {
	var b strings.Builder
	open := true
	for _, r := range s {
		if r != '"' {
			b.WriteRune(r)
			continue
		}
		if open {
			b.WriteString("“")
		} else {
			b.WriteString("”")
		}
		open = !open
	}
	return b.String()
}

// BenchmarkRows gives the speed of each row beside that of encoding/json.Valid
// for the undamaged document, and the memory beside the length of the input.
func BenchmarkRows(b *testing.B) {
	base := bareDocument(100 << 10)
	for _, row := range rows(100 << 10) {
		src := []byte(row.src)
		b.Run(strings.ReplaceAll(row.name, " ", "-"), func(b *testing.B) {
			b.ReportAllocs()
			ratio := 0.0
			for b.Loop() {
				least := bestOf(5, func() {
					if _, err := Repair(src, Options{}); err != nil {
						b.Fatal(err)
					}
				})
				std := bestOf(5, func() {
					if !json.Valid(base) {
						b.Fatal()
					}
				})
				speed := float64(len(src)) / least.Seconds()
				ratio = max(ratio, speed/(float64(len(base))/std.Seconds()))
			}
			b.ReportMetric(ratio, "of-Valid")
			b.ReportMetric(float64(allocated(src))/float64(len(src)), "B/input")
		})
	}
}

// bestOf is the least time of a few runs.
func bestOf(n int, run func()) time.Duration {
	least := time.Hour
	for range n {
		from := time.Now()
		run()
		least = min(least, time.Since(from))
	}
	return least
}

// allocated is how many bytes one repair takes from the heap.
func allocated(src []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = Repair(src, Options{})
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
