package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

const (
	// heapRoom is how large the heap may grow before what is not used any more is
	// cleared away, as long as that is at most what heapShare says of what is used.
	heapRoom = 64 << 20
	// Percent of what is in use: Go's own, and the most.
	usualShare, mostShare = 100, 400
)

// heapShare is how much may be made anew on top of live bytes in use, in percent
// of them, before the next clearing. A command that holds little makes a lot, and
// would be clearing most of the time.
func heapShare(live uint64) int {
	if live >= heapRoom {
		return usualShare
	}
	return int(min(mostShare, max(usualShare, 100*(heapRoom-live)/max(live, 1))))
}

// roomyHeap clears memory less often, until it is ended. Where the environment
// says how often (GOGC, GOMEMLIMIT), that holds.
func roomyHeap(s *state) (end func()) {
	if s.env("GOGC") != "" || s.env("GOMEMLIMIT") != "" {
		return func() {}
	}
	var over atomic.Bool
	before := debug.SetGCPercent(heapShare(heapInUse()))
	// What is dropped at once is finalised after each clearing.
	type mark struct{ _ [16]byte }
	var watch func(*mark)
	watch = func(*mark) {
		if over.Load() {
			return
		}
		debug.SetGCPercent(heapShare(heapInUse()))
		runtime.SetFinalizer(new(mark), watch)
	}
	runtime.SetFinalizer(new(mark), watch)
	return func() {
		over.Store(true)
		debug.SetGCPercent(before)
	}
}

// heapInUse is what the last clearing left, in bytes.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return heapRoom // not known: as Go has it
	}
	return sample[0].Value.Uint64()
}
