package kernelmill

import (
	"errors"
	"fmt"
	"io"
)

// Bytes makes a slice of bytes one of Go's readers and writers, by copies in a stream:
// [io.ReaderAt], [io.WriterAt], [io.ReaderFrom], [io.WriterTo].
type Bytes struct {
	slice  *Slice[byte]
	stream *Stream
}

var (
	_ io.ReaderAt   = Bytes{}
	_ io.WriterAt   = Bytes{}
	_ io.ReaderFrom = Bytes{}
	_ io.WriterTo   = Bytes{}
)

// BytesOn gives a slice's readers and writers.
func BytesOn(stream *Stream, slice *Slice[byte]) Bytes { return Bytes{slice, stream} }

// chunkBytes is how much ReadFrom and WriteTo copy at a time.
const chunkBytes = 1 << 20

// check gives the error of a closed slice or of an offset outside of it.
func (b Bytes) check(op string, offset int64) error {
	if _, err := b.slice.base().useArgument(op, "the slice"); err != nil {
		return err
	}
	if _, err := b.stream.base().useArgument(op, "the stream"); err != nil {
		return err
	}
	if offset < 0 || offset > int64(b.slice.Len()) {
		return fail(op, ErrOutOfBounds,
			fmt.Sprintf("the offset %d in a slice of %d", offset, b.slice.Len()))
	}
	return nil
}

// ReadAt copies bytes of the slice, from an offset on; [io.EOF] when there are not that many.
func (b Bytes) ReadAt(to []byte, offset int64) (int, error) {
	const op = "Bytes.ReadAt"
	if err := b.check(op, offset); err != nil {
		return 0, err
	}
	count := min(len(to), b.slice.Len()-int(offset))
	if err := b.slice.downloadAt(op, b.stream, uint64(offset), to[:count]); err != nil {
		return 0, err
	}
	if count < len(to) {
		return count, io.EOF
	}
	return count, nil
}

// WriteAt copies bytes to the slice, from an offset on. What does not fit is an [ErrOutOfBounds],
// and nothing is written then.
func (b Bytes) WriteAt(from []byte, offset int64) (int, error) {
	const op = "Bytes.WriteAt"
	if err := b.check(op, offset); err != nil {
		return 0, err
	}
	if err := b.slice.uploadAt(op, b.stream, uint64(offset), from); err != nil {
		return 0, err
	}
	return len(from), nil
}

// ReadFrom copies what a reader has to the beginning of the slice, up to its end;
// [io.ErrShortWrite] when it has more.
func (b Bytes) ReadFrom(reader io.Reader) (int64, error) {
	const op = "Bytes.ReadFrom"
	if err := b.check(op, 0); err != nil {
		return 0, err
	}
	if reader == nil {
		return 0, nilError(op, "the reader")
	}
	buffer := make([]byte, min(chunkBytes, b.slice.Len()+1))
	var written int64
	for {
		count, err := reader.Read(buffer)
		if count > 0 {
			room := min(int64(count), int64(b.slice.Len())-written)
			if _, err := b.WriteAt(buffer[:room], written); err != nil {
				return written, renamed(op, err)
			}
			written += room
			if room < int64(count) {
				return written, io.ErrShortWrite
			}
		}
		if errors.Is(err, io.EOF) {
			return written, nil
		}
		if err != nil {
			return written, err
		}
	}
}

// WriteTo copies all bytes of the slice to a writer.
func (b Bytes) WriteTo(writer io.Writer) (int64, error) {
	const op = "Bytes.WriteTo"
	if err := b.check(op, 0); err != nil {
		return 0, err
	}
	if writer == nil {
		return 0, nilError(op, "the writer")
	}
	buffer := make([]byte, min(chunkBytes, b.slice.Len()))
	var written int64
	for written < int64(b.slice.Len()) {
		count := min(len(buffer), b.slice.Len()-int(written))
		if _, err := b.ReadAt(buffer[:count], written); err != nil {
			return written, renamed(op, err)
		}
		put, err := writer.Write(buffer[:count])
		written += int64(put)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}
