package kernelmill

import (
	"fmt"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// WaitCondition says how a number in memory has to compare with a value.
type WaitCondition int32

// The conditions.
const (
	// WaitGreaterEqual compares round: the difference, as a signed number, is not negative.
	WaitGreaterEqual WaitCondition = raw.WAIT_CONDITION_GREATER_EQUAL
	WaitEqual        WaitCondition = raw.WAIT_CONDITION_EQUAL
	WaitAnd          WaitCondition = raw.WAIT_CONDITION_AND // a bit is 1 in both
	WaitNor          WaitCondition = raw.WAIT_CONDITION_NOR // a bit is 0 in both
)

// WriteValue writes a number to the element of a slice at an index when all work queued before is
// done. Who sees the number sees what that work has written.
func WriteValue[T ~uint32 | ~uint64](stream *Stream, slice *Slice[T], index int, value T) error {
	const op = "WriteValue"
	offset, err := slice.offsetOf(op, index)
	if err != nil {
		return err
	}
	return stream.withSlice(op, slice, func(stream, id uint64) *raw.Failure {
		return raw.Km_stream_write_value(stream, id, offset, uint64(value),
			uint32(unsafe.Sizeof(value)))
	})
}

// WaitValue keeps the stream until the element of a slice at an index meets the condition with a
// value: until the host, another stream or a kernel has written it. A wait that nobody ends keeps
// the stream for ever.
func WaitValue[T ~uint32 | ~uint64](
	stream *Stream, slice *Slice[T], index int, condition WaitCondition, value T,
) error {
	const op = "WaitValue"
	offset, err := slice.offsetOf(op, index)
	if err != nil {
		return err
	}
	return stream.withSlice(op, slice, func(stream, id uint64) *raw.Failure {
		return raw.Km_stream_wait_value(stream, id, offset, int32(condition), uint64(value),
			uint32(unsafe.Sizeof(value)))
	})
}

// offsetOf is where the element at an index lies.
func (s *Slice[T]) offsetOf(op string, index int) (uint64, error) {
	if index < 0 || index >= max(s.Len(), 1) {
		return 0, fail(op, ErrOutOfBounds, fmt.Sprintf("element %d of a slice of %d", index, s.Len()))
	}
	return uint64(index) * sizeOf[T](), nil
}

// withSlice makes a raw call of a stream and a slice that are given to a function.
func (s *Stream) withSlice(
	op string, slice Memory, call func(stream, slice uint64) *raw.Failure,
) error {
	if _, err := s.base().useArgument(op, "the stream"); err != nil {
		return err
	}
	return s.base().callWith(op, baseOf(slice), "the slice", call)
}
