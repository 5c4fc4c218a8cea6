package core

import (
	"gonum.org/v1/gonum/blas"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// onThree queues a call on three matrices, of which the last is written.
func onThree[T Number](e *Engine, a []T, lda int, b []T, ldb int, c []T, ldc int,
	make func(*kernelmill.BLAS, kernelmill.Matrix[T], kernelmill.Matrix[T],
		kernelmill.Matrix[T]) error) {
	oa, ob, oc := in(a), in(b), out(c)
	call(e, func(w *worker) error {
		return make(w.blas, oa.matrix(lda), ob.matrix(ldb), oc.matrix(ldc))
	}, oa, ob, oc)
}

// Gemm is C = alpha op(A) op(B) + beta C.
func Gemm[T Number](e *Engine, tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T,
	ldb int, beta T, c []T, ldc int) {
	opA, opB := known(operations, "transpose", tA), known(operations, "transpose", tB)
	sizes(m, n, k)
	linesA, lineA := shape(tA, m, k)
	linesB, lineB := shape(tB, k, n)
	leading("a", lda, lineA)
	leading("b", ldb, lineB)
	leading("c", ldc, n)
	if m == 0 || n == 0 {
		return
	}
	matrix("a", a, linesA, lda, lineA)
	matrix("b", b, linesB, ldb, lineB)
	matrix("c", c, m, ldc, n)
	onThree(e, a, lda, b, ldb, c, ldc, func(w *kernelmill.BLAS, ma, mb, mc kernelmill.Matrix[T]) error {
		return kernelmill.Gemm(w, opA, opB, m, n, k, alpha, ma, mb, beta, mc)
	})
}

func sided[T Number](e *Engine, s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T,
	ldb int, beta T, c []T, ldc int, run func(*kernelmill.BLAS, kernelmill.Side, kernelmill.Triangle,
		int, int, T, kernelmill.Matrix[T], kernelmill.Matrix[T], T, kernelmill.Matrix[T]) error) {
	side, triangle := known(sides, "side", s), known(triangles, "triangle", ul)
	sizes(m, n)
	order := m
	if s == blas.Right {
		order = n
	}
	leading("a", lda, order)
	leading("b", ldb, n)
	leading("c", ldc, n)
	if m == 0 || n == 0 {
		return
	}
	matrix("a", a, order, lda, order)
	matrix("b", b, m, ldb, n)
	matrix("c", c, m, ldc, n)
	onThree(e, a, lda, b, ldb, c, ldc, func(w *kernelmill.BLAS, ma, mb, mc kernelmill.Matrix[T]) error {
		return run(w, side, triangle, m, n, alpha, ma, mb, beta, mc)
	})
}

// Symm is C = alpha A B + beta C or alpha B A + beta C for a symmetric A.
func Symm[T Number](e *Engine, s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T,
	ldb int, beta T, c []T, ldc int) {
	sided(e, s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc, kernelmill.Symm[T])
}

// Hemm is Symm for a Hermitian A.
func Hemm[T Number](e *Engine, s blas.Side, ul blas.Uplo, m, n int, alpha T, a []T, lda int, b []T,
	ldb int, beta T, c []T, ldc int) {
	sided(e, s, ul, m, n, alpha, a, lda, b, ldb, beta, c, ldc, kernelmill.Hemm[T])
}

// rank checks an update of one triangle of C by matrices of these lines.
func rank[T Number](ul blas.Uplo, t, forbidden blas.Transpose, n, k int, c []T, ldc int,
	arrays map[string][]T, dimensions map[string]int) (kernelmill.Triangle, kernelmill.Operation) {
	triangle, operation := known(triangles, "triangle", ul), known(operations, "transpose", t)
	if t == forbidden {
		panic("blas: illegal transpose")
	}
	sizes(n, k)
	lines, line := shape(t, n, k)
	for name := range arrays {
		leading(name, dimensions[name], line)
	}
	leading("c", ldc, n)
	if n > 0 {
		for name, array := range arrays {
			matrix(name, array, lines, dimensions[name], line)
		}
		matrix("c", c, n, ldc, n)
	}
	return triangle, operation
}

// noTransposition is forbidden by none.
const noTransposition blas.Transpose = 0

// forbidden is the transposition that updates of complex numbers do not have.
func forbidden[T Number](hermitian bool) blas.Transpose {
	var number T
	switch any(number).(type) {
	case complex64, complex128:
		if hermitian {
			return blas.Trans
		}
		return blas.ConjTrans
	}
	return noTransposition
}

// Syrk is C = alpha A A^T + beta C, or alpha A^T A + beta C, in one triangle.
func Syrk[T Number](e *Engine, ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T,
	c []T, ldc int) {
	triangle, operation := rank(ul, t, forbidden[T](false), n, k, c, ldc, map[string][]T{"a": a},
		map[string]int{"a": lda})
	if n == 0 {
		return
	}
	oa, oc := in(a), out(c)
	call(e, func(w *worker) error {
		return kernelmill.Syrk(w.blas, triangle, operation, n, k, alpha, oa.matrix(lda), beta,
			oc.matrix(ldc))
	}, oa, oc)
}

// Herk is C = alpha A A^H + beta C, or alpha A^H A + beta C, in one triangle.
func Herk[T Number](e *Engine, ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []T, lda int,
	beta float64, c []T, ldc int) {
	triangle, operation := rank(ul, t, forbidden[T](true), n, k, c, ldc, map[string][]T{"a": a},
		map[string]int{"a": lda})
	if n == 0 {
		return
	}
	oa, oc := in(a), out(c)
	call(e, func(w *worker) error {
		return kernelmill.Herk(w.blas, triangle, operation, n, k, alpha, oa.matrix(lda), beta,
			oc.matrix(ldc))
	}, oa, oc)
}

// Syr2k is C = alpha A B^T + alpha B A^T + beta C, or its transposition, in one triangle.
func Syr2k[T Number](e *Engine, ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T,
	ldb int, beta T, c []T, ldc int) {
	triangle, operation := rank(ul, t, forbidden[T](false), n, k, c, ldc,
		map[string][]T{"a": a, "b": b}, map[string]int{"a": lda, "b": ldb})
	if n == 0 {
		return
	}
	onThree(e, a, lda, b, ldb, c, ldc, func(w *kernelmill.BLAS, ma, mb, mc kernelmill.Matrix[T]) error {
		return kernelmill.Syr2k(w, triangle, operation, n, k, alpha, ma, mb, beta, mc)
	})
}

// Her2k is C = alpha A B^H + conj(alpha) B A^H + beta C, or its transposition, in one triangle.
func Her2k[T Number](e *Engine, ul blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, b []T,
	ldb int, beta float64, c []T, ldc int) {
	triangle, operation := rank(ul, t, forbidden[T](true), n, k, c, ldc,
		map[string][]T{"a": a, "b": b}, map[string]int{"a": lda, "b": ldb})
	if n == 0 {
		return
	}
	onThree(e, a, lda, b, ldb, c, ldc, func(w *kernelmill.BLAS, ma, mb, mc kernelmill.Matrix[T]) error {
		return kernelmill.Her2k(w, triangle, operation, n, k, alpha, ma, mb, beta, mc)
	})
}

func triangularMatrix[T Number](e *Engine, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag,
	m, n int, alpha T, a []T, lda int, b []T, ldb int, run func(*kernelmill.BLAS, kernelmill.Side,
		kernelmill.Triangle, kernelmill.Operation, kernelmill.Diagonal, int, int, T,
		kernelmill.Matrix[T], kernelmill.Matrix[T]) error) {
	side, t := known(sides, "side", s), newTriangular(ul, tA, d)
	sizes(m, n)
	order := m
	if s == blas.Right {
		order = n
	}
	leading("a", lda, order)
	leading("b", ldb, n)
	if m == 0 || n == 0 {
		return
	}
	matrix("a", a, order, lda, order)
	matrix("b", b, m, ldb, n)
	oa, ob := in(a), out(b)
	call(e, func(w *worker) error {
		return run(w.blas, side, t.triangle, t.operation, t.diagonal, m, n, alpha, oa.matrix(lda),
			ob.matrix(ldb))
	}, oa, ob)
}

// Trmm is B = alpha op(A) B or alpha B op(A) for a triangular A.
func Trmm[T Number](e *Engine, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int,
	alpha T, a []T, lda int, b []T, ldb int) {
	triangularMatrix(e, s, ul, tA, d, m, n, alpha, a, lda, b, ldb, kernelmill.Trmm[T])
}

// Trsm solves op(A) X = alpha B or X op(A) = alpha B for a triangular A.
func Trsm[T Number](e *Engine, s blas.Side, ul blas.Uplo, tA blas.Transpose, d blas.Diag, m, n int,
	alpha T, a []T, lda int, b []T, ldb int) {
	triangularMatrix(e, s, ul, tA, d, m, n, alpha, a, lda, b, ldb, kernelmill.Trsm[T])
}
