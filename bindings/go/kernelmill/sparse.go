package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// SparseIndex is what the offsets and indices of sparse matrices are.
type SparseIndex interface {
	int32 | int64
}

// SparseMatrix is where a sparse matrix lies: in three slices. Its offsets and indices are read when
// a call runs: on a CPU, one that points outside of the matrix ends the context with
// [ErrIllegalAddress], as a fault of a kernel does. Nonzeros in one place count together.
type SparseMatrix[T Number] struct {
	format, indexBytes       int
	base                     int
	rows, columns            int
	offsets, indices, values Memory
	nonzeros                 int
}

// CSR is a matrix of as many nonzeros as there are values, row by row: those of row i are at
// offsets[i] to before offsets[i+1], with their columns in indices.
func CSR[T Number, I SparseIndex](rows, columns int, offsets, indices *Slice[I],
	values *Slice[T]) SparseMatrix[T] {
	return sparse(raw.SPARSE_FORMAT_CSR, rows, columns, offsets, indices, values)
}

// CSC is a matrix column by column, with the rows of the nonzeros in indices.
func CSC[T Number, I SparseIndex](rows, columns int, offsets, indices *Slice[I],
	values *Slice[T]) SparseMatrix[T] {
	return sparse(raw.SPARSE_FORMAT_CSC, rows, columns, offsets, indices, values)
}

// COO is a matrix by the row and the column of each nonzero, sorted by rows.
func COO[T Number, I SparseIndex](rows, columns int, rowIndices, columnIndices *Slice[I],
	values *Slice[T]) SparseMatrix[T] {
	return sparse(raw.SPARSE_FORMAT_COO, rows, columns, rowIndices, columnIndices, values)
}

func sparse[T Number, I SparseIndex](format, rows, columns int, offsets, indices *Slice[I],
	values *Slice[T]) SparseMatrix[T] {
	var index I
	return SparseMatrix[T]{format: format, indexBytes: int(unsafe.Sizeof(index)), rows: rows,
		columns: columns, offsets: offsets, indices: indices, values: values,
		nonzeros: values.Len()}
}

// OneBased is the matrix with rows and columns that count from 1, as in Fortran.
func (m SparseMatrix[T]) OneBased() SparseMatrix[T] {
	m.base = 1
	return m
}

func sparseIn[T Number](c *blasCall, m SparseMatrix[T]) unsafe.Pointer {
	array := func(name string, slice Memory) raw.Array {
		return raw.Array{Slice: c.sliceOf(name, slice, 0)}
	}
	return unsafe.Pointer(&raw.SparseMatrix{Format: int32(m.format),
		IndexSizeBytes: uint32(m.indexBytes), IndexBase: uint32(m.base),
		Rows: c.size("a's number of rows", m.rows), Columns: c.size("a's number of columns", m.columns),
		Nonzeros: uint64(m.nonzeros), Offsets: array("a's offsets", m.offsets),
		Indices: array("a's indices", m.indices), Values: array("a's values", m.values)})
}

// SparseMv queues y = alpha op(A) x + beta y. Increments are at least 1.
func SparseMv[T Number](blas *BLAS, operation Operation, alpha T, a SparseMatrix[T], x Vector[T],
	beta T, y Vector[T]) error {
	c := beginBLAS(blas, "SparseMv")
	ma, vx, vy := sparseIn(c, a), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_sparse_mv(id, typeOf[T](), int32(operation), place(alpha), ma, vx, place(beta),
			vy)
	})
}

// SparseMm queues C = alpha op(A) op(B) + beta C with so many columns of op(B) and C.
func SparseMm[T Number](blas *BLAS, operationA, operationB Operation, columns int, alpha T,
	a SparseMatrix[T], b Matrix[T], beta T, result Matrix[T]) error {
	c := beginBLAS(blas, "SparseMm")
	count, ma := c.size("columns", columns), sparseIn(c, a)
	mb, mc := matrixIn(c, "b", b), matrixIn(c, "c", result)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_sparse_mm(id, typeOf[T](), int32(operationA), int32(operationB), count,
			place(alpha), ma, mb, place(beta), mc)
	})
}

// SparseSv queues the solution of op(A) y = alpha x for a triangular matrix. Nonzeros of the other
// triangle are not used. y may be x.
func SparseSv[T Number](blas *BLAS, operation Operation, triangle Triangle, diagonal Diagonal,
	alpha T, a SparseMatrix[T], x, y Vector[T]) error {
	c := beginBLAS(blas, "SparseSv")
	ma, vx, vy := sparseIn(c, a), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_sparse_sv(id, typeOf[T](), int32(operation), int32(triangle), int32(diagonal),
			place(alpha), ma, vx, vy)
	})
}

// SparseSm queues the solution of op(A) C = alpha B for a triangular matrix and so many columns. C
// may be B.
func SparseSm[T Number](blas *BLAS, operation Operation, triangle Triangle, diagonal Diagonal,
	columns int, alpha T, a SparseMatrix[T], b, result Matrix[T]) error {
	c := beginBLAS(blas, "SparseSm")
	count, ma := c.size("columns", columns), sparseIn(c, a)
	mb, mc := matrixIn(c, "b", b), matrixIn(c, "c", result)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_sparse_sm(id, typeOf[T](), int32(operation), int32(triangle), int32(diagonal),
			count, place(alpha), ma, mb, mc)
	})
}
