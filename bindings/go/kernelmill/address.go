package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// FindSlice finds the allocation of the context that holds a device address, as a slice of bytes
// over all of it, and how far into it the address lies.
func (c *Context) FindSlice(address uint64) (slice *Slice[byte], offsetBytes uint64, err error) {
	const op = "Context.FindSlice"
	id, err := get[uint64](c.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_context_find_slice(id, address, out, unsafe.Pointer(&offsetBytes))
	})
	if err != nil {
		return nil, 0, err
	}
	slice = openSlice[byte](id, 0, false)
	info, err := slice.info(op)
	slice.length = int(info.SizeBytes)
	return slice, offsetBytes, err
}

// UploadTo copies elements to a device address, in stream order. They have been read when it
// returns. The bytes have to lie in one allocation of the context.
func UploadTo[T Element](stream *Stream, address uint64, elements []T) error {
	const op = "UploadTo"
	if err := stream.refuseCapture(op); err != nil {
		return err
	}
	return stream.given(op, func(id uint64) *raw.Failure {
		return raw.Km_memory_upload(id, address, pointerTo(elements), sizeIn(elements))
	})
}

// DownloadFrom copies elements from a device address, in stream order. They are there when it
// returns.
func DownloadFrom[T Element](stream *Stream, elements []T, address uint64) error {
	const op = "DownloadFrom"
	if err := stream.refuseCapture(op); err != nil {
		return err
	}
	return stream.given(op, func(id uint64) *raw.Failure {
		return raw.Km_memory_download(id, address, pointerTo(elements), sizeIn(elements))
	})
}

// UploadPointer copies bytes from memory of the host to a device address, in stream order. Memory
// that is not page-locked has been read when it returns; that of [HostMemory] has to stay unchanged
// until the copy is done. That sizeBytes lie there is the caller's business.
func (s *Stream) UploadPointer(address uint64, source unsafe.Pointer, sizeBytes uint64) error {
	const op = "Stream.UploadPointer"
	if err := s.refuseCapture(op); err != nil {
		return err
	}
	return s.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_memory_upload(id, address, source, sizeBytes)
	})
}

// DownloadPointer copies bytes from a device address to memory of the host, in stream order. Memory
// that is not page-locked has been written when it returns, that of [HostMemory] later.
func (s *Stream) DownloadPointer(destination unsafe.Pointer, address, sizeBytes uint64) error {
	const op = "Stream.DownloadPointer"
	if err := s.refuseCapture(op); err != nil {
		return err
	}
	return s.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_memory_download(id, address, destination, sizeBytes)
	})
}

// given makes a raw call of a stream that is given to a function.
func (s *Stream) given(op string, call func(id uint64) *raw.Failure) error {
	if _, err := s.base().useArgument(op, "the stream"); err != nil {
		return err
	}
	return s.base().call(op, call)
}

// CopyAddress copies bytes between device addresses of the context, in stream order.
func (s *Stream) CopyAddress(destination, source, sizeBytes uint64) error {
	return s.base().call("Stream.CopyAddress", func(id uint64) *raw.Failure {
		return raw.Km_memory_copy(id, destination, source, sizeBytes)
	})
}

// FillAddress writes a value of 1, 2 or 4 bytes to a device address on, count times, in stream
// order.
func FillAddress[T ~uint8 | ~uint16 | ~uint32](
	stream *Stream, address uint64, value T, count uint64,
) error {
	return stream.given("FillAddress", func(id uint64) *raw.Failure {
		switch unsafe.Sizeof(value) {
		case 1:
			return raw.Km_memory_fill_u8(id, address, byte(value), count)
		case 2:
			return raw.Km_memory_fill_u16(id, address, uint16(value), count)
		}
		return raw.Km_memory_fill_u32(id, address, uint32(value), count)
	})
}

// UploadRowsTo copies rows of elements to a device address, from which its offsets count.
func UploadRowsTo[T Element](stream *Stream, address uint64, elements []T, rows Rows) error {
	const op = "UploadRowsTo"
	err := rows.inside(op, rows.SourceOffsetBytes, rows.SourcePitchBytes, rows.SourceLayerRows,
		sizeIn(elements))
	if err != nil {
		return err
	}
	if err := stream.refuseCapture(op); err != nil {
		return err
	}
	return stream.given(op, func(id uint64) *raw.Failure {
		return raw.Km_memory_upload_3d(id, address, pointerOrNone(elements), rows.native())
	})
}

// DownloadRowsFrom copies rows from a device address to elements.
func DownloadRowsFrom[T Element](stream *Stream, elements []T, address uint64, rows Rows) error {
	const op = "DownloadRowsFrom"
	err := rows.inside(op, rows.DestinationOffsetBytes, rows.DestinationPitchBytes,
		rows.DestinationLayerRows, sizeIn(elements))
	if err != nil {
		return err
	}
	if err := stream.refuseCapture(op); err != nil {
		return err
	}
	return stream.given(op, func(id uint64) *raw.Failure {
		return raw.Km_memory_download_3d(id, address, pointerOrNone(elements), rows.native())
	})
}

// CopyRowsAddress copies rows between device addresses, in stream order.
func (s *Stream) CopyRowsAddress(destination, source uint64, rows Rows) error {
	return s.base().call("Stream.CopyRowsAddress", func(id uint64) *raw.Failure {
		return raw.Km_memory_copy_3d(id, destination, source, rows.native())
	})
}

// FillRowsAddress fills rows from a device address on, in stream order; the offset is added to it.
func (s *Stream) FillRowsAddress(address uint64, fill RowFill) error {
	return s.base().call("Stream.FillRowsAddress", func(id uint64) *raw.Failure {
		return raw.Km_memory_fill_2d(id, address+fill.OffsetBytes, fill.PitchBytes, fill.Value,
			fill.ValueSizeBytes, fill.WidthCount, fill.Height)
	})
}
