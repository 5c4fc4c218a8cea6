package kernelmill

import (
	"fmt"
	"time"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// MemoryProfile is what a profile of a context's device memory has found.
type MemoryProfile struct {
	IsRunning       bool
	Interval        time.Duration
	SampleCount     uint64
	UsedBytes       uint64 // now
	PeakBytes       uint64 // exact, not sampled
	MinimumBytes    uint64
	MeanBytes       uint64 // of the samples
	AllocationCount uint64
	FreeCount       uint64
}

// MemorySample is one sample of a memory profile.
type MemorySample struct {
	Time      time.Duration // since the profile began
	UsedBytes uint64
}

// StartMemoryProfile samples how much device memory the context has in use, on a thread of the
// library, until it is stopped; [ErrNotPermitted] while one runs.
func (c *Context) StartMemoryProfile(interval time.Duration) error {
	const op = "Context.StartMemoryProfile"
	if interval <= 0 {
		if _, err := c.base().use(op); err != nil {
			return err
		}
		return fail(op, ErrInvalidArgument, fmt.Sprintf("the interval %v is not positive", interval))
	}
	return c.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_context_start_memory_profile(id, uint64(interval))
	})
}

// StopMemoryProfile ends the profile and keeps its findings.
func (c *Context) StopMemoryProfile() error {
	return c.base().call("Context.StopMemoryProfile", raw.Km_context_stop_memory_profile)
}

// MemoryProfile gives what the profile that runs, or ran last, has found.
func (c *Context) MemoryProfile() (MemoryProfile, error) {
	info := raw.MemoryProfile{StructSize: uint32(unsafe.Sizeof(raw.MemoryProfile{}))}
	err := c.base().call("Context.MemoryProfile", func(id uint64) *raw.Failure {
		return raw.Km_context_memory_profile(id, unsafe.Pointer(&info))
	})
	return MemoryProfile{info.IsRunning != 0, time.Duration(info.IntervalNs), info.SampleCount,
		info.UsedBytes, info.PeakBytes, info.MinimumBytes, info.MeanBytes, info.AllocationCount,
		info.FreeCount}, err
}

// MemorySamples lists the samples. Of more than 65536 every second one is dropped.
func (c *Context) MemorySamples() ([]MemorySample, error) {
	found, err := list(c.base(), "Context.MemorySamples", raw.MemorySample{},
		raw.Km_context_memory_samples)
	samples := make([]MemorySample, len(found))
	for i, sample := range found {
		samples[i] = MemorySample{time.Duration(sample.TimeNs), sample.UsedBytes}
	}
	return samples, err
}
