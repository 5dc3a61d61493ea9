// Package testkit holds what the tests of several rooms share: a leak check, a
// network in memory and golden files. Only tests import it.
package testkit

import (
	"testing"

	"go.uber.org/goleak"
)

// Leaks runs a package's tests and fails them if a goroutine is left. It is
// the whole body of a TestMain, and does not return.
func Leaks(m *testing.M) { goleak.VerifyTestMain(m) }
