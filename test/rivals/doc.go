// Package rivals measures the breaker beside two well-known ones, set up to do
// the same work on the same machine in the same run. It is a module of its own
// so that theirs stay out of the product's dependencies.
//
// Stability: internal to the repository.
package rivals
