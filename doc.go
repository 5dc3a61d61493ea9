// Package backstop holds the words and the decisions of the gateway: which
// upstream a call goes to next, how long it waits there, when it moves on and
// when the local tier answers.
//
// The package does no I/O, starts no goroutine and never asks for the time.
// A driver begins a [Call], asks it for the next [Step] and reports each
// [Mark] it sees:
//
//	call := engine.Begin(now, req)
//	for {
//		switch step := call.Next(now); step.Kind {
//		case backstop.Try:   // start an attempt at step.Upstream
//		case backstop.Drop:  // cancel attempt step.Attempt
//		case backstop.Wait:  // sleep until step.Until or the next mark
//		case backstop.Serve: // let local tier step.Tier answer
//		case backstop.Done:  // step.Answered or step.Failure
//		}
//	}
//
// The same code runs behind live HTTP (package backstophttp), in virtual time
// and under the fuzzer, so the same marks give the same decisions.
//
// Stability: experimental until v1; the names below are the ones meant to stay.
package backstop
