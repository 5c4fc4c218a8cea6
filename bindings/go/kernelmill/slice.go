package kernelmill

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Element is what device memory can hold: numbers of a fixed size.
type Element interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Slice is device memory for a number of elements, or a view: a part of another slice.
type Slice[T Element] struct {
	object
	length int
	isView bool
}

// NewSlice allocates device memory; what it holds at first is not defined.
func NewSlice[T Element](context *Context, length int) (*Slice[T], error) {
	return newSlice[T](context.base(), "NewSlice", raw.Km_slice_create, length, raw.SLICE_DEFAULT)
}

// NewZeroedSlice allocates device memory that is filled with zeros.
func NewZeroedSlice[T Element](context *Context, length int) (*Slice[T], error) {
	return newSlice[T](context.base(), "NewZeroedSlice", raw.Km_slice_create, length,
		raw.SLICE_ZEROED)
}

// NewSliceOn allocates device memory in the order of a stream, for work that is queued there later.
func NewSliceOn[T Element](stream *Stream, length int) (*Slice[T], error) {
	return newSlice[T](stream.base(), "NewSliceOn", raw.Km_slice_create_on_stream, length,
		raw.SLICE_DEFAULT)
}

// SliceOf allocates device memory and copies the elements there.
func SliceOf[T Element](stream *Stream, elements []T) (*Slice[T], error) {
	slice, err := newSlice[T](stream.base(), "SliceOf", raw.Km_slice_create_on_stream,
		len(elements), raw.SLICE_DEFAULT)
	if err != nil {
		return nil, err
	}
	if err := slice.Upload(stream, elements); err != nil {
		_ = slice.Close() // the upload's error is the one to know
		return nil, err
	}
	return slice, nil
}

// creator is km_slice_create or km_slice_create_on_stream.
type creator func(owner, count, elementSize uint64, flags uint32, out unsafe.Pointer) *raw.Failure

func newSlice[T Element](
	owner *object, op string, create creator, length int, flags uint32,
) (*Slice[T], error) {
	if length < 0 {
		return nil, fail(op, ErrInvalidArgument, fmt.Sprintf("the length %d is negative", length))
	}
	what := "the context"
	switch op {
	case "NewSliceOn", "SliceOf":
		what = "the stream"
	case "PoolSlice", "ZeroedPoolSlice", "PoolSliceOn":
		what = "the pool"
	}
	ownerID, err := owner.useArgument(op, what)
	if err != nil {
		return nil, err
	}
	var id uint64
	failure := create(ownerID, uint64(length), sizeOf[T](), flags, unsafe.Pointer(&id))
	runtime.KeepAlive(owner)
	if err := check(op, failure); err != nil {
		return nil, err
	}
	setElementType[T](id)
	return openSlice[T](id, length, false), nil
}

func openSlice[T Element](id uint64, length int, isView bool) *Slice[T] {
	slice := &Slice[T]{length: length, isView: isView}
	slice.open(id, raw.Km_slice_destroy)
	return slice
}

func sizeOf[T Element]() uint64 {
	var element T
	return uint64(unsafe.Sizeof(element))
}

func (s *Slice[T]) base() *object {
	if s == nil {
		return nil
	}
	return &s.object
}

// Close lets the slice go. The memory is freed when no view is left and queued work is done.
func (s *Slice[T]) Close() error { return s.base().close("Slice.Close") }

// CloseOn is Close, and the memory is freed no sooner than the work queued in the stream so far is
// done: for uses by raw address.
func (s *Slice[T]) CloseOn(stream *Stream) error {
	const op = "Slice.CloseOn"
	streamID, err := stream.base().useArgument(op, "the stream")
	if err != nil {
		return err
	}
	id, err := s.base().use(op)
	if err != nil {
		return err
	}
	err = check(op, raw.Km_slice_destroy_on_stream(id, streamID))
	runtime.KeepAlive(stream)
	if err == nil && s.id.CompareAndSwap(id, 0) {
		s.cleanup.Stop()
	}
	return err
}

// Len is the number of elements; 0 for nil.
func (s *Slice[T]) Len() int {
	if s == nil {
		return 0
	}
	return s.length
}

// sizeBytes is the size of all elements.
func (s *Slice[T]) sizeBytes() uint64 { return uint64(s.Len()) * sizeOf[T]() }

// IsView says whether the memory is part of another slice's.
func (s *Slice[T]) IsView() bool { return s != nil && s.isView }

// Address is the device address of the first element.
func (s *Slice[T]) Address() (uint64, error) {
	return get[uint64](s.base(), "Slice.Address", raw.Km_slice_address)
}

