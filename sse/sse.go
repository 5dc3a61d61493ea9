// Package sse reads and writes Server-Sent Events without losing a byte.
//
// The format is the one of the HTML standard, section 9.2 "Server-sent
// events". A [Reader] differs from a browser's in three ways, all for the sake
// of a gateway: it keeps the bytes of each event as they came, it reports
// blocks that carry no data (keep-alive comments) as events of their own, and
// it hands over what was there of an event that was cut off.
//
// Stability: stable.
package sse
