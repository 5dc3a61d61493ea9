// Package intake reads what callers send: the head of a body, complaints about
// it, and how much it is. The dialect rooms share it.
//
// Its functions are safe for concurrent use; a value of it is used by one
// goroutine.
package intake
