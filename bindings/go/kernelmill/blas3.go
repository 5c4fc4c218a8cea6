package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Gemm queues C = alpha op(A) op(B) + beta C. C is m x n, op(A) m x k, op(B) k x n.
func Gemm[T Number](blas *BLAS, operationA, operationB Operation, m, n, k int, alpha T,
	a, b Matrix[T], beta T, result Matrix[T]) error {
	return product(blas, "Gemm", typeOf[T](), operationA, operationB, [3]int{m, n, k}, place(alpha),
		a, b, place(beta), result, single)
}

// GemmBatch is Gemm for so many matrices each, by their strides. A stride of 0 uses the same A or B
// for all.
func GemmBatch[T Number](blas *BLAS, operationA, operationB Operation, m, n, k int, alpha T,
	a, b Matrix[T], beta T, result Matrix[T], count int) error {
	return product(blas, "GemmBatch", typeOf[T](), operationA, operationB, [3]int{m, n, k},
		place(alpha), a, b, place(beta), result, count)
}

// HalfFormat says what a [Half] is.
type HalfFormat int32

// The formats of 16 bits.
const (
	F16  HalfFormat = raw.DATA_TYPE_F16
	BF16 HalfFormat = raw.DATA_TYPE_BF16
)

// GemmHalf is Gemm for numbers of 16 bits, which are multiplied and added in f32; each element is
// rounded once.
func GemmHalf(blas *BLAS, format HalfFormat, operationA, operationB Operation, m, n, k int,
	alpha float32, a, b Matrix[Half], beta float32, result Matrix[Half]) error {
	return product(blas, "GemmHalf", int32(format), operationA, operationB, [3]int{m, n, k},
		place(alpha), a, b, place(beta), result, single)
}

// GemmHalfBatch is GemmHalf for so many matrices each.
func GemmHalfBatch(blas *BLAS, format HalfFormat, operationA, operationB Operation, m, n, k int,
	alpha float32, a, b Matrix[Half], beta float32, result Matrix[Half], count int) error {
	return product(blas, "GemmHalfBatch", int32(format), operationA, operationB, [3]int{m, n, k},
		place(alpha), a, b, place(beta), result, count)
}

// single is the count of products that are no batch.
const single = -1 << 62

func product[T Number | Half](blas *BLAS, op string, kind int32, operationA, operationB Operation,
	sizes [3]int, alpha unsafe.Pointer, a, b Matrix[T], beta unsafe.Pointer, result Matrix[T],
	count int) error {
	c := beginBLAS(blas, op)
	m, n, k := c.size("m", sizes[0]), c.size("n", sizes[1]), c.size("k", sizes[2])
	ma, mb, mc := matrixIn(c, "a", a), matrixIn(c, "b", b), matrixIn(c, "c", result)
	if count == single {
		return c.end(func(id uint64) *raw.Failure {
			return raw.Km_blas_gemm(id, kind, int32(operationA), int32(operationB), m, n, k, alpha,
				ma, mb, beta, mc)
		})
	}
	batch := c.size("count", count)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_gemm_strided_batched(id, kind, int32(operationA), int32(operationB), m, n,
			k, alpha, ma, mb, beta, mc, batch)
	})
}

// sided is a product with a symmetric matrix on one side.
type sided func(id uint64, kind, side, triangle int32, m, n uint64,
	alpha, a, b, beta, c unsafe.Pointer) *raw.Failure

func sidedCall[T Number](blas *BLAS, op string, side Side, triangle Triangle, m, n int, alpha T,
	a, b Matrix[T], beta T, result Matrix[T], call sided) error {
	c := beginBLAS(blas, op)
	rows, columns := c.size("m", m), c.size("n", n)
	ma, mb, mc := matrixIn(c, "a", a), matrixIn(c, "b", b), matrixIn(c, "c", result)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(side), int32(triangle), rows, columns, place(alpha), ma,
			mb, place(beta), mc)
	})
}

// Symm queues C = alpha A B + beta C, or with the side [Right] alpha B A + beta C, for a symmetric A
// of which one triangle is read. B and C are m x n.
func Symm[T Number](blas *BLAS, side Side, triangle Triangle, m, n int, alpha T, a, b Matrix[T],
	beta T, result Matrix[T]) error {
	return sidedCall(blas, "Symm", side, triangle, m, n, alpha, a, b, beta, result, raw.Km_blas_symm)
}

// Hemm is Symm for a Hermitian A.
func Hemm[T Number](blas *BLAS, side Side, triangle Triangle, m, n int, alpha T, a, b Matrix[T],
	beta T, result Matrix[T]) error {
	return sidedCall(blas, "Hemm", side, triangle, m, n, alpha, a, b, beta, result, raw.Km_blas_hemm)
}

// rankK is an update of one triangle by a matrix.
type rankK func(id uint64, kind, triangle, operation int32, n, k uint64,
	alpha, a, beta, c unsafe.Pointer) *raw.Failure

