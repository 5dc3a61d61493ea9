package sim

import (
	"fmt"
	"time"
)

// Breach is an invariant of the engine that did not hold. The rules are those
// of the project's engine page (I1 to I20, J1 to J8).
type Breach struct {
	At   time.Duration // since the start of the run
	Rule string
	What string
}

func (b *Breach) Error() string {
	return fmt.Sprintf("at %s: %s is broken: %s", b.At, b.Rule, b.What)
}
