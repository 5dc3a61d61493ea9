//go:build !race

package observe

const manyCalls = 100_000
