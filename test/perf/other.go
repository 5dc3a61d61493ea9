//go:build !linux

// Perf measures the gateway beside a stock httputil.ReverseProxy; it reads
// from Linux what a program uses.
package main

import "fmt"

func main() { fmt.Println("perf: nothing was measured, the gateway benchmark needs Linux") }
