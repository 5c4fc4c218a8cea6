package kernelmill

import (
	"fmt"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// HalfComplex is a complex number of two [Half]: the real part in the low bits.
type HalfComplex uint32

// FFTNumber is what transforms take and give.
type FFTNumber interface {
	Number | Half | HalfComplex
}

// FFTLayout says where the elements of one side of a transform lie.
type FFTLayout struct {
	Extents  [3]int // elements in memory for each dimension, of which the first is not used
	Stride   int    // elements from one of the last dimension to the next
	Distance int    // elements from one transform to the next
}

// FFTShape is the shape of transforms.
type FFTShape struct {
	Sizes []int // one to three, the slowest dimension first, of the real side
	Batch int   // how many transforms; 0: one
	// The places of elements; nothing: densely. Those of the output lie apart: each dimension, and the
	// batch, steps over all elements of those that have smaller steps.
	Input, Output FFTLayout
	Format        HalfFormat // of Half and HalfComplex; 0: F16
}

// FFT is a plan of Fourier transforms in a stream, from complex to complex numbers, from real to
// complex ones, or back. Its calls are queued, like kernels. Results are not scaled: forward and
// then inverse gives the numbers times the number of elements of one transform.
type FFT[In, Out FFTNumber] struct{ object }

// NewFFT plans transforms for a stream. It blocks while tables are computed. On NVIDIA GPUs it gives
// [ErrBLASUnavailable] without cuFFT.
func NewFFT[In, Out FFTNumber](stream *Stream, shape FFTShape) (*FFT[In, Out], error) {
	const op = "NewFFT"
	native, err := nativeShape(op, shape)
	if err != nil {
		return nil, err
	}
	from, to := fftElementOf[In](shape.Format), fftElementOf[Out](shape.Format)
	switch {
	case from.real != to.real || !from.isComplex && !to.isComplex:
		return nil, fail(op, ErrInvalidArgument, fmt.Sprintf("there is no transform from %T to %T",
			*new(In), *new(Out)))
	case !from.isComplex:
		native.Kind = raw.FFT_KIND_REAL_TO_COMPLEX
	case !to.isComplex:
		native.Kind = raw.FFT_KIND_COMPLEX_TO_REAL
	default:
		native.Kind = raw.FFT_KIND_COMPLEX
	}
	native.Type = from.real
	id, err := get[uint64](stream.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_fft_create(id, unsafe.Pointer(&native), out)
	})
	if err != nil {
		return nil, err
	}
	fft := &FFT[In, Out]{}
	fft.open(id, raw.Km_fft_destroy)
	return fft, nil
}

func (f *FFT[In, Out]) base() *object {
	if f == nil {
		return nil
	}
	return &f.object
}

// Close lets the object go. Calls that are queued go on.
func (f *FFT[In, Out]) Close() error { return f.base().close("FFT.Close") }

// Forward queues the transform with exp(-2 pi i j k / n), for complex results. Both may be the same
// place; otherwise the input keeps its values.
func (f *FFT[In, Out]) Forward(input Array[In], output Array[Out]) error {
	return f.execute("FFT.Forward", raw.FFT_DIRECTION_FORWARD, input, output)
}

// Inverse queues the transform with exp(2 pi i j k / n), for complex inputs.
func (f *FFT[In, Out]) Inverse(input Array[In], output Array[Out]) error {
	return f.execute("FFT.Inverse", raw.FFT_DIRECTION_INVERSE, input, output)
}

func (f *FFT[In, Out]) execute(op string, direction int32, input Array[In],
	output Array[Out]) error {
	c := beginCall(f.base(), op, "the FFT object")
	from, to := arrayIn(c, "the input", input), arrayIn(c, "the output", output)
	return c.end(func(id uint64) *raw.Failure { return raw.Km_fft_execute(id, direction, from, to) })
}

// Array is where numbers lie: in a slice from an element on, or at a device address.
type Array[T Element] struct {
	slice   Memory
	address uint64
	offset  uint64
}

// ArrayOf is an array from the beginning of a slice.
func ArrayOf[T Element](slice *Slice[T]) Array[T] { return Array[T]{slice: slice} }

// ArrayAt is an array at a device address.
func ArrayAt[T Element](address uint64) Array[T] { return Array[T]{address: address} }

// From is the array with its first element at an offset in elements.
func (a Array[T]) From(offset int) Array[T] {
	a.offset = uint64(int64(offset))
	return a
}

func arrayIn[T Element](c *blasCall, name string, a Array[T]) unsafe.Pointer {
	return unsafe.Pointer(&raw.Array{Slice: c.sliceOf(name, a.slice, a.address),
		Address: a.address, Offset: a.offset})
}

// fftElement is the kind of an element: the library's name of its parts.
type fftElement struct {
	real      int32
	isComplex bool
}

func fftElementOf[T FFTNumber](format HalfFormat) fftElement {
	if format == 0 {
		format = F16
	}
	switch any(*new(T)).(type) {
	case float32:
		return fftElement{raw.DATA_TYPE_F32, false}
	case float64:
		return fftElement{raw.DATA_TYPE_F64, false}
	case complex64:
		return fftElement{raw.DATA_TYPE_F32, true}
	case complex128:
		return fftElement{raw.DATA_TYPE_F64, true}
	case Half:
		return fftElement{int32(format), false}
	}
	return fftElement{int32(format), true}
}

// nativeShape is the shape as the library has it, which checks it.
func nativeShape(op string, shape FFTShape) (raw.FftShape, error) {
	c := &blasCall{op: op}
	native := raw.FftShape{Rank: uint32(len(shape.Sizes)), BatchCount: 1}
	for i, size := range shape.Sizes[:min(len(shape.Sizes), len(native.Sizes))] {
		native.Sizes[i] = c.size(fmt.Sprintf("Sizes[%d]", i), size)
	}
	if shape.Batch != 0 {
		native.BatchCount = c.size("Batch", shape.Batch)
	}
	native.Input = nativeLayout(c, "Input", shape.Input)
	native.Output = nativeLayout(c, "Output", shape.Output)
	return native, c.failed
}

func nativeLayout(c *blasCall, name string, layout FFTLayout) raw.FftLayout {
	native := raw.FftLayout{Stride: c.size(name+".Stride", layout.Stride),
		Distance: c.size(name+".Distance", layout.Distance)}
	for i, extent := range layout.Extents {
		native.Extents[i] = c.size(fmt.Sprintf("%s.Extents[%d]", name, i), extent)
	}
	return native
}
