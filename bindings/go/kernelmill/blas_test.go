package kernelmill_test

import (
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

const order = 5 // of the matrices

// algebra has a BLAS object and random operands of one type.
type algebra[T kernelmill.Number] struct {
	*fixture
	blas   *kernelmill.BLAS
	random *rand.Rand
}

func newAlgebra[T kernelmill.Number](t *testing.T, layout kernelmill.Layout) *algebra[T] {
	f := newFixture(t)
	blas := must(f.stream.NewBLAS(layout))(t)
	return &algebra[T]{fixture: f, blas: keep(f, blas), random: rand.New(rand.NewPCG(1, 2))}
}

// number makes one of T of a complex number.
func number[T kernelmill.Number](value complex128) T {
	var out T
	switch p := any(&out).(type) {
	case *float32:
		*p = float32(real(value))
	case *float64:
		*p = real(value)
	case *complex64:
		*p = complex64(value)
	case *complex128:
		*p = value
	}
	return out
}

func value[T kernelmill.Number](n T) complex128 {
	switch v := any(n).(type) {
	case float32:
		return complex(float64(v), 0)
	case float64:
		return complex(v, 0)
	case complex64:
		return complex128(v)
	case complex128:
		return v
	}
	return 0
}

// some gives random numbers between 1 and 2.
func (a *algebra[T]) some(count int) []T {
	numbers := make([]T, count)
	for i := range numbers {
		numbers[i] = number[T](complex(1+a.random.Float64(), 1+a.random.Float64()))
	}
	return numbers
}

func (a *algebra[T]) put(numbers []T) *kernelmill.Slice[T] {
	return keep(a.fixture, must(kernelmill.SliceOf(a.stream, numbers))(a))
}

func (a *algebra[T]) take(slice *kernelmill.Slice[T]) []T { return must(slice.ToHost(a.stream))(a) }

func vec[T kernelmill.Number](s *kernelmill.Slice[T]) kernelmill.Vector[T] {
	return kernelmill.VectorOf(s)
}

func mat[T kernelmill.Number](s *kernelmill.Slice[T], lines int) kernelmill.Matrix[T] {
	return kernelmill.MatrixOf[T](s, lines)
}

// same compares numbers to within rounding.
func (a *algebra[T]) same(what string, got, wanted []T) {
	a.Helper()
	for i := range wanted {
		if cmplx.Abs(value(got[i])-value(wanted[i])) > 1e-4*(1+cmplx.Abs(value(wanted[i]))) {
			a.Errorf("%s, element %d: %v; expected %v", what, i, got[i], wanted[i])
			return
		}
	}
}

func conj[T kernelmill.Number](n T) T { return number[T](cmplx.Conj(value(n))) }
func level1[T kernelmill.Number](t *testing.T) {
	a := newAlgebra[T](t, kernelmill.RowMajor)
	xs, ys, alpha := a.some(order), a.some(order), number[T](2+1i)
	x, y := a.put(xs), a.put(ys)
	wanted := make([]T, order)
	for i := range wanted {
		wanted[i] = ys[i] + alpha*xs[i]
	}
	ok(t, kernelmill.Axpy(a.blas, order, alpha, vec(x), vec(y)))
	a.same("Axpy", a.take(y), wanted)
	ok(t, kernelmill.Scal(a.blas, 2, alpha, vec(y).From(1).Inc(2)))
	wanted[1], wanted[3] = alpha*wanted[1], alpha*wanted[3]
	a.same("Scal", a.take(y), wanted)
	ok(t, kernelmill.Swap(a.blas, order, vec(x), vec(y)))
	a.same("Swap", append(a.take(y), a.take(x)...), append(xs, wanted...))
	ok(t, kernelmill.Copy(a.blas, order, vec(y), vec(x).Inc(-1)))
	a.same("Copy", a.take(x)[:1], xs[order-1:])
	result := a.put(make([]T, 1))
	ok(t, kernelmill.Dot(a.blas, 2, vec(y), vec(y), result))
	a.same("Dot", a.take(result), []T{xs[0]*xs[0] + xs[1]*xs[1]})
	ok(t, kernelmill.Dotc(a.blas, 2, vec(y), vec(y), result))
	a.same("Dotc", a.take(result), []T{xs[0]*conj(xs[0]) + xs[1]*conj(xs[1])})
	biggest := keep(a.fixture, must(kernelmill.NewSlice[uint64](a.context, 1))(a))
	ok(t, kernelmill.Iamax(a.blas, 1, vec(y), biggest))
	equal(t, must(biggest.ToHost(a.stream))(t)[0], 0)
	ok(t, kernelmill.Iamax(a.blas, 0, vec(y), biggest))
	equal(t, must(biggest.ToHost(a.stream))(t)[0], math.MaxUint64)
	rotation := must(kernelmill.Rotg(xs[0], ys[0]))(t)
	first, second := a.put(xs[:1]), a.put(ys[:1])
	turned := number[T](complex(rotation.Cos, 0))*xs[0] + rotation.Sin*ys[0]
	a.same("Rotg", []T{turned}, []T{rotation.R})
	ok(t, kernelmill.Rot(a.blas, 1, vec(first), vec(second), 0, 1))
	a.same("Rot", append(a.take(first), a.take(second)...), []T{ys[0], -xs[0]})
}

// undo multiplies by a triangular matrix and solves, in all three forms of storage.
func undo[T kernelmill.Number](t *testing.T, layout kernelmill.Layout) {
	a := newAlgebra[T](t, layout)
	xs := a.some(order)
	m, packed := mat(a.put(a.some(order*order)), order), mat(a.put(a.some(order*order)), 0)
	band := mat(a.put(a.some(3*order)), 3)
	x, alpha := a.put(xs), number[T](1)
	b, bs := a.put(a.some(order*order)), a.some(order*order)
	const unit, plain = kernelmill.UnitDiagonal, kernelmill.StoredDiagonal
	for _, triangle := range []kernelmill.Triangle{kernelmill.Lower, kernelmill.Upper} {
		for _, op := range []kernelmill.Operation{kernelmill.NoTranspose, kernelmill.Transpose,
			kernelmill.ConjugateTranspose} {
			ok(t, errors.Join(
				kernelmill.Trmv(a.blas, triangle, op, plain, order, m, vec(x)),
				kernelmill.Trsv(a.blas, triangle, op, plain, order, m, vec(x)),
				kernelmill.Tpmv(a.blas, triangle, op, unit, order, packed, vec(x)),
				kernelmill.Tpsv(a.blas, triangle, op, unit, order, packed, vec(x)),
				kernelmill.Tbmv(a.blas, triangle, op, plain, order, 2, band, vec(x)),
				kernelmill.Tbsv(a.blas, triangle, op, plain, order, 2, band, vec(x))))
			a.same("solutions", a.take(x), xs)
			for _, side := range []kernelmill.Side{kernelmill.Left, kernelmill.Right} {
				ok(t, errors.Join(b.Upload(a.stream, bs),
					kernelmill.Trmm(a.blas, side, triangle, op, plain, order, order, alpha, m, mat(b, order)),
					kernelmill.Trsm(a.blas, side, triangle, op, plain, order, order, alpha, m, mat(b, order))))
				a.same("Trsm", a.take(b), bs)
			}
		}
	}
}

// symmetricForms computes products with one symmetric or Hermitian matrix in all forms of storage.
func symmetricForms[T kernelmill.Number](t *testing.T, layout kernelmill.Layout) {
	a := newAlgebra[T](t, layout)
	xs, one, none := a.some(2), number[T](1), number[T](0)
	x, y := vec(a.put(xs)), a.put(make([]T, 2))
	d, e, o := number[T](3), number[T](5), number[T](2)
	full := a.put([]T{d, o, o, e})
	wanted := []T{d*xs[0] + o*xs[1], o*xs[0] + e*xs[1]}
	ok(t, kernelmill.Gemv(a.blas, kernelmill.Transpose, 2, 2, one, mat(full, 2), x, none, vec(y)))
	a.same("Gemv", a.take(y), wanted)
	for _, triangle := range []kernelmill.Triangle{kernelmill.Lower, kernelmill.Upper} {
		ok(t, kernelmill.Symv(a.blas, triangle, 2, one, mat(full, 2), x, none, vec(y)))
		a.same("Symv", a.take(y), wanted)
		ok(t, kernelmill.Spmv(a.blas, triangle, 2, one, mat(a.put([]T{d, o, e}), 0), x, none, vec(y)))
		a.same("Spmv", a.take(y), wanted)
		band := []T{d, o, e, none} // the diagonal first
		if (triangle == kernelmill.Lower) == (layout == kernelmill.RowMajor) {
			band = []T{none, d, o, e}
		}
		ok(t, kernelmill.Sbmv(a.blas, triangle, 2, 1, one, mat(a.put(band), 2), x, none, vec(y)))
		a.same("Sbmv", a.take(y), wanted)
	}
	general := []T{none, d, o, o, e, none}
	ok(t, kernelmill.Gbmv(a.blas, kernelmill.NoTranspose, 2, 2, 1, 1, one, mat(a.put(general), 3), x,
		none, vec(y)))
	a.same("Gbmv", a.take(y), wanted)
	product := a.put(make([]T, 4))
	twice := []T{d*d + o*o, d*o + o*e, o*d + e*o, o*o + e*e}
	for what, call := range map[string]func() error{
		"Gemm": func() error {
			return kernelmill.Gemm(a.blas, kernelmill.NoTranspose, kernelmill.Transpose, 2, 2, 2, one,
				mat(full, 2), mat(full, 2), none, mat(product, 2))
		},
		"GemmBatch": func() error {
			return kernelmill.GemmBatch(a.blas, kernelmill.NoTranspose, kernelmill.Transpose, 2, 2, 2, one,
				mat(full, 2).Stride(4), mat(full, 2).Stride(4), none, mat(product, 2).Stride(4), 1)
		},
		"Symm": func() error {
			return kernelmill.Symm(a.blas, kernelmill.Left, kernelmill.Lower, 2, 2, one, mat(full, 2),
				mat(full, 2), none, mat(product, 2))
		},
		"Hemm": func() error {
			return kernelmill.Hemm(a.blas, kernelmill.Right, kernelmill.Upper, 2, 2, one, mat(full, 2),
				mat(full, 2), none, mat(product, 2))
		},
	} {
		ok(t, call())
		a.same(what, a.take(product), twice)
	}
	a.updates(mat(full, 2), twice)
}

// updates computes A A^T in the triangle that lies first in memory, and rank-1 updates.
func (a *algebra[T]) updates(m kernelmill.Matrix[T], twice []T) {
	one, none, half := number[T](1), number[T](0), number[T](0.5)
	for what, call := range map[string]func(c kernelmill.Matrix[T], triangle kernelmill.Triangle) error{
		"Syrk": func(c kernelmill.Matrix[T], triangle kernelmill.Triangle) error {
			return kernelmill.Syrk(a.blas, triangle, kernelmill.NoTranspose, 2, 2, one, m, none, c)
		},
		"Herk": func(c kernelmill.Matrix[T], triangle kernelmill.Triangle) error {
			return kernelmill.Herk(a.blas, triangle, kernelmill.NoTranspose, 2, 2, 1, m, 0, c)
		},
		"Syr2k": func(c kernelmill.Matrix[T], triangle kernelmill.Triangle) error {
			return kernelmill.Syr2k(a.blas, triangle, kernelmill.NoTranspose, 2, 2, half, m, m, none, c)
		},
		"Her2k": func(c kernelmill.Matrix[T], triangle kernelmill.Triangle) error {
			return kernelmill.Her2k(a.blas, triangle, kernelmill.NoTranspose, 2, 2, half, m, m, 0, c)
		},
	} {
		lower, upper := a.put(make([]T, 4)), a.put(make([]T, 4))
		ok(a, errors.Join(call(mat(lower, 2), kernelmill.Lower), call(mat(upper, 2), kernelmill.Upper)))
		ok(a, kernelmill.Axpy(a.blas, 4, one, vec(upper), vec(lower)))
		got := a.take(lower) // the diagonal twice
		a.same(what, got, []T{2 * twice[0], twice[1], twice[2], 2 * twice[3]})
	}
	x := []T{number[T](2), number[T](3)}
	vx := vec(a.put(x))
	for what, call := range map[string]func(c kernelmill.Matrix[T]) error{
		"Syr": func(c kernelmill.Matrix[T]) error { return kernelmill.Syr(a.blas, kernelmill.Lower, 2, one, vx, c) },
		"Syr2": func(c kernelmill.Matrix[T]) error {
			return kernelmill.Syr2(a.blas, kernelmill.Lower, 2, half, vx, vx, c)
		},
		"Ger":  func(c kernelmill.Matrix[T]) error { return kernelmill.Ger(a.blas, 2, 2, one, vx, vx, c) },
		"Gerc": func(c kernelmill.Matrix[T]) error { return kernelmill.Gerc(a.blas, 2, 2, one, vx, vx, c) },
	} {
		c := a.put(make([]T, 4))
		ok(a, call(mat(c, 2)))
		got := a.take(c)
		a.same(what, []T{got[0], got[1] + got[2], got[3]},
			[]T{number[T](4), number[T](6) * (1 + number[T](b2f(what[0] == 'G'))), number[T](9)})
	}
	for what, call := range map[string]func(c kernelmill.Matrix[T]) error{
		"Spr": func(c kernelmill.Matrix[T]) error { return kernelmill.Spr(a.blas, kernelmill.Lower, 2, one, vx, c) },
		"Spr2": func(c kernelmill.Matrix[T]) error {
			return kernelmill.Spr2(a.blas, kernelmill.Lower, 2, half, vx, vx, c)
		},
	} {
		c := a.put(make([]T, 3))
		ok(a, call(mat(c, 0)))
		a.same(what, a.take(c), []T{number[T](4), number[T](6), number[T](9)})
	}
}

func b2f(condition bool) complex128 {
	if condition {
		return 1
	}
	return 0
}

func allForms[T kernelmill.Number](t *testing.T) {
	level1[T](t)
	for _, layout := range []kernelmill.Layout{kernelmill.RowMajor, kernelmill.ColumnMajor} {
		undo[T](t, layout)
		symmetricForms[T](t, layout)
	}
}

func TestBLASOfAllTypes(t *testing.T) {
	t.Run("float32", allForms[float32])
	t.Run("float64", allForms[float64])
	t.Run("complex64", allForms[complex64])
	t.Run("complex128", allForms[complex128])
}

func TestBLASOfRealNumbers(t *testing.T) {
	a := newAlgebra[float64](t, kernelmill.RowMajor)
	x := a.put([]float64{3, -4})
	result := a.put([]float64{0})
	ok(t, kernelmill.Nrm2(a.blas, 2, vec(x), result))
	equal(t, a.take(result)[0], 5)
	ok(t, kernelmill.Asum(a.blas, 2, vec(x), result))
	equal(t, a.take(result)[0], 7)
	parameters, _, _, x1, err := kernelmill.Rotmg[float64](1, 1, 3, 4)
	ok(t, err)
	first, second := a.put([]float64{3}), a.put([]float64{4})
	ok(t, kernelmill.Rotm(a.blas, 1, vec(first), vec(second), parameters))
	a.same("Rotm", append(a.take(first), a.take(second)...), []float64{x1, 0})
	short := keep(a.fixture, must(kernelmill.NewSlice[float32](a.context, 1))(t))
	expect(t, kernelmill.ErrInvalidArgument, kernelmill.Nrm2(a.blas, 2, vec(x), short))
}

func TestBLASOfHalves(t *testing.T) {
	a := newAlgebra[float32](t, kernelmill.RowMajor)
	halves := func(bits ...uint16) *kernelmill.Slice[uint16] {
		return keep(a.fixture, must(kernelmill.SliceOf(a.stream, bits))(t))
	}
	m := func(s *kernelmill.Slice[uint16]) kernelmill.Matrix[kernelmill.Half] {
		return kernelmill.MatrixOf[kernelmill.Half](s, 1).Stride(1)
	}
	const none = kernelmill.NoTranspose
	x, y := halves(0x4000), halves(0) // 2 in f16
	ok(t, kernelmill.GemmHalf(a.blas, kernelmill.F16, none, none, 1, 1, 1, 1, m(x), m(x), 0, m(y)))
	equal(t, must(y.ToHost(a.stream))(t)[0], 0x4400)
	x = halves(0x4000, 0x4040) // 2 and 3 in bf16
	y = halves(0, 0)
	ok(t, kernelmill.GemmHalfBatch(a.blas, kernelmill.BF16, none, none, 1, 1, 1, 1, m(x), m(x), 0, m(y), 2))
	equal(t, must(y.ToHost(a.stream))(t)[1], 0x4110)
}

func TestWrongBLASCalls(t *testing.T) {
	a := newAlgebra[float32](t, kernelmill.RowMajor)
	x := a.put(make([]float32, 4))
	other := keep(a.fixture, must(kernelmill.NewSlice[float32](newFixture(t).context, 4))(t))
	var none *kernelmill.Slice[float32]
	expect(t, kernelmill.ErrInvalidHandle, kernelmill.Scal(nil, 1, 1, vec(x)))
	expect(t, kernelmill.ErrInvalidHandle, kernelmill.Scal(a.blas, 1, 1, vec(none)))
	expect(t, kernelmill.ErrInvalidHandle, kernelmill.Scal(a.blas, 1, 1, kernelmill.Vector[float32]{}))
	expect(t, kernelmill.ErrInvalidArgument, kernelmill.Scal(a.blas, -1, 1, vec(x)))
	expect(t, kernelmill.ErrInvalidArgument, kernelmill.Scal(a.blas, 1, 1, vec(x).Inc(0)))
	expect(t, kernelmill.ErrOutOfBounds, kernelmill.Scal(a.blas, 5, 1, vec(x)))
	expect(t, kernelmill.ErrOutOfBounds, kernelmill.Scal(a.blas, 1, 1, vec(x).From(-1)))
	expect(t, kernelmill.ErrContextMismatch, kernelmill.Scal(a.blas, 1, 1, vec(other)))
	expect(t, kernelmill.ErrOutOfBounds,
		kernelmill.Scal(a.blas, 1, 1, kernelmill.VectorAt[float32](16)))
	address := must(x.Address())(t)
	ok(t, kernelmill.Scal(a.blas, 4, 2, kernelmill.VectorAt[float32](address)))
	ok(t, kernelmill.Gemm(a.blas, kernelmill.NoTranspose, kernelmill.NoTranspose, 1, 1, 1, 1,
		kernelmill.MatrixAt[float32](address, 1), kernelmill.MatrixAt[float32](address, 1), 0,
		kernelmill.MatrixAt[float32](address+8, 1)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(a.stream.NewBLAS(0)))
	graph := keep(a.fixture, must(a.context.Capture(func(s *kernelmill.Stream) error {
		blas := must(s.NewBLAS(kernelmill.RowMajor))(t)
		return errors.Join(kernelmill.Scal(blas, 4, 2, vec(x)), blas.Close())
	}))(t))
	equal(t, must(graph.NodeInfo(must(graph.Nodes())(t)[0]))(t).Kind, kernelmill.NodeBLAS)
}
