//go:build race

package cases

// raced: the race detector makes everything several times slower, so upper
// bounds of times say nothing and the cases that move much are left out.
const raced = true
