package kernelmill_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func fftNumbers(count int) []complex64 {
	numbers := make([]complex64, count)
	for i := range numbers {
		numbers[i] = complex(float32(i*7%11)-5, float32(i*3%5)-2)
	}
	return numbers
}

// transformed is the transform of a line by its definition.
func transformed(from []complex64, sign float64) []complex64 {
	to := make([]complex64, len(from))
	for k := range to {
		var sum complex128
		for j, number := range from {
			angle := sign * 2 * math.Pi * float64(j*k%len(from)) / float64(len(from))
			sum += complex128(number) * cmplx.Rect(1, angle)
		}
		to[k] = complex64(sum)
	}
	return to
}

func near(t *testing.T, found, wanted []complex64) {
	t.Helper()
	equal(t, len(found), len(wanted))
	for i := range found {
		if cmplx.Abs(complex128(found[i]-wanted[i])) > 1e-4 {
			t.Errorf("element %d is %v, not %v", i, found[i], wanted[i])
		}
	}
}

func upload[T kernelmill.Element](f *fixture, numbers []T) *kernelmill.Slice[T] {
	return keep(f, must(kernelmill.SliceOf(f.stream, numbers))(f))
}

func newFFT[In, Out kernelmill.FFTNumber](f *fixture,
	shape kernelmill.FFTShape) *kernelmill.FFT[In, Out] {
	return keep(f, must(kernelmill.NewFFT[In, Out](f.stream, shape))(f))
}

func TestTransformsOfComplexNumbers(t *testing.T) {
	f := newFixture(t)
	given := fftNumbers(20)
	x, y := upload(f, given), upload(f, make([]complex64, 20))
	fft := newFFT[complex64, complex64](f, kernelmill.FFTShape{Sizes: []int{10}, Batch: 2})
	ok(t, fft.Forward(kernelmill.ArrayOf(x), kernelmill.ArrayOf(y)))
	found := must(y.ToHost(f.stream))(t)
	near(t, found[:10], transformed(given[:10], -1))
	near(t, found[10:], transformed(given[10:], -1))
	ok(t, fft.Inverse(kernelmill.ArrayOf(y), kernelmill.ArrayOf(y)))
	for i := range given {
		given[i] *= 10
	}
	near(t, must(y.ToHost(f.stream))(t), given)
	// An address does as well as a slice.
	address := must(y.Address())(t)
	ok(t, fft.Forward(kernelmill.ArrayOf(x), kernelmill.ArrayAt[complex64](address)))
	near(t, must(y.ToHost(f.stream))(t), found)
}

func TestTransformsOfRealNumbers(t *testing.T) {
	f := newFixture(t)
	reals, given := make([]float32, 12), make([]complex64, 12)
	for i, number := range fftNumbers(12) {
		reals[i], given[i] = real(number), complex(real(number), 0)
	}
	x, half := upload(f, reals), upload(f, make([]complex64, 7))
	shape := kernelmill.FFTShape{Sizes: []int{12}}
	there, back := newFFT[float32, complex64](f, shape), newFFT[complex64, float32](f, shape)
	ok(t, there.Forward(kernelmill.ArrayOf(x), kernelmill.ArrayOf(half)))
	near(t, must(half.ToHost(f.stream))(t), transformed(given, -1)[:7])
	ok(t, back.Inverse(kernelmill.ArrayOf(half), kernelmill.ArrayOf(x)))
	for i, number := range must(x.ToHost(f.stream))(t) {
		if math.Abs(float64(number-12*reals[i])) > 1e-4 {
			t.Errorf("element %d is %v, not %v", i, number, 12*reals[i])
		}
	}
	expect(t, kernelmill.ErrInvalidArgument,
		there.Inverse(kernelmill.ArrayOf(x), kernelmill.ArrayOf(half)))
}

func TestLayoutsOfTransforms(t *testing.T) {
	f := newFixture(t)
	given := fftNumbers(13)
	x, y := upload(f, given), upload(f, make([]complex64, 10))
	fft := newFFT[complex64, complex64](f, kernelmill.FFTShape{Sizes: []int{5}, Batch: 2,
		Input: kernelmill.FFTLayout{Stride: 2, Distance: 1}})
	ok(t, fft.Forward(kernelmill.ArrayOf(x).From(3), kernelmill.ArrayOf(y)))
	line := []complex64{given[4], given[6], given[8], given[10], given[12]}
	near(t, must(y.ToHost(f.stream))(t)[5:], transformed(line, -1))
	expect(t, kernelmill.ErrOutOfBounds,
		fft.Forward(kernelmill.ArrayOf(x).From(4), kernelmill.ArrayOf(y)))
	part := keep(f, must(x.View(0, 9))(t))
	expect(t, kernelmill.ErrOutOfBounds,
		fft.Forward(kernelmill.ArrayOf(part), kernelmill.ArrayOf(y)))
}

