package kernelmill

import (
	"time"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Profiler records what a context does, and when: kernels, copies, fills and callbacks with their
// times on the device, ranges and waits of the host, and the memory in use.
type Profiler struct{ context *Context }

// Profiler gives the profiler of the context.
func (c *Context) Profiler() Profiler { return Profiler{c} }

func (p Profiler) base() *object { return p.context.base() }

// Start records from now on. Starting twice is fine.
func (p Profiler) Start() error { return p.base().call("Profiler.Start", raw.Km_profiler_start) }

// Stop ends the recording. What was recorded stays.
func (p Profiler) Stop() error { return p.base().call("Profiler.Stop", raw.Km_profiler_stop) }

// Clear forgets what was recorded.
func (p Profiler) Clear() error { return p.base().call("Profiler.Clear", raw.Km_profiler_clear) }

// SetCounters sets whether the warps of kernels are counted from the next launch on; at first it is
// what the environment variable KM_COUNTERS says. Counted kernels have code of their own, which
// takes longer. Only CPU devices count; others give [ErrNotSupported].
func (p Profiler) SetCounters(enabled bool) error {
	var on uint32
	if enabled {
		on = 1
	}
	return p.base().call("Profiler.SetCounters", func(id uint64) *raw.Failure {
		return raw.Km_profiler_set_counters(id, on)
	})
}

// Range is a range of the host that was started.
type Range struct {
	profiler Profiler
	id       uint64
}

// StartRange begins a range that any goroutine may end.
func (p Profiler) StartRange(name string) (Range, error) {
	const op = "Profiler.StartRange"
	cName, err := cString(op, "the name", name)
	if err != nil {
		return Range{}, err
	}
	id, err := get[uint64](p.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_profiler_range_start(id, cName, out)
	})
	return Range{p, id}, err
}

// End ends the range; it counts for the thread that ends it.
func (r Range) End() error {
	return r.profiler.base().call("Range.End", func(id uint64) *raw.Failure {
		return raw.Km_profiler_range_end(id, r.id)
	})
}

// Push begins a range of the thread, up to Pop; ranges nest. Goroutines move between threads: lock
// the goroutine to its thread (runtime.LockOSThread), or use StartRange.
func (p Profiler) Push(name string) error {
	const op = "Profiler.Push"
	cName, err := cString(op, "the name", name)
	if err != nil {
		return err
	}
	return p.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_profiler_range_push(id, cName)
	})
}

// Pop ends the range of the thread that began last.
func (p Profiler) Pop() error { return p.base().call("Profiler.Pop", raw.Km_profiler_range_pop) }

// SetWork says how many operations, and bytes of memory traffic, each launch of the kernel counts
// as from now on: throughputs follow from it.
func (f *Function) SetWork(operations, sizeBytes uint64) error {
	return f.base().call("Function.SetWork", func(id uint64) *raw.Failure {
		return raw.Km_profiler_set_work(id, operations, sizeBytes)
	})
}

// ProfileKind says what a row is about.
type ProfileKind int32

// The kinds of rows.
const (
	ProfileKernel   ProfileKind = raw.PROFILE_KIND_KERNEL
	ProfileCopy     ProfileKind = raw.PROFILE_KIND_COPY
	ProfileUpload   ProfileKind = raw.PROFILE_KIND_UPLOAD
	ProfileDownload ProfileKind = raw.PROFILE_KIND_DOWNLOAD
	ProfileFill     ProfileKind = raw.PROFILE_KIND_FILL
	ProfileCallback ProfileKind = raw.PROFILE_KIND_CALLBACK
	ProfileRange    ProfileKind = raw.PROFILE_KIND_RANGE
	ProfileWait     ProfileKind = raw.PROFILE_KIND_WAIT
)

// ProfileRow is all work of one kind and name.
type ProfileRow struct {
	Kind                ProfileKind
	Name                string
	Count               uint64
	Total, Min, Max     time.Duration
	SizeBytes           uint64
	Operations          uint64
	BytesPerSecond      uint64
	OperationsPerSecond uint64
	OccupancyPercent    uint32
}

