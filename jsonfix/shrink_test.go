package jsonfix

import (
	"encoding/json"
	"math/rand/v2"
	"sort"
	"testing"
)

func bad(src []byte) bool {
	r, err := Repair(src, Options{})
	if err != nil {
		return r.Reason == brokenRepair
	}
	return !json.Valid(r.JSON) || r.Status == StatusRepaired && len(r.Repairs) == 0
}
func TestShrink(t *testing.T) {
	d := &draw{Rand: rand.New(rand.NewPCG(7, 8))}
	out := map[string]bool{}
	for range 100000 {
		src := damage(d, d.document())
		if !bad(src) {
			continue
		}
		for again := true; again; {
			again = false
			for w := len(src) / 2; w >= 1; w /= 2 {
				for i := 0; i+w <= len(src); i++ {
					c := append(append([]byte{}, src[:i]...), src[i+w:]...)
					if bad(c) {
						src = c
						again = true
						break
					}
				}
			}
		}
		out[string(src)] = true
		if len(out) > 40 {
			break
		}
	}
	var l []string
	for s := range out {
		l = append(l, s)
	}
	sort.Strings(l)
	for _, s := range l {
		t.Logf("%q", s)
	}
}
