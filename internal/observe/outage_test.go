package observe

import (
	"fmt"
	"testing"

	"backstop"
)

func TestModelsThatCallersMakeUpDoNotFillTheMemoryOfAnOutage(t *testing.T) {
	var o outage
	for i := range 10 * mostOpen {
		o.changed(&backstop.Transition{Upstream: "one", Scope: "model", Model: fmt.Sprintf("made-up-%d", i), From: "closed", To: "open"})
	}
	if n := len(o.open["one"]); n > mostOpen {
		t.Errorf("%d scopes are kept", n)
	}
}
