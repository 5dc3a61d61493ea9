package docs_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"backstop"
	"backstop/internal/server"
	"backstop/sse"
)

// The bounds that the code exports are those of docs/api.md, in their order.
func TestBoundsOfThePageAreThoseOfTheCode(t *testing.T) {
	_, table, _ := strings.Cut(read(t, "docs/api.md").text, "<!-- bounds:begin -->")
	table, _, _ = strings.Cut(table, "<!-- bounds:end -->")
	mib := func(n int) string { return fmt.Sprintf("%d MiB", n>>20) }
	for _, row := range []struct{ what, bound string }{
		{"body of a call", mib(server.DefaultMaxBody)},
		{"all together", mib(server.DefaultBodyBudget)},
		{"connections", strconv.Itoa(server.DefaultMaxConns)},
		{"an event of a stream", mib(sse.DefaultLimit)},
		{"upstream requests of a call", strconv.Itoa(backstop.MaxAttempts)},
	} {
		found := false
		for line := range strings.Lines(table) {
			found = found || strings.Contains(line, row.what) && strings.Contains(line, "| "+row.bound+" |")
		}
		if !found {
			t.Errorf("docs/api.md: %s is %s in the code", row.what, row.bound)
		}
	}
}
