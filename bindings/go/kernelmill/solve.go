package kernelmill

import (
	"fmt"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// The functions of this file factor dense matrices and solve with the factors. Each works on `count`
// matrices, as their strides say; slices of numbers have those of one matrix after those of the
// other. info gets one number for each matrix: 0, or what LAPACK reports of it, such as the leading
// minor that is not positive definite. Results of such a matrix are unspecified.

// SingularVectors says how many vectors [Gesvd] gives.
type SingularVectors int32

// The numbers of vectors.
const (
	ThinVectors SingularVectors = raw.SOLVE_VECTORS_THIN // as many as there are values
	AllVectors  SingularVectors = raw.SOLVE_VECTORS_ALL
)

// numbersIn is where the numbers of a batch lie: so many for each matrix.
func numbersIn(c *blasCall, name string, slice Memory, each uint64) unsafe.Pointer {
	return unsafe.Pointer(&raw.Array{Slice: c.sliceOf(name, slice, 0), Stride: each})
}

// realsIn is numbersIn for real numbers, whose precision has to be that of T.
func realsIn[T Number, R float32 | float64](c *blasCall, name string, slice *Slice[R],
	each uint64) unsafe.Pointer {
	kind := typeOf[T]()
	isSingle := kind == raw.DATA_TYPE_F32 || kind == raw.DATA_TYPE_C32
	if isSingle != (unsafe.Sizeof(*new(R)) == 4) && c.failed == nil {
		c.failed = fail(c.op, ErrInvalidArgument, fmt.Sprintf("%s are %T; for %T they have to be its "+
			"real numbers", name, *new(R), *new(T)))
	}
	return numbersIn(c, name, slice, each)
}

// Potrf queues A = L L^H or U^H U of positive definite n x n matrices, in the triangle that is read.
func Potrf[T Number](blas *BLAS, triangle Triangle, n int, a Matrix[T], info *Slice[int32],
	count int) error {
	c := beginBLAS(blas, "Potrf")
	order, batch := c.size("n", n), c.size("count", count)
	ma, infos := matrixIn(c, "a", a), numbersIn(c, "info", info, 1)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_potrf(id, typeOf[T](), int32(triangle), order, batch, ma, infos)
	})
}

// Potrs queues the solution of A X = B by the factor of [Potrf]. X overwrites the n x columns
// matrix B.
func Potrs[T Number](blas *BLAS, triangle Triangle, n, columns int, a, b Matrix[T],
	info *Slice[int32], count int) error {
	c := beginBLAS(blas, "Potrs")
	order, sides, batch := c.size("n", n), c.size("columns", columns), c.size("count", count)
	ma, mb, infos := matrixIn(c, "a", a), matrixIn(c, "b", b), numbersIn(c, "info", info, 1)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_potrs(id, typeOf[T](), int32(triangle), order, sides, batch, ma, mb,
			infos)
	})
}

// Getrf queues P A = L U of m x n matrices, which the factors overwrite. Row i was exchanged with row
// pivots[i], counted from 1; there are min(m, n) pivots for each matrix.
func Getrf[T Number](blas *BLAS, m, n int, a Matrix[T], pivots, info *Slice[int32],
	count int) error {
	c := beginBLAS(blas, "Getrf")
	rows, columns, batch := c.size("m", m), c.size("n", n), c.size("count", count)
	ma, infos := matrixIn(c, "a", a), numbersIn(c, "info", info, 1)
	exchanges := numbersIn(c, "pivots", pivots, min(rows, columns))
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_getrf(id, typeOf[T](), rows, columns, batch, ma, exchanges, infos)
	})
}

// Getrs queues the solution of op(A) X = B by the factors of [Getrf]. X overwrites the n x columns
// matrix B. Pivots of other origin may lead a GPU to memory that is not the matrix's.
func Getrs[T Number](blas *BLAS, operation Operation, n, columns int, a Matrix[T],
	pivots *Slice[int32], b Matrix[T], info *Slice[int32], count int) error {
	c := beginBLAS(blas, "Getrs")
	order, sides, batch := c.size("n", n), c.size("columns", columns), c.size("count", count)
	ma, mb, infos := matrixIn(c, "a", a), matrixIn(c, "b", b), numbersIn(c, "info", info, 1)
	exchanges := numbersIn(c, "pivots", pivots, order)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_getrs(id, typeOf[T](), int32(operation), order, sides, batch, ma,
			exchanges, mb, infos)
	})
}

// Geqrf queues A = Q R of m x n matrices: R in the upper triangle of A, below it and in the min(m, n)
// numbers of tau the reflections that make Q.
func Geqrf[T Number](blas *BLAS, m, n int, a Matrix[T], tau *Slice[T], info *Slice[int32],
	count int) error {
	c := beginBLAS(blas, "Geqrf")
	rows, columns, batch := c.size("m", m), c.size("n", n), c.size("count", count)
	ma, infos := matrixIn(c, "a", a), numbersIn(c, "info", info, 1)
	factors := numbersIn(c, "tau", tau, min(rows, columns))
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_geqrf(id, typeOf[T](), rows, columns, batch, ma, factors, infos)
	})
}

