package kernelmill

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// HostMemory is memory of the host that the device can copy from and to by itself: page-locked, or
// a mapped file. Copies of page-locked memory are asynchronous.
type HostMemory[T Element] struct {
	object
	length int
	pinner *runtime.Pinner // of memory that is Go's
	keeper *Context        // of memory that is Go's: what Close waits for
}

// NewHostMemory allocates page-locked memory for a number of elements.
func NewHostMemory[T Element](context *Context, length int) (*HostMemory[T], error) {
	const op = "NewHostMemory"
	if most := math.MaxInt64 / sizeOf[T](); length <= 0 || uint64(length) > most {
		return nil, fail(op, ErrInvalidArgument,
			fmt.Sprintf("%d elements: give 1 to %d", length, most))
	}
	return openHostMemory[T](context, op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		size := uint64(length) * sizeOf[T]()
		return raw.Km_host_memory_create(id, size, raw.HOST_MEMORY_DEFAULT, out)
	})
}

// RegisterHostMemory makes elements of the program page-locked where they are, until Close. They
// stay reachable and where they are until then.
func RegisterHostMemory[T Element](context *Context, elements []T) (*HostMemory[T], error) {
	const op = "RegisterHostMemory"
	if len(elements) == 0 {
		return nil, fail(op, ErrInvalidArgument, "there are no elements")
	}
	pinner := new(runtime.Pinner)
	pinner.Pin(unsafe.SliceData(elements))
	memory, err := openHostMemory[T](context, op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_host_memory_register(id, pointerTo(elements), sizeIn(elements),
			raw.HOST_MEMORY_DEFAULT, out)
	})
	if err != nil {
		pinner.Unpin()
		return nil, err
	}
	memory.outlive()
	memory.pinner = pinner
	if memory.keeper, err = context.another(); err != nil {
		_ = memory.base().close(op) // the first error is the one to know
		pinner.Unpin()
		return nil, renamed(op, err)
	}
	return memory, nil
}

// MapHostFile maps the elements of a file from an offset on, for the host to read and as source of
// copies; length -1 means all that there are. The mapping is read-only: see [MapHostFilePrivate].
// When the file becomes shorter, copies give [ErrIO], and the program's own access faults.
func MapHostFile[T Element](
	context *Context, path string, offsetBytes uint64, length int,
) (*HostMemory[T], error) {
	return mapHostFile[T](context, "MapHostFile", path, offsetBytes, length, raw.MAP_READ_ONLY)
}

// MapHostFilePrivate is MapHostFile with memory that may be written; the file never changes.
func MapHostFilePrivate[T Element](
	context *Context, path string, offsetBytes uint64, length int,
) (*HostMemory[T], error) {
	return mapHostFile[T](context, "MapHostFilePrivate", path, offsetBytes, length, raw.MAP_PRIVATE)
}

func mapHostFile[T Element](context *Context, op, path string, offsetBytes uint64, length int,
	flags uint32) (*HostMemory[T], error) {
	cPath, err := cString(op, "the path", path)
	if err != nil {
		return nil, err
	}
	size, err := mappedCount[T](op, path, offsetBytes, length)
	if err != nil {
		return nil, err
	}
	return openHostMemory[T](context, op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_host_memory_map_file(id, cPath, offsetBytes, size*sizeOf[T](), flags, out)
	})
}

// openHostMemory makes memory by a raw call and asks for its size.
func openHostMemory[T Element](context *Context, op string,
	call func(id uint64, out unsafe.Pointer) *raw.Failure) (*HostMemory[T], error) {
	id, err := getFrom[uint64](context.base(), op, "the context", call)
	if err != nil {
		return nil, err
	}
	memory := &HostMemory[T]{}
	memory.open(id, raw.Km_host_memory_destroy)
	size, err := get[uint64](memory.base(), op, raw.Km_host_memory_size_bytes)
	if err != nil {
		_ = memory.Close() // the first error is the one to know
		return nil, err
	}
	memory.length = int(size / sizeOf[T]())
	return memory, nil
}

func (m *HostMemory[T]) base() *object {
	if m == nil {
		return nil
	}
	return &m.object
}

// Close lets the memory go; it is freed after the last copy that uses it. What Data gave is not to
// be touched from then on, but for registered memory, which stays the program's: there Close waits
// for all work of the context, and gives that one's error where it cannot.
func (m *HostMemory[T]) Close() error {
	const op = "HostMemory.Close"
	if m == nil || m.pinner == nil {
		return m.base().close(op)
	}
	if _, err := m.base().use(op); err != nil {
		return err
	}
	if err := m.keeper.Synchronize(); err != nil && !isFault(err) {
		return renamed(op, err)
	}
	if err := m.base().close(op); err != nil {
		return err
	}
	m.pinner.Unpin()
	return m.keeper.Close()
}

// isFault says whether an error is the sticky one of a kernel, which ends all work.
func isFault(err error) bool {
	var failure *Error
	return errors.As(err, &failure) && failure.Category() == CategoryKernelFault
}

// Len is the number of elements; 0 for nil.
func (m *HostMemory[T]) Len() int {
	if m == nil {
		return 0
	}
	return m.length
}

// Data is the memory itself, valid until Close. From this call on the memory is freed by Close
// only, not when it has become garbage. Elements of a file that is mapped read-only cannot be
// written: that faults.
func (m *HostMemory[T]) Data() ([]T, error) {
	pointer, err := get[unsafe.Pointer](m.base(), "HostMemory.Data", raw.Km_host_memory_pointer)
	if err != nil {
		return nil, err
	}
	m.outlive()
	return unsafe.Slice((*T)(pointer), m.length), nil
}

// UploadFrom copies all elements of page-locked memory to the beginning of the slice, in stream
// order; the copy may go on when it returns. Synchronise before the memory is changed.
func (s *Slice[T]) UploadFrom(stream *Stream, source *HostMemory[T]) error {
	return s.transfer("Slice.UploadFrom", stream, source, raw.Km_slice_upload)
}

// DownloadTo copies the slice's first elements to page-locked memory, as many as that has, in
// stream order; the copy may go on when it returns. Synchronise before the memory is read.
func (s *Slice[T]) DownloadTo(stream *Stream, destination *HostMemory[T]) error {
	return s.transfer("Slice.DownloadTo", stream, destination, raw.Km_slice_download)
}

func (s *Slice[T]) transfer(op string, stream *Stream, memory *HostMemory[T],
	call func(stream, slice, offset uint64, pointer unsafe.Pointer, size uint64) *raw.Failure) error {
	if _, err := memory.base().useArgument(op, "the host memory"); err != nil {
		return err
	}
	pointer, err := get[unsafe.Pointer](memory.base(), op, raw.Km_host_memory_pointer)
	if err != nil {
		return err
	}
	if memory.pinner != nil {
		if err := stream.refuseCapture(op); err != nil {
			return err
		}
	}
	size := uint64(memory.length) * sizeOf[T]()
	err = s.base().callWith(op, stream.base(), "the stream", func(id, stream uint64) *raw.Failure {
		return call(stream, id, 0, pointer, size)
	})
	runtime.KeepAlive(memory)
	return err
}
