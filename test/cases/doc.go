// Package cases holds failures that users of gateways really reported, F-01 to
// F-50, each as bytes on the wire and the answer that is required. The whole
// program runs in-process on free ports; a fake upstream of one case is a TCP
// server that writes exactly the bytes of its script; callers are real sockets.
//
// One second of a case takes 200 ms unless the case says otherwise (two limits
// are the program's own and take their time: pings of HTTP/2, writes to a
// caller). Every case ends with the same closing check: goroutines and sockets
// are back where they were, every request that a fake saw is one attempt on
// record and in the metrics, and nothing of keys, addresses or Go's own errors
// was in an answer.
//
// Three more sets of cases run the same way, for callers and upstreams of
// every dialect: the lines of docs/checklist.md, what a hostile upstream may
// say without making an event of it, and the recorded answers of vendors.
//
// What is not here comes with what it needs:
//
//	F-36, jumps of the wall clock    the virtual clock of the breaker's own tests
//	F-37 a, b                        state shared by gateways; c is a sentence of the docs
//	F-47, what an SDK raises         the suites with the real SDKs
//
// Stability: tests only; nothing in here is for import.
package cases
