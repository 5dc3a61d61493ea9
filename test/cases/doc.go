// Package cases holds failures that users of gateways really reported, each as
// bytes on the wire and the answer that is required.
//
// Stability: tests only; nothing in here is for import.
package cases
