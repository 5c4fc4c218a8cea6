package core

import (
	"math"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// Number is what all of this computes with.
type Number = kernelmill.Number

// pair checks two vectors, and says whether there is anything to do.
func pair[T any](n int, x []T, incX int, y []T, incY int) bool {
	increment("x", incX)
	increment("y", incY)
	sizes(n)
	vector("x", x, n, incX)
	vector("y", y, n, incY)
	return n > 0
}

// one checks a vector that is gone through forwards, and says whether there is anything to do.
func one[T any](n int, x []T, incX int) bool {
	increment("x", incX)
	if incX < 0 {
		return false
	}
	sizes(n)
	vector("x", x, n, incX)
	return n > 0
}

// onPair queues a call on two vectors.
func onPair[T Number](e *Engine, x []T, incX int, y []T, incY int, xIsWritten, yIsWritten bool,
	make func(w *worker, x, y kernelmill.Vector[T]) error) {
	ox, oy := &operand[T]{data: x, written: xIsWritten}, &operand[T]{data: y, written: yIsWritten}
	call(e, func(w *worker) error { return make(w, ox.vector(incX), oy.vector(incY)) }, ox, oy)
}

// scalarOf is the slice for one result of T.
func scalarOf[T Number](w *worker) *kernelmill.Slice[T] {
	for _, slice := range []any{w.single, w.double, w.c64, w.c128} {
		if found, fits := slice.(*kernelmill.Slice[T]); fits {
			return found
		}
	}
	return nil
}

// Dot is the sum of x_i y_i.
func Dot[T Number](e *Engine, n int, x []T, incX int, y []T, incY int) (sum T) {
	return dot(e, kernelmill.Dot[T], n, x, incX, y, incY)
}

// Dotc is Dot with the complex conjugates of x.
func Dotc[T Number](e *Engine, n int, x []T, incX int, y []T, incY int) (sum T) {
	return dot(e, kernelmill.Dotc[T], n, x, incX, y, incY)
}

func dot[T Number](e *Engine,
	product func(*kernelmill.BLAS, int, kernelmill.Vector[T], kernelmill.Vector[T],
		*kernelmill.Slice[T]) error, n int, x []T, incX int, y []T, incY int) (sum T) {
	if !pair(n, x, incX, y, incY) {
		return 0
	}
	onPair(e, x, incX, y, incY, false, false, func(w *worker, vx, vy kernelmill.Vector[T]) error {
		err := product(w.blas, n, vx, vy, scalarOf[T](w))
		if err == nil {
			sum, err = result(w, scalarOf[T](w))
		}
		return err
	})
	return sum
}

// real makes a reduction to a real number.
func real[T Number, R float32 | float64](e *Engine, n int, x []T, incX int,
	reduce func(*kernelmill.BLAS, int, kernelmill.Vector[T], *kernelmill.Slice[R]) error) (sum R) {
	if !one(n, x, incX) {
		return 0
	}
	ox := in(x)
	call(e, func(w *worker) error {
		slice := scalarOf[R](w)
		err := reduce(w.blas, n, ox.vector(incX), slice)
		if err == nil {
			sum, err = result(w, slice)
		}
		return err
	}, ox)
	return sum
}

// Nrm2 is the Euclidean norm.
func Nrm2[T Number, R float32 | float64](e *Engine, n int, x []T, incX int) R {
	return real(e, n, x, incX, kernelmill.Nrm2[T, R])
}

// Asum is the sum of the magnitudes, of complex numbers those of both parts.
func Asum[T Number, R float32 | float64](e *Engine, n int, x []T, incX int) R {
	return real(e, n, x, incX, kernelmill.Asum[T, R])
}

// Iamax is the index of the first element with the largest magnitude, -1 when there is none.
func Iamax[T Number](e *Engine, n int, x []T, incX int) int {
	if !one(n, x, incX) {
		return -1
	}
	ox := in(x)
	index := uint64(math.MaxUint64)
	call(e, func(w *worker) error {
		err := kernelmill.Iamax(w.blas, n, ox.vector(incX), w.index)
		if err == nil {
			index, err = result(w, w.index)
		}
		return err
	}, ox)
	return int(index)
}

// Swap exchanges x and y.
func Swap[T Number](e *Engine, n int, x []T, incX int, y []T, incY int) {
	if pair(n, x, incX, y, incY) {
		onPair(e, x, incX, y, incY, true, true, func(w *worker, vx, vy kernelmill.Vector[T]) error {
			return kernelmill.Swap(w.blas, n, vx, vy)
		})
	}
}

// Copy is y = x.
func Copy[T Number](e *Engine, n int, x []T, incX int, y []T, incY int) {
	if pair(n, x, incX, y, incY) {
		onPair(e, x, incX, y, incY, false, true, func(w *worker, vx, vy kernelmill.Vector[T]) error {
			return kernelmill.Copy(w.blas, n, vx, vy)
		})
	}
}

// Axpy is y = alpha x + y.
func Axpy[T Number](e *Engine, n int, alpha T, x []T, incX int, y []T, incY int) {
	if pair(n, x, incX, y, incY) && alpha != 0 {
		onPair(e, x, incX, y, incY, false, true, func(w *worker, vx, vy kernelmill.Vector[T]) error {
			return kernelmill.Axpy(w.blas, n, alpha, vx, vy)
		})
	}
}

// Scal is x = alpha x.
func Scal[T Number](e *Engine, n int, alpha T, x []T, incX int) {
	if !one(n, x, incX) {
		return
	}
	ox := out(x)
	call(e, func(w *worker) error {
		return kernelmill.Scal(w.blas, n, alpha, ox.vector(incX))
	}, ox)
}

// Rot is a plane rotation.
func Rot[T float32 | float64](e *Engine, n int, x []T, incX int, y []T, incY int, c, s T) {
	if pair(n, x, incX, y, incY) {
		onPair(e, x, incX, y, incY, true, true, func(w *worker, vx, vy kernelmill.Vector[T]) error {
			return kernelmill.Rot(w.blas, n, vx, vy, float64(c), float64(s))
		})
	}
}

// Rotm is a modified plane rotation by a flag and four numbers: h11, h21, h12, h22.
func Rotm[T float32 | float64](e *Engine, n int, x []T, incX int, y []T, incY int, flag int, h [4]T) {
	if flag < -2 || flag > 1 {
		panic("blas: illegal rotm flag")
	}
	if pair(n, x, incX, y, incY) && flag != -2 {
		onPair(e, x, incX, y, incY, true, true, func(w *worker, vx, vy kernelmill.Vector[T]) error {
			return kernelmill.Rotm(w.blas, n, vx, vy, [5]T{T(flag), h[0], h[1], h[2], h[3]})
		})
	}
}

// Rotg is the rotation that turns (a, b) into (r, 0).
func Rotg[T float32 | float64](a, b T) (c, s, r, z T) {
	if a != a || b != b { // no number
		return a + b, a + b, a + b, a + b
	}
	rotation, err := kernelmill.Rotg(a, b)
	if err != nil {
		panic(err)
	}
	return T(rotation.Cos), rotation.Sin, rotation.R, rotation.Z
}

// Rotmg is the modified rotation that makes the second number 0.
func Rotmg[T float32 | float64](d1, d2, x1, y1 T) (flag int, h [4]T, rd1, rd2, rx1 T) {
	parameters, rd1, rd2, rx1, err := kernelmill.Rotmg(d1, d2, x1, y1)
	if err != nil {
		panic(err)
	}
	h = [4]T(parameters[1:])
	if d1 == 0 { // gonum leaves out what is multiplied by a weight of 0
		h = [4]T{}
	}
	return int(parameters[0]), h, rd1, rd2, rx1
}

// WideDot is the sum of x_i y_i, added up in float64.
func WideDot(e *Engine, n int, x []float32, incX int, y []float32, incY int) float64 {
	if !pair(n, x, incX, y, incY) {
		return 0
	}
	return Dot(e, n, wide(x, n, incX), 1, wide(y, n, incY), 1)
}

// wide is the numbers of a vector as float64, one after the other.
func wide(x []float32, n, inc int) []float64 {
	numbers := make([]float64, n)
	at := 0
	if inc < 0 {
		at = (1 - n) * inc
	}
	for i := range numbers {
		numbers[i] = float64(x[at])
		at += inc
	}
	return numbers
}
