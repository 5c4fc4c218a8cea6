package guda

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// AllocationInfo says what an allocation of a [MemoryTracker] is.
type AllocationInfo struct {
	Ptr   DevicePtr
	Size  int
	Time  time.Time
	Stack []byte // of the goroutine
}

// MemoryTracker finds device memory that is not freed: what went through it, and is still there by
// the library's own account. A nil one allocates and frees, and finds nothing.
type MemoryTracker struct {
	mutex       sync.Mutex
	allocations map[DevicePtr]AllocationInfo
}

// stackBytes is how much of a stack is kept.
const stackBytes = 4096

// NewMemoryTracker makes a tracker, and has the current device track its allocations.
func NewMemoryTracker() *MemoryTracker {
	tracker := &MemoryTracker{allocations: map[DevicePtr]AllocationInfo{}}
	tracker.track()
	return tracker
}

// track has the current device track its allocations.
func (t *MemoryTracker) track() {
	device, err := currentDevice()
	if err != nil {
		return
	}
	opened, err := device.open()
	if err == nil {
		err = opened.SetTracking(kernelmill.TrackingOn)
	}
	_ = device.done(err) // for GetLastError
}

// Malloc is [Malloc], and notes where it was called.
func (t *MemoryTracker) Malloc(size int) DevicePtr {
	if t == nil {
		return Malloc(size)
	}
	t.track()
	ptr := Malloc(size)
	if ptr == 0 {
		return 0
	}
	stack := make([]byte, stackBytes)
	stack = stack[:runtime.Stack(stack, false)]
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.allocations == nil {
		t.allocations = map[DevicePtr]AllocationInfo{}
	}
	t.allocations[ptr] = AllocationInfo{ptr, size, time.Now(), stack}
	return ptr
}

// Free is [Free]; its error is that of [GetLastError].
func (t *MemoryTracker) Free(ptr DevicePtr) {
	_ = Free(ptr) // its error is the last one now
	if t == nil {
		return
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	delete(t.allocations, ptr)
}

// Leaks lists what is not freed, the oldest first. What was freed without the tracker is not.
func (t *MemoryTracker) Leaks() []AllocationInfo {
	if t == nil {
		return nil
	}
	alive := aliveAddresses()
	t.mutex.Lock()
	defer t.mutex.Unlock()
	var leaks []AllocationInfo
	for ptr, info := range t.allocations {
		if alive[ptr] {
			leaks = append(leaks, info)
		}
	}
	slices.SortFunc(leaks, func(a, b AllocationInfo) int { return a.Time.Compare(b.Time) })
	return leaks
}

// aliveAddresses are those of the allocations that the library has.
func aliveAddresses() map[DevicePtr]bool {
	alive := map[DevicePtr]bool{}
	all, _ := devices()
	for _, device := range all {
		opened := device.context.Load()
		if opened == nil {
			continue
		}
		for allocation, err := range opened.Allocations() {
			if err == nil {
				alive[DevicePtr(allocation.Address)] = true
			}
		}
	}
	return alive
}

// ReportLeaks prints what is not freed, with sizes, times and stacks.
func (t *MemoryTracker) ReportLeaks() { t.WriteLeaks(os.Stdout) }

// WriteLeaks writes the report of ReportLeaks to a writer.
func (t *MemoryTracker) WriteLeaks(w io.Writer) {
	leaks := t.Leaks()
	if len(leaks) == 0 {
		fmt.Fprintln(w, "No memory leaks detected")
		return
	}
	total := 0
	fmt.Fprintf(w, "Found %d memory leaks:\n", len(leaks))
	for _, info := range leaks {
		total += info.Size
		fmt.Fprintf(w, "Leaked %d bytes allocated at %v (ptr: %x)\nStack trace:\n%s\n", info.Size,
			info.Time, uintptr(info.Ptr), info.Stack)
	}
	fmt.Fprintf(w, "Total leaked memory: %d bytes (%.2f MB)\n", total, float64(total)/(1<<20))
}
