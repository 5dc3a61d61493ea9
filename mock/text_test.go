package mock

import (
	"runtime"
	"strings"
	"testing"
)

func TestATextThatIsCutDoesNotKeepTheWhole(t *testing.T) {
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := held()
	cuts := make([]string, 64)
	for i := range cuts {
		cuts[i] = head(strings.Repeat("é", 1<<19), 255)
	}
	if after := held(); after > before+16<<20 {
		t.Errorf("%d cut texts hold %d MiB", len(cuts), (after-before)>>20)
	}
	for _, cut := range cuts {
		if cut != strings.Repeat("é", 127) {
			t.Fatalf("cut to %q", cut)
		}
	}
	if head("short", 255) != "short" {
		t.Error("a short text is changed")
	}
}
