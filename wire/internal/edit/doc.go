// Package edit changes JSON documents at the places that change and leaves
// every other byte as it was. The dialect rooms share it.
//
// It checks nothing: what it is given has been checked before. It is safe for
// concurrent use as long as each value of it is used by one goroutine.
package edit
