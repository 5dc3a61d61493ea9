// Package fit makes a request one that an upstream takes: whether it streams,
// and what its quirks rename, drop and set. The dialect rooms share it.
//
// Its functions are safe for concurrent use.
package fit