// Orgqr queues the first n columns of Q, of m rows, from k reflections of [Geqrf], which they
// overwrite.
func Orgqr[T Number](blas *BLAS, m, n, k int, a Matrix[T], tau *Slice[T], info *Slice[int32],
	count int) error {
	c := beginBLAS(blas, "Orgqr")
	rows, columns, batch := c.size("m", m), c.size("n", n), c.size("count", count)
	reflections := c.size("k", k)
	ma, infos := matrixIn(c, "a", a), numbersIn(c, "info", info, 1)
	factors := numbersIn(c, "tau", tau, reflections)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_orgqr(id, typeOf[T](), rows, columns, reflections, batch, ma, factors,
			infos)
	})
}

// Ormqr queues C = op(Q) C, or with the side [Right] C op(Q), for m x n matrices C and the k
// reflections in the columns of A.
func Ormqr[T Number](blas *BLAS, side Side, operation Operation, m, n, k int, a Matrix[T],
	tau *Slice[T], result Matrix[T], info *Slice[int32], count int) error {
	c := beginBLAS(blas, "Ormqr")
	rows, columns, batch := c.size("m", m), c.size("n", n), c.size("count", count)
	reflections := c.size("k", k)
	ma, mc, infos := matrixIn(c, "a", a), matrixIn(c, "c", result), numbersIn(c, "info", info, 1)
	factors := numbersIn(c, "tau", tau, reflections)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_ormqr(id, typeOf[T](), int32(side), int32(operation), rows, columns,
			reflections, batch, ma, factors, mc, infos)
	})
}

// Syevd queues the eigenvalues of symmetric or Hermitian n x n matrices in ascending order. Their
// vectors take the place of A, column by column.
func Syevd[T Number, R float32 | float64](blas *BLAS, triangle Triangle, n int, a Matrix[T],
	values *Slice[R], info *Slice[int32], count int) error {
	return eigen(blas, "Syevd", raw.SOLVE_VECTORS_ALL, triangle, n, a, values, info, count)
}

// SyevdValues is Syevd without vectors. A is destroyed.
func SyevdValues[T Number, R float32 | float64](blas *BLAS, triangle Triangle, n int, a Matrix[T],
	values *Slice[R], info *Slice[int32], count int) error {
	return eigen(blas, "SyevdValues", raw.SOLVE_VECTORS_NONE, triangle, n, a, values, info, count)
}

func eigen[T Number, R float32 | float64](blas *BLAS, op string, vectors int32, triangle Triangle,
	n int, a Matrix[T], values *Slice[R], info *Slice[int32], count int) error {
	c := beginBLAS(blas, op)
	order, batch := c.size("n", n), c.size("count", count)
	ma, infos := matrixIn(c, "a", a), numbersIn(c, "info", info, 1)
	reals := realsIn[T](c, "the eigenvalues", values, order)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_syevd(id, typeOf[T](), vectors, int32(triangle), order, batch, ma, reals,
			infos)
	})
}

// Gesvd queues A = U S V^H of m x n matrices, which are destroyed: the min(m, n) singular values in
// descending order, U with m rows and V^H with n columns.
func Gesvd[T Number, R float32 | float64](blas *BLAS, vectors SingularVectors, m, n int, a Matrix[T],
	values *Slice[R], u, vh Matrix[T], info *Slice[int32], count int) error {
	c := beginBLAS(blas, "Gesvd")
	rows, columns, batch := c.size("m", m), c.size("n", n), c.size("count", count)
	ma, infos := matrixIn(c, "a", a), numbersIn(c, "info", info, 1)
	reals := realsIn[T](c, "the singular values", values, min(rows, columns))
	mu, mv := matrixIn(c, "u", u), matrixIn(c, "vh", vh)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_gesvd(id, typeOf[T](), int32(vectors), rows, columns, batch, ma, reals,
			mu, mv, infos)
	})
}

// GesvdValues is Gesvd without vectors.
func GesvdValues[T Number, R float32 | float64](blas *BLAS, m, n int, a Matrix[T], values *Slice[R],
	info *Slice[int32], count int) error {
	c := beginBLAS(blas, "GesvdValues")
	rows, columns, batch := c.size("m", m), c.size("n", n), c.size("count", count)
	ma, infos := matrixIn(c, "a", a), numbersIn(c, "info", info, 1)
	reals := realsIn[T](c, "the singular values", values, min(rows, columns))
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_solve_gesvd(id, typeOf[T](), raw.SOLVE_VECTORS_NONE, rows, columns, batch, ma,
			reals, nil, nil, infos)
	})
}
