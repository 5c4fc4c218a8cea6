package kernelmill

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// cString is a text as C takes it, with a zero at its end.
func cString(op, what, text string) (unsafe.Pointer, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return nil, fail(op, ErrInvalidArgument, what+" has a zero byte in it")
	}
	bytes := make([]byte, len(text)+1)
	copy(bytes, text)
	return unsafe.Pointer(&bytes[0]), nil
}

// cStringOrNull is the same, with null, which means the default, for "".
func cStringOrNull(op, what, text string) (unsafe.Pointer, error) {
	if text == "" {
		return nil, nil
	}
	return cString(op, what, text)
}

// cText is a text that goes with its size: never null, for the library tells null from empty.
func cText(text string) unsafe.Pointer {
	if text == "" {
		return unsafe.Pointer(new(byte))
	}
	return unsafe.Pointer(unsafe.StringData(text))
}

// counted is "1 argument", "2 arguments".
func counted(count uint64, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", count, noun)
}

// copyText reads a text by one of the library's calls that copy out.
func copyText(op string, call func(buffer unsafe.Pointer, capacity uint64,
	outSize unsafe.Pointer) *raw.Failure) (string, error) {
	for {
		var size uint64
		if err := check(op, call(nil, 0, unsafe.Pointer(&size))); err != nil {
			return "", err
		}
		if size <= 1 {
			return "", nil
		}
		buffer := make([]byte, size)
		failure := call(unsafe.Pointer(&buffer[0]), size, unsafe.Pointer(&size))
		if failure != nil && Status(failure.Status) == ErrBufferTooSmall {
			continue // it has grown since
		}
		if err := check(op, failure); err != nil {
			return "", err
		}
		return fixedText(buffer), nil
	}
}

// textOf is copyText for a text of an object.
func textOf(o *object, op string, call func(id uint64, buffer unsafe.Pointer, capacity uint64,
	outSize unsafe.Pointer) *raw.Failure) (string, error) {
	id, err := o.use(op)
	if err != nil {
		return "", err
	}
	text, err := copyText(op, func(b unsafe.Pointer, n uint64, out unsafe.Pointer) *raw.Failure {
		return call(id, b, n, out)
	})
	runtime.KeepAlive(o)
	return text, err
}

// fixedText is what an array of characters holds before its first zero.
func fixedText(bytes []byte) string {
	text, _, _ := strings.Cut(string(bytes), "\x00")
	return text
}
