package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Gemv queues y = alpha op(A) x + beta y, A being m x n.
func Gemv[T Number](blas *BLAS, operation Operation, m, n int, alpha T, a Matrix[T], x Vector[T],
	beta T, y Vector[T]) error {
	c := beginBLAS(blas, "Gemv")
	rows, columns := c.size("m", m), c.size("n", n)
	ma, vx, vy := matrixIn(c, "a", a), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_gemv(id, typeOf[T](), int32(operation), rows, columns, place(alpha), ma, vx,
			place(beta), vy)
	})
}

// Gbmv is Gemv for a band matrix with so many diagonals below and above the main one.
func Gbmv[T Number](blas *BLAS, operation Operation, m, n, lower, upper int, alpha T, a Matrix[T],
	x Vector[T], beta T, y Vector[T]) error {
	c := beginBLAS(blas, "Gbmv")
	rows, columns := c.size("m", m), c.size("n", n)
	below, above := c.size("lower", lower), c.size("upper", upper)
	ma, vx, vy := matrixIn(c, "a", a), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_gbmv(id, typeOf[T](), int32(operation), rows, columns, below, above,
			place(alpha), ma, vx, place(beta), vy)
	})
}

// symmetric is a product of a symmetric matrix and a vector.
type symmetric func(id uint64, kind, triangle int32, n uint64,
	alpha, a, x, beta, y unsafe.Pointer) *raw.Failure

func symmetricProduct[T Number](blas *BLAS, op string, triangle Triangle, n int, alpha T,
	a Matrix[T], x Vector[T], beta T, y Vector[T], call symmetric) error {
	c := beginBLAS(blas, op)
	size := c.size("n", n)
	ma, vx, vy := matrixIn(c, "a", a), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(triangle), size, place(alpha), ma, vx, place(beta), vy)
	})
}

// Symv queues y = alpha A x + beta y for an n x n matrix that is symmetric or, for complex types,
// Hermitian, and of which one triangle is read.
func Symv[T Number](blas *BLAS, triangle Triangle, n int, alpha T, a Matrix[T], x Vector[T], beta T,
	y Vector[T]) error {
	return symmetricProduct(blas, "Symv", triangle, n, alpha, a, x, beta, y, raw.Km_blas_symv)
}

// Spmv is Symv for a packed triangle.
func Spmv[T Number](blas *BLAS, triangle Triangle, n int, alpha T, a Matrix[T], x Vector[T], beta T,
	y Vector[T]) error {
	return symmetricProduct(blas, "Spmv", triangle, n, alpha, a, x, beta, y, raw.Km_blas_spmv)
}

// Sbmv is Symv for a band matrix with k diagonals beside the main one.
func Sbmv[T Number](blas *BLAS, triangle Triangle, n, k int, alpha T, a Matrix[T], x Vector[T],
	beta T, y Vector[T]) error {
	c := beginBLAS(blas, "Sbmv")
	diagonals := c.size("k", k)
	if c.failed != nil {
		return c.failed
	}
	return symmetricProduct(blas, "Sbmv", triangle, n, alpha, a, x, beta, y,
		func(id uint64, kind, triangle int32, n uint64,
			alpha, a, x, beta, y unsafe.Pointer) *raw.Failure {
			return raw.Km_blas_sbmv(id, kind, triangle, n, diagonals, alpha, a, x, beta, y)
		})
}

// triangular is a product or a solution with a triangular matrix.
type triangular func(id uint64, kind, triangle, operation, diagonal int32, n uint64,
	a, x unsafe.Pointer) *raw.Failure

func triangularCall[T Number](blas *BLAS, op string, triangle Triangle, operation Operation,
	diagonal Diagonal, n int, a Matrix[T], x Vector[T], call triangular) error {
	c := beginBLAS(blas, op)
	size, ma, vx := c.size("n", n), matrixIn(c, "a", a), vectorIn(c, "x", x)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(triangle), int32(operation), int32(diagonal), size, ma, vx)
	})
}

// band is a triangular call for a band matrix with k diagonals beside the main one.
type band func(id uint64, kind, triangle, operation, diagonal int32, n, k uint64,
	a, x unsafe.Pointer) *raw.Failure

func bandCall[T Number](blas *BLAS, op string, triangle Triangle, operation Operation,
	diagonal Diagonal, n, k int, a Matrix[T], x Vector[T], call band) error {
	c := beginBLAS(blas, op)
	size, diagonals := c.size("n", n), c.size("k", k)
	ma, vx := matrixIn(c, "a", a), vectorIn(c, "x", x)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(triangle), int32(operation), int32(diagonal), size,
			diagonals, ma, vx)
	})
}

// Trmv queues x = op(A) x for an n x n triangular matrix.
func Trmv[T Number](blas *BLAS, triangle Triangle, operation Operation, diagonal Diagonal, n int,
	a Matrix[T], x Vector[T]) error {
	return triangularCall(blas, "Trmv", triangle, operation, diagonal, n, a, x, raw.Km_blas_trmv)
}

// Tpmv is Trmv for a packed triangle.
func Tpmv[T Number](blas *BLAS, triangle Triangle, operation Operation, diagonal Diagonal, n int,
	a Matrix[T], x Vector[T]) error {
	return triangularCall(blas, "Tpmv", triangle, operation, diagonal, n, a, x, raw.Km_blas_tpmv)
}