func TestTransformsOf16Bits(t *testing.T) {
	f := newFixture(t)
	shape := kernelmill.FFTShape{Sizes: []int{4}}
	x := upload(f, []kernelmill.HalfComplex{0x3C00, 0x3C00, 0x3C00, 0x3C00})
	complexFFT := newFFT[kernelmill.HalfComplex, kernelmill.HalfComplex](f, shape)
	ok(t, complexFFT.Forward(kernelmill.ArrayOf(x), kernelmill.ArrayOf(x)))
	equal(t, must(x.ToHost(f.stream))(t)[0], kernelmill.HalfComplex(0x4400))
	shape.Format = kernelmill.BF16
	reals := upload(f, []kernelmill.Half{0x3F80, 0x3F80, 0x3F80, 0x3F80})
	half := upload(f, make([]kernelmill.HalfComplex, 3))
	realFFT := newFFT[kernelmill.Half, kernelmill.HalfComplex](f, shape)
	ok(t, realFFT.Forward(kernelmill.ArrayOf(reals), kernelmill.ArrayOf(half)))
	equal(t, must(half.ToHost(f.stream))(t)[0], kernelmill.HalfComplex(0x4080))
}

func TestWrongTransforms(t *testing.T) {
	f := newFixture(t)
	make := func(shape kernelmill.FFTShape) error {
		return errorOf(kernelmill.NewFFT[complex64, complex64](f.stream, shape))
	}
	for _, shape := range []kernelmill.FFTShape{
		{}, {Sizes: []int{1, 2, 3, 4}}, {Sizes: []int{0}}, {Sizes: []int{-1}},
		{Sizes: []int{4}, Batch: -1},
		{Sizes: []int{4}, Batch: 2, Output: kernelmill.FFTLayout{Stride: 1, Distance: 3}},
		{Sizes: []int{4}, Input: kernelmill.FFTLayout{Distance: 4}},
	} {
		expect(t, kernelmill.ErrInvalidArgument, make(shape))
	}
	shape := kernelmill.FFTShape{Sizes: []int{4}}
	expect(t, kernelmill.ErrInvalidArgument,
		errorOf(kernelmill.NewFFT[float32, float32](f.stream, shape)))
	expect(t, kernelmill.ErrInvalidArgument,
		errorOf(kernelmill.NewFFT[complex64, complex128](f.stream, shape)))
	fft := must(kernelmill.NewFFT[complex64, complex64](f.stream, shape))(t)
	ok(t, fft.Close())
	x := upload(f, fftNumbers(4))
	expect(t, kernelmill.ErrInvalidHandle,
		fft.Forward(kernelmill.ArrayOf(x), kernelmill.ArrayOf(x)))
	expect(t, kernelmill.ErrInvalidHandle, (*kernelmill.FFT[complex64, complex64])(nil).Forward(
		kernelmill.ArrayOf(x), kernelmill.ArrayOf(x)))
}

func TestCapturedTransforms(t *testing.T) {
	f := newFixture(t)
	given := fftNumbers(8)
	x := upload(f, given)
	ok(t, f.stream.Synchronize())
	graph := keep(f, must(f.context.Capture(func(stream *kernelmill.Stream) error {
		fft, err := kernelmill.NewFFT[complex64, complex64](stream,
			kernelmill.FFTShape{Sizes: []int{8}})
		if err != nil {
			return err
		}
		defer fft.Close()
		return fft.Forward(kernelmill.ArrayOf(x), kernelmill.ArrayOf(x))
	}))(t))
	nodes := must(graph.Nodes())(t)
	equal(t, must(graph.NodeInfo(nodes[0]))(t).Kind, kernelmill.NodeLibrary)
	exec := keep(f, must(graph.Instantiate())(t))
	ok(t, exec.Launch(f.stream))
	near(t, must(x.ToHost(f.stream))(t), transformed(given, -1))
}
