// Package sim runs the engine of package backstop in virtual time: the same
// decision code as live traffic, fed by a model of callers and upstreams, so
// that an outage of hours is played in seconds and comes out the same each
// time.
//
// A [Scenario] says who calls, how the upstreams behave and what breaks when;
// [Run] plays it against a plan and returns a [Report]. A call is a handful of
// events: its arrival, the first token, the end, and the times at which the
// engine wanted to look again. Tokens are drawn, not played one by one.
//
// The same plan, scenario and seed give the same report, byte for byte, on
// every machine: nothing here reads a clock, walks a map or uses arithmetic
// that differs between processors.
//
// Stability: experimental until v1; the names below are the ones meant to stay.
package sim
