package testkit

import "runtime"

// Heap is how many bytes are in use once everything else has gone.
func Heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
