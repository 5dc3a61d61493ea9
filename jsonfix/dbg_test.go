package jsonfix

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestDbg(t *testing.T) {
	for _, s := range strings.Split(os.Getenv("DBG"), "\x01") {
		if u, err := strconv.Unquote(s); err == nil {
			s = u
		}
		f := newFinder([]byte(s))
		f.walk()
		t.Logf("%q found=%d why=%s", s, len(f.found), f.why)
		for _, c := range f.found {
			t.Logf("  %q rank %d cut %v where %q %v", c.json, c.rank, c.cut, c.where, c.notes)
		}
		r, err := Repair([]byte(s), Options{})
		t.Logf("  => %q %+v %v", r.JSON, r, err)
	}
}
