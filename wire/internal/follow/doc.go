// Package follow keeps what a stream of any dialect comes to: whether it said
// something, how it broke, and what its end is worth. The dialect rooms share
// it.
//
// Its functions are safe for concurrent use; a Stream is used by one goroutine.
package follow
