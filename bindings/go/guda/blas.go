package guda

import (
	"errors"
	"math"
	"runtime"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// Float32s is where a vector lies: in device memory, or in memory of the host.
type Float32s interface {
	DevicePtr | []float32 | unsafe.Pointer
}

// Sscal multiplies n numbers, inc apart, by alpha: in the default stream of the current device.
// With memory of the host it waits until that is done, else it does not.
func Sscal[X Float32s](n int, alpha float32, x X, inc int) error {
	return SscalAsync(n, alpha, x, inc, Stream{})
}

// SscalAsync is Sscal in the order of a stream. With memory of the host, which it does not keep, it
// waits.
func SscalAsync[X Float32s](n int, alpha float32, x X, inc int, stream Stream) error {
	return inStream(stream, 0, func(s *streamState) error {
		return s.withVectors(n, func(blas *kernelmill.BLAS, v []kernelmill.Vector[float32]) error {
			return kernelmill.Scal(blas, n, alpha, v[0])
		}, operandOf(x, inc))
	})
}

// Saxpy adds alpha times n numbers of x, incX apart, to those of y: in the default stream of the
// current device. With memory of the host it waits until that is done, else it does not.
func Saxpy[X, Y Float32s](n int, alpha float32, x X, incX int, y Y, incY int) error {
	return SaxpyAsync(n, alpha, x, incX, y, incY, Stream{})
}

// SaxpyAsync is Saxpy in the order of a stream. With memory of the host, which it does not keep, it
// waits.
func SaxpyAsync[X, Y Float32s](
	n int, alpha float32, x X, incX int, y Y, incY int, stream Stream,
) error {
	return inStream(stream, 0, func(s *streamState) error {
		return s.withVectors(n, func(blas *kernelmill.BLAS, v []kernelmill.Vector[float32]) error {
			return kernelmill.Axpy(blas, n, alpha, v[0], v[1])
		}, operandOf(x, incX), operandOf(y, incY))
	})
}

// operand is a vector that a call was given.
type operand struct {
	device    DevicePtr
	host      unsafe.Pointer
	length    int // of what lies at host, -1: not known
	increment int
}

func operandOf[X Float32s](x X, increment int) operand {
	switch p := any(x).(type) {
	case DevicePtr:
		return operand{device: p, increment: increment}
	case []float32:
		return operand{host: unsafe.Pointer(unsafe.SliceData(p)), length: len(p), increment: increment}
	case unsafe.Pointer:
		return operand{host: p, length: -1, increment: increment}
	}
	return operand{}
}

// extent is how many numbers n of them, 1 at least, reach over, if that many can be.
func (o operand) extent(n int) (count int, fits bool) {
	apart := max(o.increment, -o.increment) // below 0 for the one that has no opposite
	const most = math.MaxInt / 4
	if apart < 0 || n-1 > (most-1)/apart {
		return 0, false
	}
	return (n-1)*apart + 1, true
}

// vector is the operand for the library, with n numbers.
func (o operand) vector(
	d *Device, n int, borrowed *hostSlices,
) (kernelmill.Vector[float32], error) {
	if o.host == nil {
		if o.device == 0 && n > 0 {
			return kernelmill.Vector[float32]{}, invalid("a vector is nil")
		}
		return kernelmill.VectorAt[float32](uint64(o.device)).Inc(o.increment), nil
	}
	count, fits := o.extent(n)
	if !fits || o.length >= 0 && count > o.length {
		return kernelmill.Vector[float32]{}, o.tooShort(n)
	}
	slice, err := o.borrow(d, count, borrowed)
	if err != nil {
		return kernelmill.Vector[float32]{}, err
	}
	return kernelmill.VectorOf(slice).Inc(o.increment), nil
}

// borrow makes so many numbers of the host a slice until the call is done.
func (o operand) borrow(
	d *Device, count int, borrowed *hostSlices,
) (*kernelmill.Slice[float32], error) {
	opened, err := d.open()
	if err != nil {
		return nil, err
	}
	slice, err := kernelmill.SliceOver(opened, unsafe.Slice((*float32)(o.host), count))
	if err == nil {
		*borrowed = append(*borrowed, slice)
	}
	return slice, err
}

// tooShort is the error of a vector that has not n numbers.
func (o operand) tooShort(n int) error {
	if o.length < 0 {
		return invalid("%d numbers, %d apart: no memory has as many", n, o.increment)
	}
	return invalid("%d numbers, %d apart, of a slice of %d", n, o.increment, o.length)
}

// withVectors makes a call of BLAS, and waits for it when memory of the host takes part.
func (s *streamState) withVectors(n int,
	call func(*kernelmill.BLAS, []kernelmill.Vector[float32]) error, operands ...operand) error {
	if n < 0 {
		return invalid("%d numbers: the count is negative", n)
	}
	for _, o := range operands {
		if o.increment == 0 {
			return invalid("an increment is 0")
		}
	}
	if n == 0 {
		return nil
	}
	blas, err := s.useBLAS()
	if err != nil {
		return err
	}
	var vectors [2]kernelmill.Vector[float32]
	var borrowed hostSlices
	for i, o := range operands {
		if vectors[i], err = o.vector(s.device, n, &borrowed); err != nil {
			break
		}
	}
	if err == nil {
		err = call(blas, vectors[:len(operands)])
	}
	err = borrowed.giveBack(s, err)
	runtime.KeepAlive(operands)
	return err
}

// hostSlices are those over memory of the host that a call borrows.
type hostSlices []*kernelmill.Slice[float32]

// giveBack waits for the call, if it has borrowed memory, which ended with err.
func (b hostSlices) giveBack(s *streamState, err error) error {
	if len(b) > 0 {
		err = errors.Join(err, s.stream.Synchronize())
	}
	for _, slice := range b {
		err = errors.Join(err, slice.Close())
	}
	return err
}

// useBLAS gives the BLAS object of the stream, which the first call makes.
func (s *streamState) useBLAS() (*kernelmill.BLAS, error) {
	if blas := s.blas.Load(); blas != nil {
		return blas, nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if blas := s.blas.Load(); blas != nil {
		return blas, nil
	}
	blas, err := s.stream.NewBLAS(kernelmill.RowMajor)
	if err != nil {
		return nil, err
	}
	s.blas.Store(blas)
	return blas, nil
}