func rankKCall[T Number](blas *BLAS, op string, triangle Triangle, operation Operation, n, k int,
	alpha unsafe.Pointer, a Matrix[T], beta unsafe.Pointer, result Matrix[T], call rankK) error {
	c := beginBLAS(blas, op)
	size, inner := c.size("n", n), c.size("k", k)
	ma, mc := matrixIn(c, "a", a), matrixIn(c, "c", result)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(triangle), int32(operation), size, inner, alpha, ma, beta,
			mc)
	})
}

// Syrk queues C = alpha A A^T + beta C, or with a transposition alpha A^T A + beta C, in one
// triangle of C, which is n x n; A is n x k or k x n.
func Syrk[T Number](blas *BLAS, triangle Triangle, operation Operation, n, k int, alpha T,
	a Matrix[T], beta T, result Matrix[T]) error {
	return rankKCall(blas, "Syrk", triangle, operation, n, k, place(alpha), a, place(beta), result,
		raw.Km_blas_syrk)
}

// Herk queues C = alpha A A^H + beta C, or with a conjugate transposition alpha A^H A + beta C, in
// one triangle.
func Herk[T Number](blas *BLAS, triangle Triangle, operation Operation, n, k int, alpha float64,
	a Matrix[T], beta float64, result Matrix[T]) error {
	return rankKCall(blas, "Herk", triangle, operation, n, k, realPlace[T](alpha), a,
		realPlace[T](beta), result, raw.Km_blas_herk)
}

// rank2K is an update of one triangle by two matrices.
type rank2K func(id uint64, kind, triangle, operation int32, n, k uint64,
	alpha, a, b, beta, c unsafe.Pointer) *raw.Failure

func rank2KCall[T Number](blas *BLAS, op string, triangle Triangle, operation Operation, n, k int,
	alpha T, a, b Matrix[T], beta unsafe.Pointer, result Matrix[T], call rank2K) error {
	c := beginBLAS(blas, op)
	size, inner := c.size("n", n), c.size("k", k)
	ma, mb, mc := matrixIn(c, "a", a), matrixIn(c, "b", b), matrixIn(c, "c", result)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(triangle), int32(operation), size, inner, place(alpha), ma,
			mb, beta, mc)
	})
}

// Syr2k queues C = alpha A B^T + alpha B A^T + beta C, or with a transposition alpha A^T B + alpha
// B^T A + beta C, in one triangle.
func Syr2k[T Number](blas *BLAS, triangle Triangle, operation Operation, n, k int, alpha T,
	a, b Matrix[T], beta T, result Matrix[T]) error {
	return rank2KCall(blas, "Syr2k", triangle, operation, n, k, alpha, a, b, place(beta), result,
		raw.Km_blas_syr2k)
}

// Her2k queues C = alpha A B^H + conj(alpha) B A^H + beta C, or with a conjugate transposition alpha
// A^H B + conj(alpha) B^H A + beta C, in one triangle.
func Her2k[T Number](blas *BLAS, triangle Triangle, operation Operation, n, k int, alpha T,
	a, b Matrix[T], beta float64, result Matrix[T]) error {
	return rank2KCall(blas, "Her2k", triangle, operation, n, k, alpha, a, b, realPlace[T](beta),
		result, raw.Km_blas_her2k)
}

// triangularMatrix is a product or a solution with a triangular matrix on one side.
type triangularMatrix func(id uint64, kind, side, triangle, operation, diagonal int32, m, n uint64,
	alpha, a, b unsafe.Pointer) *raw.Failure

func triangularMatrixCall[T Number](blas *BLAS, op string, side Side, triangle Triangle,
	operation Operation, diagonal Diagonal, m, n int, alpha T, a, b Matrix[T],
	call triangularMatrix) error {
	c := beginBLAS(blas, op)
	rows, columns := c.size("m", m), c.size("n", n)
	ma, mb := matrixIn(c, "a", a), matrixIn(c, "b", b)
	return c.end(func(id uint64) *raw.Failure {
		return call(id, typeOf[T](), int32(side), int32(triangle), int32(operation), int32(diagonal),
			rows, columns, place(alpha), ma, mb)
	})
}

// Trmm queues B = alpha op(A) B, or with the side [Right] alpha B op(A), for a triangular A. B is
// m x n.
func Trmm[T Number](blas *BLAS, side Side, triangle Triangle, operation Operation,
	diagonal Diagonal, m, n int, alpha T, a, b Matrix[T]) error {
	return triangularMatrixCall(blas, "Trmm", side, triangle, operation, diagonal, m, n, alpha, a, b,
		raw.Km_blas_trmm)
}

// Trsm queues the solution of op(A) X = alpha B, or with the side [Right] X op(A) = alpha B, which
// goes to B, for a triangular A. There is no test for a singular one.
func Trsm[T Number](blas *BLAS, side Side, triangle Triangle, operation Operation,
	diagonal Diagonal, m, n int, alpha T, a, b Matrix[T]) error {
	return triangularMatrixCall(blas, "Trsm", side, triangle, operation, diagonal, m, n, alpha, a, b,
		raw.Km_blas_trsm)
}