// Rows lists what was recorded and is over by now: work of the device by falling total time, then
// ranges and waits of the host.
func (p Profiler) Rows() ([]ProfileRow, error) {
	const op = "Profiler.Rows"
	count, err := get[uint32](p.base(), op, raw.Km_profiler_row_count)
	if err != nil {
		return nil, err
	}
	rows := make([]ProfileRow, 0, count)
	for i := range count {
		row := raw.ProfileRow{StructSize: uint32(unsafe.Sizeof(raw.ProfileRow{}))}
		err := p.base().call(op, func(id uint64) *raw.Failure {
			return raw.Km_profiler_row_get(id, i, unsafe.Pointer(&row))
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, ProfileRow{ProfileKind(row.Kind), fixedText(row.Name[:]), row.Count,
			time.Duration(row.TotalNs), time.Duration(row.MinNs), time.Duration(row.MaxNs),
			row.SizeBytes, row.Operations, row.BytesPerSecond, row.OperationsPerSecond,
			row.OccupancyPercent})
	}
	return rows, nil
}

// CounterKind says which events of warps a counter counts.
type CounterKind int32

// The kinds of counters.
const (
	CounterGlobalLoad   CounterKind = raw.COUNTER_KIND_GLOBAL_LOAD
	CounterGlobalStore  CounterKind = raw.COUNTER_KIND_GLOBAL_STORE
	CounterGlobalAtomic CounterKind = raw.COUNTER_KIND_GLOBAL_ATOMIC
	CounterSharedLoad   CounterKind = raw.COUNTER_KIND_SHARED_LOAD
	CounterSharedStore  CounterKind = raw.COUNTER_KIND_SHARED_STORE
	CounterSharedAtomic CounterKind = raw.COUNTER_KIND_SHARED_ATOMIC
	CounterBranch       CounterKind = raw.COUNTER_KIND_BRANCH
	CounterInstruction  CounterKind = raw.COUNTER_KIND_INSTRUCTION
)

// ProfileCounter is the events of one kind in all of a kernel, or at one line of its source.
type ProfileCounter struct {
	Kind     CounterKind
	Requests uint64 // executions by warps with at least one active thread
	Threads  uint64 // active threads of all requests together
	Taken    uint64 // sectors of global memory, wavefronts of shared memory, divergent branches
	Ideal    uint64 // sectors or wavefronts that the same data would take in the best order
	Source   string // file of the source; empty: unknown, or a total
	Line     uint64 // 0: unknown
	IsTotal  bool   // all of the kernel
}

// Counters lists the counters of the row of this index in Rows: the totals of the kernel, one for
// each kind that occurs, then those of the lines of its source. There are none when its warps were
// not counted (SetCounters).
func (p Profiler) Counters(row uint32) ([]ProfileCounter, error) {
	const op = "Profiler.Counters"
	count, err := get[uint32](p.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_profiler_counter_count(id, row, out)
	})
	if err != nil {
		return nil, err
	}
	counters := make([]ProfileCounter, 0, count)
	for i := range count {
		c := raw.ProfileCounter{StructSize: uint32(unsafe.Sizeof(raw.ProfileCounter{}))}
		err := p.base().call(op, func(id uint64) *raw.Failure {
			return raw.Km_profiler_counter_get(id, row, i, unsafe.Pointer(&c))
		})
		if err != nil {
			return nil, err
		}
		counters = append(counters, ProfileCounter{CounterKind(c.Kind), c.Requests, c.Threads,
			c.Taken, c.Ideal, fixedText(c.Source[:]), c.Line, c.IsTotal != 0})
	}
	return counters, nil
}

// Summary is the rows as a table in text.
func (p Profiler) Summary() (string, error) {
	return textOf(p.base(), "Profiler.Summary", raw.Km_profiler_summary)
}

// Write writes what was recorded to a file, in place of what it holds: a trace that ui.perfetto.dev
// opens, or a report when the name ends with .html.
func (p Profiler) Write(path string) error {
	const op = "Profiler.Write"
	cPath, err := cString(op, "the path", path)
	if err != nil {
		return err
	}
	return p.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_profiler_write(id, cPath)
	})
}
