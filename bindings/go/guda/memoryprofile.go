package guda

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// MemoryProfiler samples how much device memory is in use.
type MemoryProfiler struct {
	device  *Device
	context *kernelmill.Context
	err     error
}

// MemorySample is how much device memory was in use at a time after the start.
type MemorySample = kernelmill.MemorySample

// StartMemoryProfiling samples how much memory of the current device is in use, until Stop, on a
// thread of the library. A device has one profile at a time: [MemoryProfiler.Err] is why it could not
// be started.
func StartMemoryProfiling(interval time.Duration) *MemoryProfiler {
	device, err := currentDevice()
	if err != nil {
		return &MemoryProfiler{err: err}
	}
	profiler := &MemoryProfiler{device: device}
	profiler.context, err = device.open()
	if err == nil {
		err = profiler.context.StartMemoryProfile(interval)
	}
	profiler.err = device.done(err)
	return profiler
}

// Err is why the profile could not be started, or nil.
func (p *MemoryProfiler) Err() error {
	if p == nil || p.device == nil && p.err == nil {
		return invalid("the profiler is none: StartMemoryProfiling makes one")
	}
	return p.err
}

// Stop ends the profile. Stopping twice is fine.
func (p *MemoryProfiler) Stop() {
	if p.Err() == nil {
		_ = p.device.done(p.context.StopMemoryProfile()) // for GetLastError
	}
}

// Profile gives what was found so far: peak, minimum, mean, and how many samples.
func (p *MemoryProfiler) Profile() (kernelmill.MemoryProfile, error) {
	if err := p.Err(); err != nil {
		return kernelmill.MemoryProfile{}, err
	}
	profile, err := p.context.MemoryProfile()
	return profile, p.device.done(err)
}

// Samples lists the samples.
func (p *MemoryProfiler) Samples() ([]MemorySample, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	samples, err := p.context.MemorySamples()
	return samples, p.device.done(err)
}

// GenerateReport prints peak and minimum of the memory in use, and how many samples there are.
func (p *MemoryProfiler) GenerateReport() { p.WriteReport(os.Stdout) }

// WriteReport writes the report of GenerateReport to a writer.
func (p *MemoryProfiler) WriteReport(w io.Writer) {
	profile, err := p.Profile()
	fmt.Fprintln(w, "Memory Usage Report")
	fmt.Fprintln(w, "===================")
	if err != nil {
		fmt.Fprintln(w, "No profile:", err)
		return
	}
	fmt.Fprintf(w, "Peak memory usage: %.2f MB\n", float64(profile.PeakBytes)/(1<<20))
	fmt.Fprintf(w, "Minimum memory usage: %.2f MB\n", float64(profile.MinimumBytes)/(1<<20))
	fmt.Fprintf(w, "Samples collected: %d\n", profile.SampleCount)
}
