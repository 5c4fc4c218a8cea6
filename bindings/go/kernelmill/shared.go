package kernelmill

import (
	"fmt"
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// NewAlignedSlice allocates device memory whose address is a multiple of a power of two.
func NewAlignedSlice[T Element](
	context *Context, length int, alignmentBytes uint64,
) (*Slice[T], error) {
	const op = "NewAlignedSlice"
	if bits.OnesCount64(alignmentBytes) != 1 {
		return nil, fail(op, ErrInvalidArgument,
			fmt.Sprintf("the alignment %d is no power of two", alignmentBytes))
	}
	create := func(id, count, size uint64, flags uint32, out unsafe.Pointer) *raw.Failure {
		return raw.Km_slice_create_aligned(id, count, size, alignmentBytes, flags, out)
	}
	return newSlice[T](context.base(), op, create, length, raw.SLICE_DEFAULT)
}

// NewManagedSlice allocates memory that host and device share: [Slice.HostData] gives it on every
// device that has such memory.
func NewManagedSlice[T Element](context *Context, length int) (*Slice[T], error) {
	return newSlice[T](context.base(), "NewManagedSlice", raw.Km_slice_create, length,
		raw.SLICE_MANAGED)
}

// SliceOver makes a slice of elements of the program, without a copy where the device can reach host
// memory, else [ErrNotSupported]. They stay where they are until neither the slice nor work uses
// them any more. Synchronise before they are touched.
func SliceOver[T Element](context *Context, elements []T) (*Slice[T], error) {
	return sliceOver(context, "SliceOver", elements, func() {})
}

// SliceOverWithRelease is SliceOver, and calls release once when neither the slice nor work uses the
// elements any more, perhaps on a thread of the library; not where it gives an error. In it, calls
// that may wait give [ErrNotPermitted].
func SliceOverWithRelease[T Element](
	context *Context, elements []T, release func(),
) (*Slice[T], error) {
	const op = "SliceOverWithRelease"
	if release == nil {
		return nil, nilError(op, "the function")
	}
	return sliceOver(context, op, elements, release)
}

func sliceOver[T Element](
	context *Context, op string, elements []T, release func(),
) (*Slice[T], error) {
	if len(elements) == 0 {
		return nil, fail(op, ErrInvalidArgument, "there are no elements")
	}
	pinner := new(runtime.Pinner)
	pinner.Pin(unsafe.SliceData(elements))
	userData := callback.NewOnce(func() {
		pinner.Unpin()
		release()
	})
	id, err := getFrom[uint64](context.base(), op, "the context",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_slice_from_host(id, pointerTo(elements), uint64(len(elements)),
				sizeOf[T](), callback.Release, userData, out)
		})
	if err != nil {
		callback.Drop(userData)
		pinner.Unpin()
		return nil, err
	}
	setElementType[T](id)
	return openSlice[T](id, len(elements), false), nil
}

// HostData is the memory itself for the host, where device memory is host memory, else
// [ErrNotSupported]; it is valid until the slice and its views are closed. From this call on the
// memory is freed by Close only, not when it has become garbage. Reading what a stream is still
// writing is a race: synchronise first.
func (s *Slice[T]) HostData() ([]T, error) {
	pointer, err := get[unsafe.Pointer](s.base(), "Slice.HostData", raw.Km_slice_host_pointer)
	if err != nil || pointer == nil {
		return nil, err
	}
	s.outlive()
	return unsafe.Slice((*T)(pointer), s.length), nil
}
