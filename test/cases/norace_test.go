//go:build !race

package cases

const raced = false