// Tbmv is Trmv for a band matrix with k diagonals beside the main one.
func Tbmv[T Number](blas *BLAS, triangle Triangle, operation Operation, diagonal Diagonal, n, k int,
	a Matrix[T], x Vector[T]) error {
	return bandCall(blas, "Tbmv", triangle, operation, diagonal, n, k, a, x, raw.Km_blas_tbmv)
}

// Trsv queues the solution of op(A) z = x, which goes to x, for an n x n triangular matrix. There is
// no test for a singular one.
func Trsv[T Number](blas *BLAS, triangle Triangle, operation Operation, diagonal Diagonal, n int,
	a Matrix[T], x Vector[T]) error {
	return triangularCall(blas, "Trsv", triangle, operation, diagonal, n, a, x, raw.Km_blas_trsv)
}

// Tpsv is Trsv for a packed triangle.
func Tpsv[T Number](blas *BLAS, triangle Triangle, operation Operation, diagonal Diagonal, n int,
	a Matrix[T], x Vector[T]) error {
	return triangularCall(blas, "Tpsv", triangle, operation, diagonal, n, a, x, raw.Km_blas_tpsv)
}

// Tbsv is Trsv for a band matrix with k diagonals beside the main one.
func Tbsv[T Number](blas *BLAS, triangle Triangle, operation Operation, diagonal Diagonal, n, k int,
	a Matrix[T], x Vector[T]) error {
	return bandCall(blas, "Tbsv", triangle, operation, diagonal, n, k, a, x, raw.Km_blas_tbsv)
}

// outer is an update of a matrix by two vectors.
type outer func(id uint64, kind int32, m, n uint64, alpha, x, y, a unsafe.Pointer) *raw.Failure

func outerCall[T Number](blas *BLAS, op string, m, n int, alpha T, x, y Vector[T], a Matrix[T],
	call outer) error {
	c := beginBLAS(blas, op)
	rows, columns := c.size("m", m), c.size("n", n)
	vx, vy, ma := vectorIn(c, "x", x), vectorIn(c, "y", y), matrixIn(c, "a", a)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), rows, columns, place(alpha), vx, vy, ma)
	})
}

// Ger queues A = alpha x y^T + A, A being m x n.
func Ger[T Number](blas *BLAS, m, n int, alpha T, x, y Vector[T], a Matrix[T]) error {
	return outerCall(blas, "Ger", m, n, alpha, x, y, a, raw.Km_blas_ger)
}

// Gerc queues A = alpha x y^H + A: Ger with the complex conjugates of y.
func Gerc[T Number](blas *BLAS, m, n int, alpha T, x, y Vector[T], a Matrix[T]) error {
	return outerCall(blas, "Gerc", m, n, alpha, x, y, a, raw.Km_blas_gerc)
}

// rankOne is an update of one triangle by a vector.
type rankOne func(id uint64, kind, triangle int32, n uint64, alpha, x, a unsafe.Pointer) *raw.Failure

func rankOneCall[T Number](blas *BLAS, op string, triangle Triangle, n int, alpha T, x Vector[T],
	a Matrix[T], call rankOne) error {
	c := beginBLAS(blas, op)
	size, vx, ma := c.size("n", n), vectorIn(c, "x", x), matrixIn(c, "a", a)
	scalar := place(alpha) // of a complex number the real part comes first
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(triangle), size, scalar, vx, ma)
	})
}

// Syr queues A = alpha x x^T + A in one triangle; for complex types A = alpha x x^H + A, where the
// real part of alpha counts.
func Syr[T Number](blas *BLAS, triangle Triangle, n int, alpha T, x Vector[T], a Matrix[T]) error {
	return rankOneCall(blas, "Syr", triangle, n, alpha, x, a, raw.Km_blas_syr)
}

// Spr is Syr for a packed triangle.
func Spr[T Number](blas *BLAS, triangle Triangle, n int, alpha T, x Vector[T], a Matrix[T]) error {
	return rankOneCall(blas, "Spr", triangle, n, alpha, x, a, raw.Km_blas_spr)
}

// rankTwo is an update of one triangle by two vectors.
type rankTwo func(id uint64, kind, triangle int32, n uint64,
	alpha, x, y, a unsafe.Pointer) *raw.Failure

func rankTwoCall[T Number](blas *BLAS, op string, triangle Triangle, n int, alpha T,
	x, y Vector[T], a Matrix[T], call rankTwo) error {
	c := beginBLAS(blas, op)
	size := c.size("n", n)
	vx, vy, ma := vectorIn(c, "x", x), vectorIn(c, "y", y), matrixIn(c, "a", a)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(triangle), size, place(alpha), vx, vy, ma)
	})
}

// Syr2 queues A = alpha x y^T + alpha y x^T + A in one triangle; for complex types A = alpha x y^H +
// conj(alpha) y x^H + A.
func Syr2[T Number](blas *BLAS, triangle Triangle, n int, alpha T, x, y Vector[T],
	a Matrix[T]) error {
	return rankTwoCall(blas, "Syr2", triangle, n, alpha, x, y, a, raw.Km_blas_syr2)
}

// Spr2 is Syr2 for a packed triangle.
func Spr2[T Number](blas *BLAS, triangle Triangle, n int, alpha T, x, y Vector[T],
	a Matrix[T]) error {
	return rankTwoCall(blas, "Spr2", triangle, n, alpha, x, y, a, raw.Km_blas_spr2)
}