// View is the part of length elements from the first on, as a slice of its own that shares the
// memory and keeps it alive.
func (s *Slice[T]) View(first, length int) (*Slice[T], error) {
	const op = "Slice.View"
	if first < 0 || length < 0 || first > s.Len() || length > s.Len()-first {
		return nil, fail(op, ErrOutOfBounds,
			fmt.Sprintf("%s from %d on, of a slice of %d", counted(uint64(length), "element"),
				first, s.Len()))
	}
	info, err := s.info(op)
	if err != nil {
		return nil, err
	}
	scale := sizeOf[T]() / max(info.ElementSizeBytes, 1) // a module's variable may have smaller ones
	id, err := get[uint64](s.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_slice_view(id, uint64(first)*scale, uint64(length)*scale, out)
	})
	if err != nil {
		return nil, err
	}
	return openSlice[T](id, length, true), nil
}

// Upload copies elements to the beginning of the slice, in stream order. They have been read when
// it returns.
func (s *Slice[T]) Upload(stream *Stream, elements []T) error {
	return s.uploadAt("Slice.Upload", stream, 0, elements)
}

// Download copies the slice's first elements to the host, in stream order. They are there when it
// returns.
func (s *Slice[T]) Download(stream *Stream, elements []T) error {
	return s.downloadAt("Slice.Download", stream, 0, elements)
}

// uploadAt copies elements to the slice from an offset on. A captured copy would read them when
// the graph runs, when they may be gone: so there is none.
func (s *Slice[T]) uploadAt(op string, stream *Stream, offsetBytes uint64, elements []T) error {
	if err := stream.refuseCapture(op); err != nil {
		return err
	}
	return s.base().callWith(op, stream.base(), "the stream", func(id, stream uint64) *raw.Failure {
		return raw.Km_slice_upload(stream, id, offsetBytes, pointerTo(elements), sizeIn(elements))
	})
}

func (s *Slice[T]) downloadAt(op string, stream *Stream, offsetBytes uint64, elements []T) error {
	if err := stream.refuseCapture(op); err != nil {
		return err
	}
	return s.base().callWith(op, stream.base(), "the stream", func(id, stream uint64) *raw.Failure {
		return raw.Km_slice_download(stream, id, offsetBytes, pointerTo(elements), sizeIn(elements))
	})
}

// ToHost is Download of all elements into a new Go slice.
func (s *Slice[T]) ToHost(stream *Stream) ([]T, error) {
	elements := make([]T, s.Len())
	return elements, s.Download(stream, elements)
}

// CopyFrom copies all elements of another slice to the beginning of this one, in stream order.
func (s *Slice[T]) CopyFrom(stream *Stream, source *Slice[T]) error {
	const op = "Slice.CopyFrom"
	sourceID, err := source.base().useArgument(op, "the source")
	if err != nil {
		return err
	}
	size := uint64(source.length) * sizeOf[T]()
	err = s.base().callWith(op, stream.base(), "the stream", func(id, stream uint64) *raw.Failure {
		return raw.Km_slice_copy(stream, id, 0, sourceID, 0, size)
	})
	runtime.KeepAlive(source)
	return err
}

// Fill sets all elements, in stream order. Values of more than 4 bytes that are not a repeated
// 4-byte pattern, as 0 is, are copied from the host.
func (s *Slice[T]) Fill(stream *Stream, value T) error {
	const op = "Slice.Fill"
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&value)), unsafe.Sizeof(value))
	count := uint64(s.Len())
	if _, same := repeatedWord(bytes); len(bytes) > 4 && !same {
		return s.uploadAt(op, stream, 0, slices.Repeat([]T{value}, s.Len()))
	}
	return s.base().callWith(op, stream.base(), "the stream", func(id, stream uint64) *raw.Failure {
		switch len(bytes) {
		case 1:
			return raw.Km_slice_fill_u8(stream, id, 0, bytes[0], count)
		case 2:
			return raw.Km_slice_fill_u16(stream, id, 0, *(*uint16)(unsafe.Pointer(&value)), count)
		case 4:
			return raw.Km_slice_fill_u32(stream, id, 0, *(*uint32)(unsafe.Pointer(&value)), count)
		}
		word, _ := repeatedWord(bytes)
		return raw.Km_slice_fill_u32(stream, id, 0, word, count*uint64(len(bytes)/4))
	})
}

// repeatedWord is the 32-bit number that the bytes repeat, if they do.
func repeatedWord(bytes []byte) (uint32, bool) {
	if len(bytes) < 4 {
		return 0, false
	}
	words := unsafe.Slice((*uint32)(unsafe.Pointer(&bytes[0])), len(bytes)/4)
	for _, word := range words {
		if word != words[0] {
			return 0, false
		}
	}
	return words[0], true
}

func (s *Slice[T]) info(op string) (raw.SliceInfo, error) {
	info := raw.SliceInfo{StructSize: uint32(unsafe.Sizeof(raw.SliceInfo{}))}
	err := s.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_slice_info_get(id, unsafe.Pointer(&info))
	})
	return info, err
}

// pointerTo is the first element's place, null for none.
func pointerTo[T Element](elements []T) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(elements))
}

func sizeIn[T Element](elements []T) uint64 { return uint64(len(elements)) * sizeOf[T]() }
