package kernelmill_test

import (
	"errors"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func list[T kernelmill.Element](f *fixture, elements ...T) *kernelmill.Slice[T] {
	f.Helper()
	return keep(f, must(kernelmill.SliceOf(f.stream, elements))(f))
}

// sparseProducts multiplies by the matrix 1 0 2 / 0 3 0 in each format.
func sparseProducts[T kernelmill.Number](t *testing.T) {
	a := newAlgebra[T](t, kernelmill.RowMajor)
	one, two := number[T](1), number[T](2)
	n := func(values ...float64) []T {
		var made []T
		for _, value := range values {
			made = append(made, number[T](complex(value, 0)))
		}
		return made
	}
	values, byColumns := a.put(n(1, 2, 3)), a.put(n(1, 3, 2))
	offsets, columns := list(a.fixture, int32(0), 2, 3), list(a.fixture, int32(0), 2, 1)
	wide, rows := list(a.fixture, int64(1), 2, 3, 4), list(a.fixture, int64(1), 2, 1)
	forms := []kernelmill.SparseMatrix[T]{
		kernelmill.CSR(2, 3, offsets, columns, values),
		kernelmill.CSC(2, 3, wide, rows, byColumns).OneBased(),
		kernelmill.COO(2, 3, list(a.fixture, int32(0), 0, 1), columns, values),
	}
	x, b := a.put(n(1, 10, 100)), a.put(n(1, 2, 3, 4, 5, 6))
	for _, form := range forms {
		y, z, c := a.put(n(1, 1)), a.put(n(0, 7, 0, 7, 0)), a.put(n(9, 9, 9, 9))
		ok(t, kernelmill.SparseMv(a.blas, kernelmill.NoTranspose, two, form, vec(x), one, vec(y)))
		a.same("SparseMv", a.take(y), n(403, 61))
		ok(t, kernelmill.SparseMv(a.blas, kernelmill.Transpose, one, form, vec(x).Inc(2), 0,
			vec(z).Inc(2)))
		a.same("SparseMv of the transpose", a.take(z), n(1, 7, 300, 7, 2))
		ok(t, kernelmill.SparseMm(a.blas, kernelmill.NoTranspose, kernelmill.NoTranspose, 2, one, form,
			mat(b, 2), 0, mat(c, 2)))
		a.same("SparseMm", a.take(c), n(11, 14, 9, 12))
		ok(t, kernelmill.SparseMm(a.blas, kernelmill.NoTranspose, kernelmill.Transpose, 2, one, form,
			mat(b, 3), 0, mat(c, 2)))
		a.same("SparseMm by the transpose", a.take(c), n(7, 16, 6, 15))
	}
	lower := kernelmill.CSR(2, 2, list(a.fixture, int32(0), 1, 3), list(a.fixture, int32(0), 0, 1),
		a.put(n(2, 1, 4)))
	s, y, m := a.put(n(4, 10)), a.put(n(0, 0)), a.put(n(4, 2, 10, 5))
	ok(t, kernelmill.SparseSv(a.blas, kernelmill.NoTranspose, kernelmill.Lower,
		kernelmill.StoredDiagonal, one, lower, vec(s), vec(y)))
	a.same("SparseSv", a.take(y), n(2, 2))
	ok(t, kernelmill.SparseSv(a.blas, kernelmill.ConjugateTranspose, kernelmill.Lower,
		kernelmill.UnitDiagonal, one, lower, vec(s), vec(s)))
	a.same("SparseSv in place", a.take(s), n(-6, 10))
	ok(t, kernelmill.SparseSm(a.blas, kernelmill.NoTranspose, kernelmill.Lower,
		kernelmill.StoredDiagonal, 2, one, lower, mat(m, 2), mat(m, 2)))
	a.same("SparseSm", a.take(m), n(2, 1, 2, 1))
}

func TestSparse(t *testing.T) {
	t.Run("f32", sparseProducts[float32])
	t.Run("f64", sparseProducts[float64])
	t.Run("c32", sparseProducts[complex64])
	t.Run("c64", sparseProducts[complex128])
}

func TestSparseErrors(t *testing.T) {
	a := newAlgebra[float32](t, kernelmill.RowMajor)
	offsets, columns := list(a.fixture, int32(0), 1, 2), list(a.fixture, int32(0), 1)
	values, x := a.put([]float32{1, 2}), a.put([]float32{1, 2, 3})
	y := a.put([]float32{0, 0})
	mv := func(m kernelmill.SparseMatrix[float32], x kernelmill.Vector[float32]) error {
		return kernelmill.SparseMv(a.blas, kernelmill.NoTranspose, 1, m, x, 0, vec(y))
	}
	good := kernelmill.CSR(2, 3, offsets, columns, values)
	ok(t, mv(good, vec(x)))
	for _, wrong := range []struct {
		given, wanted error
	}{
		{mv(kernelmill.CSR(-1, 3, offsets, columns, values), vec(x)), kernelmill.ErrInvalidArgument},
		{mv(kernelmill.CSR(3, 3, offsets, columns, values), vec(x)), kernelmill.ErrOutOfBounds},
		{mv(good, vec(x).Inc(-1)), kernelmill.ErrInvalidArgument},
		{mv(good, vec(x).Inc(2)), kernelmill.ErrOutOfBounds},
		{mv(kernelmill.CSR[float32, int32](2, 3, nil, nil, nil), vec(x)), kernelmill.ErrInvalidHandle},
		{mv(kernelmill.SparseMatrix[float32]{}, vec(x)), kernelmill.ErrInvalidHandle},
	} {
		if !errors.Is(wrong.given, wrong.wanted) {
			t.Errorf("%v; expected %v", wrong.given, wrong.wanted)
		}
	}
	far := kernelmill.CSR(1, 1, list(a.fixture, int32(0), 1), list(a.fixture, int32(77)),
		a.put([]float32{1}))
	ok(t, kernelmill.SparseMv(a.blas, kernelmill.NoTranspose, 1, far, vec(x), 0, vec(y)))
	if err := a.stream.Synchronize(); !errors.Is(err, kernelmill.ErrIllegalAddress) {
		t.Errorf("%v; expected %v", err, kernelmill.ErrIllegalAddress)
	}
}
