package kernelmill

import (
	"fmt"
	"math"
	"os"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// MapFile maps elements of a file, from an offset on, as a slice, without reading them: pages are
// read when they are used, so that the file may be larger than memory. Length -1 means all that
// there are. What would write to it is refused, and kernels that do so fail with
// [ErrIllegalAddress]: see [MapFilePrivate].
func MapFile[T Element](
	context *Context, path string, offsetBytes uint64, length int,
) (*Slice[T], error) {
	return mapFile[T](context, "MapFile", path, offsetBytes, length, raw.MAP_READ_ONLY)
}

// MapFilePrivate is MapFile with memory that may be written; the file never changes.
func MapFilePrivate[T Element](
	context *Context, path string, offsetBytes uint64, length int,
) (*Slice[T], error) {
	return mapFile[T](context, "MapFilePrivate", path, offsetBytes, length, raw.MAP_PRIVATE)
}

func mapFile[T Element](context *Context, op, path string, offsetBytes uint64, length int,
	flags uint32) (*Slice[T], error) {
	cPath, err := cString(op, "the path", path)
	if err != nil {
		return nil, err
	}
	count, err := mappedCount[T](op, path, offsetBytes, length)
	if err != nil {
		return nil, err
	}
	id, err := getFrom[uint64](context.base(), op, "the context",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_slice_map_file(id, cPath, offsetBytes, count, sizeOf[T](), flags, out)
		})
	if err != nil {
		return nil, err
	}
	setElementType[T](id)
	return openSlice[T](id, int(count), false), nil
}

// mappedCount is how many elements of a file a length of -1, or one that is given, means. A file
// that is not there is left to the library to name.
func mappedCount[T Element](op, path string, offsetBytes uint64, length int) (uint64, error) {
	if length < -1 {
		return 0, fail(op, ErrInvalidArgument, fmt.Sprintf("the length %d is negative", length))
	}
	if length >= 0 {
		if uint64(length) > math.MaxUint64/sizeOf[T]() {
			return 0, fail(op, ErrOutOfBounds, fmt.Sprintf("%d elements do not fit", length))
		}
		return uint64(length), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return 1, nil
	}
	return (uint64(info.Size()) - min(offsetBytes, uint64(info.Size()))) / sizeOf[T](), nil
}
