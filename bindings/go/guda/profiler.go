package guda

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// ProfilerOutput says where [ProfilerStop] puts what was recorded.
type ProfilerOutput struct {
	// Trace is a file for ui.perfetto.dev, or a report when its name ends with .html; "": none.
	Trace string
	// Summary gets a table of kernels, copies and ranges; nil: none.
	Summary io.Writer
}

// DefaultTrace is the file that a trace goes to unless [ProfilerSetOutput] says otherwise.
const DefaultTrace = "guda-profile.json"

// profiling is the recording of the process.
var profiling = struct {
	mutex  sync.Mutex
	device *Device // that is recorded, or nil
	output ProfilerOutput
	ranges map[string][]kernelmill.Range // open ones by their names
}{output: ProfilerOutput{DefaultTrace, os.Stderr}}

// ProfilerSetOutput says where [ProfilerStop] puts what was recorded: at first, a trace in the file
// [DefaultTrace] of the current folder and a table on standard error.
func ProfilerSetOutput(output ProfilerOutput) {
	profiling.mutex.Lock()
	defer profiling.mutex.Unlock()
	profiling.output = output
}

// ProfilerStart records what the current device does from now on. Starting twice is fine.
func ProfilerStart() error {
	device, opened, err := openCurrent()
	if err != nil {
		return err
	}
	profiling.mutex.Lock()
	defer profiling.mutex.Unlock()
	if profiling.device != nil && profiling.device != device {
		return device.done(invalid("device %d is recorded: stop that first", profiling.device.ordinal))
	}
	if profiling.device == nil {
		if err := opened.Profiler().Clear(); err != nil {
			return device.done(err)
		}
	}
	if err := opened.Profiler().Start(); err != nil {
		return device.done(err)
	}
	profiling.device, profiling.ranges = device, map[string][]kernelmill.Range{}
	return nil
}

// ProfilerStop waits for the device's work, ends the recording, and writes what was recorded to where
// [ProfilerSetOutput] says. Without a recording it gives [ErrorProfilerDisabled].
func ProfilerStop() error {
	profiling.mutex.Lock()
	defer profiling.mutex.Unlock()
	device := profiling.device
	if device == nil {
		return noteDisabled()
	}
	profiling.device = nil
	waited := device.Synchronize()
	profiler := device.context.Load().Profiler()
	err := errors.Join(waited, profiler.Stop())
	if profiling.output.Trace != "" {
		err = errors.Join(err, profiler.Write(profiling.output.Trace))
	}
	if profiling.output.Summary != nil {
		summary, failed := profiler.Summary()
		_, unwritten := fmt.Fprint(profiling.output.Summary, summary)
		err = errors.Join(err, failed, unwritten)
	}
	if err != nil {
		return device.done(err)
	}
	return nil
}

// noteDisabled is the error of a call outside of a recording.
func noteDisabled() error {
	failure := &Error{Code: ErrorProfilerDisabled, detail: "ProfilerStart begins a recording"}
	device, err := currentDevice()
	if err != nil {
		return err
	}
	return device.done(failure)
}

// ProfilerRangeStart begins a range of this name; ranges nest and overlap.
func ProfilerRangeStart(name string) error {
	profiling.mutex.Lock()
	defer profiling.mutex.Unlock()
	device := profiling.device
	if device == nil {
		return noteDisabled()
	}
	started, err := device.context.Load().Profiler().StartRange(name)
	if err != nil {
		return device.done(err)
	}
	profiling.ranges[name] = append(profiling.ranges[name], started)
	return nil
}

// ProfilerRangeEnd ends the range of this name that began last.
func ProfilerRangeEnd(name string) error {
	profiling.mutex.Lock()
	defer profiling.mutex.Unlock()
	device := profiling.device
	if device == nil {
		return noteDisabled()
	}
	open := profiling.ranges[name]
	if len(open) == 0 {
		return device.done(invalid("no range %q is open", name))
	}
	profiling.ranges[name] = open[:len(open)-1]
	return device.done(open[len(open)-1].End())
}
