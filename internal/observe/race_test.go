//go:build race

package observe

// manyCalls is fewer where every one takes twenty times as long.
const manyCalls = 10_000
