package kernelmill

import (
	"fmt"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
	"iter"
	"log"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// Tracking says what a context notes of its allocations.
type Tracking uint32

// The kinds of tracking.
const (
	TrackingOff    Tracking = raw.TRACKING_OFF
	TrackingOn     Tracking = raw.TRACKING_ON     // size, time and tag
	TrackingStacks Tracking = raw.TRACKING_STACKS // and where
)

// SetTracking has allocations tracked from now on; those before are not.
func (c *Context) SetTracking(tracking Tracking) error {
	return c.base().call("Context.SetTracking", func(id uint64) *raw.Failure {
		return raw.Km_context_set_tracking(id, uint32(tracking))
	})
}

// SetTag gives the allocation behind the slice a name for listings and reports; [ErrNotFound] when
// it is not tracked.
func (s *Slice[T]) SetTag(tag string) error {
	const op = "Slice.SetTag"
	cTag, err := cString(op, "the tag", tag)
	if err != nil {
		return err
	}
	return s.base().call(op, func(id uint64) *raw.Failure { return raw.Km_slice_set_tag(id, cTag) })
}

// AllocationKind says what an allocation was made by.
type AllocationKind int32

// The kinds of allocations.
const (
	AllocationUnknown AllocationKind = raw.ALLOCATION_UNKNOWN
	AllocationDevice  AllocationKind = raw.ALLOCATION_DEVICE
	AllocationPool    AllocationKind = raw.ALLOCATION_POOL
	AllocationHost    AllocationKind = raw.ALLOCATION_HOST
	AllocationForeign AllocationKind = raw.ALLOCATION_FOREIGN // memory of the program
	AllocationFile    AllocationKind = raw.ALLOCATION_FILE
)

var allocationKinds = [...]string{"unknown", "device", "pool", "host", "foreign", "file"}

// String is the kind in a word.
func (k AllocationKind) String() string {
	if k < 0 || int(k) >= len(allocationKinds) {
		return allocationKinds[0]
	}
	return allocationKinds[k]
}

// Allocation is one that is tracked and alive.
type Allocation struct {
	ID        uint64 // rises with each allocation of the context
	Kind      AllocationKind
	Address   uint64
	SizeBytes uint64
	Time      time.Time
	Frames    []uint64 // return addresses, the innermost first
	Tag       string
}

// Allocations gives the tracked allocations that are alive, in the order in which they were made. An
// error comes alone.
func (c *Context) Allocations() iter.Seq2[Allocation, error] {
	return func(yield func(Allocation, error) bool) {
		first := raw.AllocationInfo{StructSize: uint32(unsafe.Sizeof(raw.AllocationInfo{}))}
		infos, err := list(c.base(), "Context.Allocations", first, raw.Km_context_allocations)
		if err != nil {
			yield(Allocation{}, err)
			return
		}
		for _, info := range infos {
			allocation := Allocation{
				ID: info.Id, Kind: AllocationKind(info.Kind), Address: info.Address,
				SizeBytes: info.SizeBytes, Time: time.Unix(0, info.TimeNs),
				Frames: append([]uint64(nil), info.Frames[:min(info.FrameCount, 16)]...),
				Tag:    fixedText(info.Tag[:]),
			}
			if !yield(allocation, nil) {
				return
			}
		}
	}
}

// AllocationStack says where a tracked allocation was made, one line per frame of the C stack, the
// innermost first; "" without [TrackingStacks].
func (c *Context) AllocationStack(allocation uint64) (string, error) {
	return textOf(c.base(), "Context.AllocationStack", func(id uint64, buffer unsafe.Pointer,
		capacity uint64, outSize unsafe.Pointer) *raw.Failure {
		return raw.Km_context_allocation_stack(id, allocation, buffer, capacity, outSize)
	})
}

// WarningLogger is what takes warnings with names and values: a *slog.Logger, for one. This package does
// without log/slog itself, which would make each program's first build a tenth longer.
type WarningLogger interface {
	Warn(message string, namesAndValues ...any)
}

// plainLogger writes warnings by package log.
type plainLogger struct{}

func (plainLogger) Warn(message string, namesAndValues ...any) {
	var line strings.Builder
	line.WriteString("WARN " + message)
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		fmt.Fprintf(&line, " %v=%v", namesAndValues[i], namesAndValues[i+1])
	}
	log.Print(line.String())
}

// isNoLogger says whether there is no logger, or a pointer to none.
func isNoLogger(logger WarningLogger) bool {
	if logger == nil {
		return true
	}
	value := reflect.ValueOf(logger)
	return value.Kind() == reflect.Pointer && value.IsNil()
}

// LogLeaks writes a warning for each tracked allocation that is alive to a logger, nil for package log,
// and gives their number.
func (c *Context) LogLeaks(logger WarningLogger) (int, error) {
	if isNoLogger(logger) {
		logger = plainLogger{}
	}
	count := 0
	for allocation, err := range c.Allocations() {
		if err != nil {
			return count, renamed("Context.LogLeaks", err)
		}
		count++
		logger.Warn("device memory is not freed", "size_bytes", allocation.SizeBytes,
			"kind", allocation.Kind.String(), "tag", allocation.Tag, "made", allocation.Time,
			"address", allocation.Address)
	}
	return count, nil
}
