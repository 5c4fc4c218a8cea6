package kernelmill_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// solver is a BLAS object by rows and an info for two matrices.
func solver(f *fixture) (*kernelmill.BLAS, *kernelmill.Slice[int32]) {
	blas := keep(f, must(f.stream.NewBLAS(kernelmill.RowMajor))(f))
	return blas, upload(f, []int32{77, 77})
}

func matrixOf[T kernelmill.Number](slice *kernelmill.Slice[T], leading int) kernelmill.Matrix[T] {
	return kernelmill.MatrixOf[T](slice, leading)
}

func expectReals(t *testing.T, found, wanted []float64) {
	t.Helper()
	for i := range wanted {
		if math.Abs(found[i]-wanted[i]) > 1e-12 {
			t.Errorf("number %d is %v, not %v", i, found[i], wanted[i])
		}
	}
}

func TestCholeskyOfABatch(t *testing.T) {
	f := newFixture(t)
	blas, info := solver(f)
	a := upload(f, []float64{4, 2, 2, 5, 1, 2, 2, 1})
	b := upload(f, []float64{8, 12, 4, 2})
	ok(t, kernelmill.Potrf(blas, kernelmill.Lower, 2, matrixOf(a, 2).Stride(4), info, 2))
	found := must(info.ToHost(f.stream))(t)
	equal(t, found[0], 0)
	equal(t, found[1], 2)
	ok(t, kernelmill.Potrs(blas, kernelmill.Lower, 2, 1, matrixOf(a, 2), matrixOf(b, 1).Stride(2),
		info, 2))
	expectReals(t, must(b.ToHost(f.stream))(t), []float64{1, 2, 1, 0})
}

func TestLUWithTheConjugateTranspose(t *testing.T) {
	f := newFixture(t)
	blas, info := solver(f)
	a, b := upload(f, []complex128{0, 2i, 1, 0}), upload(f, []complex128{3, 4})
	pivots := upload(f, []int32{0, 0})
	ok(t, kernelmill.Getrf(blas, 2, 2, matrixOf(a, 2), pivots, info, 1))
	equal(t, must(pivots.ToHost(f.stream))(t)[0], 2)
	ok(t, kernelmill.Getrs(blas, kernelmill.ConjugateTranspose, 2, 1, matrixOf(a, 2), pivots,
		matrixOf(b, 1), info, 1))
	found := must(b.ToHost(f.stream))(t)
	equal(t, found[0], 2i)
	equal(t, found[1], 3)
}

func TestQRMakesAndAppliesQ(t *testing.T) {
	f := newFixture(t)
	blas, info := solver(f)
	a, c := upload(f, []float64{3, 0, 4, 5}), upload(f, []float64{3, 4})
	tau := upload(f, []float64{0, 0})
	ok(t, kernelmill.Geqrf(blas, 2, 2, matrixOf(a, 2), tau, info, 1))
	ok(t, kernelmill.Ormqr(blas, kernelmill.Left, kernelmill.Transpose, 2, 1, 2, matrixOf(a, 2), tau,
		matrixOf(c, 1), info, 1))
	ok(t, kernelmill.Orgqr(blas, 2, 2, 2, matrixOf(a, 2), tau, info, 1))
	expectReals(t, must(c.ToHost(f.stream))(t), []float64{-5, 0})
	expectReals(t, must(a.ToHost(f.stream))(t), []float64{-0.6})
}

func TestEigenvalues(t *testing.T) {
	f := newFixture(t)
	blas, info := solver(f)
	hermitian := []complex128{2, 1i, -1i, 2}
	a, second := upload(f, hermitian), upload(f, hermitian)
	values := upload(f, []float64{0, 0})
	ok(t, kernelmill.Syevd(blas, kernelmill.Upper, 2, matrixOf(a, 2), values, info, 1))
	expectReals(t, must(values.ToHost(f.stream))(t), []float64{1, 3})
	for _, each := range must(a.ToHost(f.stream))(t) {
		expectReals(t, []float64{cmplx.Abs(each)}, []float64{math.Sqrt(0.5)})
	}
	ok(t, kernelmill.SyevdValues(blas, kernelmill.Lower, 2, matrixOf(second, 2), values, info, 1))
	expectReals(t, must(values.ToHost(f.stream))(t), []float64{1, 3})
	single := upload(f, []float32{0, 0})
	failure := expect(t, kernelmill.ErrInvalidArgument,
		kernelmill.Syevd(blas, kernelmill.Upper, 2, matrixOf(a, 2), single, info, 1))
	equal(t, failure.Message, "the eigenvalues are float32; for complex128 they have to be its real "+
		"numbers")
}

func TestSingularValues(t *testing.T) {
	f := newFixture(t)
	blas, info := solver(f)
	tall := []float64{3, 0, 0, 4, 0, 0}
	values, u, vh := upload(f, []float64{0, 0}), upload(f, make([]float64, 9)), upload(f, tall)
	for _, vectors := range []kernelmill.SingularVectors{kernelmill.ThinVectors, kernelmill.AllVectors} {
		columns := 2
		if vectors == kernelmill.AllVectors {
			columns = 3
		}
		a := upload(f, tall)
		ok(t, kernelmill.Gesvd(blas, vectors, 3, 2, matrixOf(a, 2), values, matrixOf(u, columns),
			matrixOf(vh, 2), info, 1))
		expectReals(t, must(values.ToHost(f.stream))(t), []float64{4, 3})
		expectReals(t, []float64{math.Abs(must(u.ToHost(f.stream))(t)[columns])}, []float64{1})
	}
	ok(t, kernelmill.GesvdValues(blas, 2, 3, matrixOf(upload(f, tall), 3), values, info, 1))
	expectReals(t, must(values.ToHost(f.stream))(t), []float64{5, 0})
}
