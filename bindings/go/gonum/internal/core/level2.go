package core

import (
	"gonum.org/v1/gonum/blas"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// product queues y = alpha op(A) x + beta y for an A in any form.
func product[T Number](e *Engine, a, x []T, incX int, y []T, incY int, lda int,
	make func(*kernelmill.BLAS, kernelmill.Matrix[T], kernelmill.Vector[T],
		kernelmill.Vector[T]) error) {
	oa, ox, oy := in(a), in(x), out(y)
	call(e, func(w *worker) error {
		return make(w.blas, oa.matrix(lda), ox.vector(incX), oy.vector(incY))
	}, oa, ox, oy)
}

// Gemv is y = alpha op(A) x + beta y.
func Gemv[T Number](e *Engine, tA blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int,
	beta T, y []T, incY int) {
	operation := known(operations, "transpose", tA)
	sizes(m, n)
	leading("a", lda, n)
	increment("x", incX)
	increment("y", incY)
	if m == 0 || n == 0 {
		return
	}
	lenY, lenX := shape(tA, m, n)
	vector("x", x, lenX, incX)
	vector("y", y, lenY, incY)
	matrix("a", a, m, lda, n)
	product(e, a, x, incX, y, incY, lda, func(b *kernelmill.BLAS, ma kernelmill.Matrix[T],
		vx, vy kernelmill.Vector[T]) error {
		return kernelmill.Gemv(b, operation, m, n, alpha, ma, vx, beta, vy)
	})
}

// Gbmv is Gemv for a band matrix.
func Gbmv[T Number](e *Engine, tA blas.Transpose, m, n, kL, kU int, alpha T, a []T, lda int, x []T,
	incX int, beta T, y []T, incY int) {
	operation := known(operations, "transpose", tA)
	sizes(m, n, kL, kU)
	leading("a", lda, kL+kU+1)
	increment("x", incX)
	increment("y", incY)
	if m == 0 || n == 0 {
		return
	}
	lenY, lenX := shape(tA, m, n)
	vector("x", x, lenX, incX)
	vector("y", y, lenY, incY)
	matrix("a", a, min(m, n+kL), lda, kL+kU+1)
	if need := (m-1)*lda + kL + kU + 1; len(a) < need { // lines below the band need not be there
		a = append(append(make([]T, 0, need), a...), make([]T, need-len(a))...)
	}
	product(e, a, x, incX, y, incY, lda, func(b *kernelmill.BLAS, ma kernelmill.Matrix[T],
		vx, vy kernelmill.Vector[T]) error {
		return kernelmill.Gbmv(b, operation, m, n, kL, kU, alpha, ma, vx, beta, vy)
	})
}

// symmetric checks a product of a symmetric matrix, and says whether there is anything to do.
func symmetric[T any](ul blas.Uplo, n int, x []T, incX int, y []T, incY int) kernelmill.Triangle {
	triangle := known(triangles, "triangle", ul)
	sizes(n)
	increment("x", incX)
	increment("y", incY)
	vector("x", x, n, incX)
	vector("y", y, n, incY)
	return triangle
}

// Symv is y = alpha A x + beta y for a symmetric or, for complex types, Hermitian A.
func Symv[T Number](e *Engine, ul blas.Uplo, n int, alpha T, a []T, lda int, x []T, incX int, beta T,
	y []T, incY int) {
	triangle := symmetric(ul, n, x, incX, y, incY)
	leading("a", lda, n)
	matrix("a", a, n, lda, n)
	if n == 0 {
		return
	}
	product(e, a, x, incX, y, incY, lda, func(b *kernelmill.BLAS, ma kernelmill.Matrix[T],
		vx, vy kernelmill.Vector[T]) error {
		return kernelmill.Symv(b, triangle, n, alpha, ma, vx, beta, vy)
	})
}

// Sbmv is Symv for a band matrix.
func Sbmv[T Number](e *Engine, ul blas.Uplo, n, k int, alpha T, a []T, lda int, x []T, incX int, beta T,
	y []T, incY int) {
	triangle := symmetric(ul, n, x, incX, y, incY)
	sizes(k)
	leading("a", lda, k+1)
	matrix("a", a, n, lda, k+1)
	if n == 0 {
		return
	}
	product(e, a, x, incX, y, incY, lda, func(b *kernelmill.BLAS, ma kernelmill.Matrix[T],
		vx, vy kernelmill.Vector[T]) error {
		return kernelmill.Sbmv(b, triangle, n, k, alpha, ma, vx, beta, vy)
	})
}

// Spmv is Symv for a packed triangle.
func Spmv[T Number](e *Engine, ul blas.Uplo, n int, alpha T, ap, x []T, incX int, beta T, y []T,
	incY int) {
	triangle := symmetric(ul, n, x, incX, y, incY)
	packed(ap, n)
	if n == 0 {
		return
	}
	product(e, ap, x, incX, y, incY, 0, func(b *kernelmill.BLAS, ma kernelmill.Matrix[T],
		vx, vy kernelmill.Vector[T]) error {
		return kernelmill.Spmv(b, triangle, n, alpha, ma, vx, beta, vy)
	})
}

// triangular is what products and solutions with a triangular matrix have in common.
type triangular struct {
	triangle  kernelmill.Triangle
	operation kernelmill.Operation
	diagonal  kernelmill.Diagonal
}

func newTriangular(ul blas.Uplo, tA blas.Transpose, d blas.Diag) triangular {
	return triangular{known(triangles, "triangle", ul), known(operations, "transpose", tA),
		known(diagonals, "diagonal", d)}
}

// inPlace queues a call that changes x by an A in any form.
func inPlace[T Number](e *Engine, n int, a []T, lda int, x []T, incX int,
	make func(*kernelmill.BLAS, kernelmill.Matrix[T], kernelmill.Vector[T]) error) {
	increment("x", incX)
	vector("x", x, n, incX)
	if n == 0 {
		return
	}
	oa, ox := in(a), out(x)
	call(e, func(w *worker) error { return make(w.blas, oa.matrix(lda), ox.vector(incX)) }, oa, ox)
}

// dense is Trmv or Trsv, and packed ones are of the same form.
type dense[T Number] func(*kernelmill.BLAS, kernelmill.Triangle, kernelmill.Operation,
	kernelmill.Diagonal, int, kernelmill.Matrix[T], kernelmill.Vector[T]) error

func onDense[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []T, lda int,
	x []T, incX int, run dense[T]) {
	t := newTriangular(ul, tA, d)
	sizes(n)
	leading("a", lda, n)
	matrix("a", a, n, lda, n)
	inPlace(e, n, a, lda, x, incX, func(b *kernelmill.BLAS, ma kernelmill.Matrix[T],
		vx kernelmill.Vector[T]) error {
		return run(b, t.triangle, t.operation, t.diagonal, n, ma, vx)
	})
}

func onPacked[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, ap, x []T,
	incX int, run dense[T]) {
	t := newTriangular(ul, tA, d)
	sizes(n)
	packed(ap, n)
	inPlace(e, n, ap, 0, x, incX, func(b *kernelmill.BLAS, ma kernelmill.Matrix[T],
		vx kernelmill.Vector[T]) error {
		return run(b, t.triangle, t.operation, t.diagonal, n, ma, vx)
	})
}

// band is Tbmv or Tbsv.
type band[T Number] func(*kernelmill.BLAS, kernelmill.Triangle, kernelmill.Operation,
	kernelmill.Diagonal, int, int, kernelmill.Matrix[T], kernelmill.Vector[T]) error

func onBand[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n, k int, a []T, lda int,
	x []T, incX int, run band[T]) {
	t := newTriangular(ul, tA, d)
	sizes(n, k)
	leading("a", lda, k+1)
	matrix("a", a, n, lda, k+1)
	inPlace(e, n, a, lda, x, incX, func(b *kernelmill.BLAS, ma kernelmill.Matrix[T],
		vx kernelmill.Vector[T]) error {
		return run(b, t.triangle, t.operation, t.diagonal, n, k, ma, vx)
	})
}

// Trmv is x = op(A) x.
func Trmv[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []T, lda int,
	x []T, incX int) {
	onDense(e, ul, tA, d, n, a, lda, x, incX, kernelmill.Trmv[T])
}

// Trsv solves op(A) z = x.
func Trsv[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, a []T, lda int,
	x []T, incX int) {
	onDense(e, ul, tA, d, n, a, lda, x, incX, kernelmill.Trsv[T])
}

// Tpmv is Trmv for a packed triangle.
func Tpmv[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, ap, x []T,
	incX int) {
	onPacked(e, ul, tA, d, n, ap, x, incX, kernelmill.Tpmv[T])
}

// Tpsv is Trsv for a packed triangle.
func Tpsv[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n int, ap, x []T,
	incX int) {
	onPacked(e, ul, tA, d, n, ap, x, incX, kernelmill.Tpsv[T])
}

// Tbmv is Trmv for a band matrix.
func Tbmv[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n, k int, a []T, lda int,
	x []T, incX int) {
	onBand(e, ul, tA, d, n, k, a, lda, x, incX, kernelmill.Tbmv[T])
}

// Tbsv is Trsv for a band matrix.
func Tbsv[T Number](e *Engine, ul blas.Uplo, tA blas.Transpose, d blas.Diag, n, k int, a []T, lda int,
	x []T, incX int) {
	onBand(e, ul, tA, d, n, k, a, lda, x, incX, kernelmill.Tbsv[T])
}

// update queues a change of A by two vectors.
func update[T Number](e *Engine, x []T, incX int, y []T, incY int, a []T, lda int,
	make func(*kernelmill.BLAS, kernelmill.Vector[T], kernelmill.Vector[T],
		kernelmill.Matrix[T]) error) {
	ox, oy, oa := in(x), in(y), out(a)
	call(e, func(w *worker) error {
		return make(w.blas, ox.vector(incX), oy.vector(incY), oa.matrix(lda))
	}, ox, oy, oa)
}

func outer[T Number](e *Engine, m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int,
	run func(*kernelmill.BLAS, int, int, T, kernelmill.Vector[T], kernelmill.Vector[T],
		kernelmill.Matrix[T]) error) {
	sizes(m, n)
	leading("a", lda, n)
	increment("x", incX)
	increment("y", incY)
	if m == 0 || n == 0 {
		return
	}
	vector("x", x, m, incX)
	vector("y", y, n, incY)
	matrix("a", a, m, lda, n)
	if alpha == 0 {
		return
	}
	update(e, x, incX, y, incY, a, lda, func(b *kernelmill.BLAS, vx, vy kernelmill.Vector[T],
		ma kernelmill.Matrix[T]) error {
		return run(b, m, n, alpha, vx, vy, ma)
	})
}

// Ger is A = alpha x y^T + A.
func Ger[T Number](e *Engine, m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int) {
	outer(e, m, n, alpha, x, incX, y, incY, a, lda, kernelmill.Ger[T])
}

// Gerc is A = alpha x y^H + A.
func Gerc[T Number](e *Engine, m, n int, alpha T, x []T, incX int, y []T, incY int, a []T, lda int) {
	outer(e, m, n, alpha, x, incX, y, incY, a, lda, kernelmill.Gerc[T])
}

// rankOne queues a change of one triangle of A by a vector.
func rankOne[T Number](e *Engine, ul blas.Uplo, n int, alpha T, x []T, incX int, a []T, lda int,
	run func(*kernelmill.BLAS, kernelmill.Triangle, int, T, kernelmill.Vector[T],
		kernelmill.Matrix[T]) error) {
	triangle := known(triangles, "triangle", ul)
	increment("x", incX)
	vector("x", x, n, incX)
	if n == 0 || alpha == 0 {
		return
	}
	ox, oa := in(x), out(a)
	call(e, func(w *worker) error {
		return run(w.blas, triangle, n, alpha, ox.vector(incX), oa.matrix(lda))
	}, ox, oa)
}

// Syr is A = alpha x x^T + A, for complex types x x^H, in one triangle.
func Syr[T Number](e *Engine, ul blas.Uplo, n int, alpha T, x []T, incX int, a []T, lda int) {
	sizes(n)
	leading("a", lda, n)
	matrix("a", a, n, lda, n)
	rankOne(e, ul, n, alpha, x, incX, a, lda, kernelmill.Syr[T])
}

// Spr is Syr for a packed triangle.
func Spr[T Number](e *Engine, ul blas.Uplo, n int, alpha T, x []T, incX int, ap []T) {
	sizes(n)
	packed(ap, n)
	rankOne(e, ul, n, alpha, x, incX, ap, 0, kernelmill.Spr[T])
}

// rankTwo queues a change of one triangle of A by two vectors.
func rankTwo[T Number](e *Engine, ul blas.Uplo, n int, alpha T, x []T, incX int, y []T, incY int, a []T,
	lda int, run func(*kernelmill.BLAS, kernelmill.Triangle, int, T, kernelmill.Vector[T],
		kernelmill.Vector[T], kernelmill.Matrix[T]) error) {
	triangle := symmetric(ul, n, x, incX, y, incY)
	if n == 0 || alpha == 0 {
		return
	}
	update(e, x, incX, y, incY, a, lda, func(b *kernelmill.BLAS, vx, vy kernelmill.Vector[T],
		ma kernelmill.Matrix[T]) error {
		return run(b, triangle, n, alpha, vx, vy, ma)
	})
}

// Syr2 is A = alpha x y^T + alpha y x^T + A, for complex types the Hermitian one, in one triangle.
func Syr2[T Number](e *Engine, ul blas.Uplo, n int, alpha T, x []T, incX int, y []T, incY int, a []T,
	lda int) {
	sizes(n)
	leading("a", lda, n)
	matrix("a", a, n, lda, n)
	rankTwo(e, ul, n, alpha, x, incX, y, incY, a, lda, kernelmill.Syr2[T])
}

// Spr2 is Syr2 for a packed triangle.
func Spr2[T Number](e *Engine, ul blas.Uplo, n int, alpha T, x []T, incX int, y []T, incY int, ap []T) {
	sizes(n)
	packed(ap, n)
	rankTwo(e, ul, n, alpha, x, incX, y, incY, ap, 0, kernelmill.Spr2[T])
}
