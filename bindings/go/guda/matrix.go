package guda

import (
	"errors"
	"math"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// operation says how a matrix is used.
func operation(isTransposed bool) kernelmill.Operation {
	if isTransposed {
		return kernelmill.Transpose
	}
	return kernelmill.NoTranspose
}

// pointerTo is where numbers of the host lie.
func pointerTo(numbers []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(numbers)) }

// matrix is the operand as a matrix of rows for the library.
func (o operand) matrix(
	d *Device, rows, columns, ld int, borrowed *hostSlices,
) (kernelmill.Matrix[float32], error) {
	if rows < 0 || columns < 0 || ld < columns || ld < 1 {
		return kernelmill.Matrix[float32]{}, invalid(
			"a matrix of %d rows and %d columns with a leading dimension of %d: give that of rows, %d or more",
			rows, columns, ld, max(columns, 1))
	}
	if o.host == nil {
		return kernelmill.MatrixAt[float32](uint64(o.device), ld), nil
	}
	count := 0
	if rows > 0 && columns > 0 {
		if rows-1 > (math.MaxInt/4-columns)/ld {
			return kernelmill.Matrix[float32]{}, invalid("%d rows, %d apart: no memory has as many", rows, ld)
		}
		count = (rows-1)*ld + columns
	}
	if o.length >= 0 && count > o.length {
		return kernelmill.Matrix[float32]{}, invalid("%d rows of %d numbers, %d apart, of a slice of %d",
			rows, columns, ld, o.length)
	}
	slice, err := o.borrow(d, max(count, 1), borrowed)
	if err != nil {
		return kernelmill.Matrix[float32]{}, err
	}
	return kernelmill.MatrixOf[float32](slice, ld), nil
}

// sized gives the rows and columns of a matrix before it is transposed.
func sized(isTransposed bool, rows, columns int) (int, int) {
	if isTransposed {
		return columns, rows
	}
	return rows, columns
}

// product is C = alpha op(A) op(B) + beta C, queued in a stream.
func (s *streamState) product(transA, transB bool, m, n, k int, alpha float32, a operand, lda int,
	b operand, ldb int, beta float32, c operand, ldc int) error {
	if m < 0 || n < 0 || k < 0 {
		return invalid("a product of %d x %d by %d x %d: sizes are not negative", m, k, k, n)
	}
	if m == 0 || n == 0 {
		return nil
	}
	blas, err := s.useBLAS()
	if err != nil {
		return err
	}
	var borrowed hostSlices
	rowsA, columnsA := sized(transA, m, k)
	rowsB, columnsB := sized(transB, k, n)
	matrixA, failedA := a.matrix(s.device, rowsA, columnsA, lda, &borrowed)
	matrixB, failedB := b.matrix(s.device, rowsB, columnsB, ldb, &borrowed)
	matrixC, failedC := c.matrix(s.device, m, n, ldc, &borrowed)
	err = errors.Join(failedA, failedB, failedC)
	if err == nil {
		err = kernelmill.Gemm(blas, operation(transA), operation(transB), m, n, k, alpha, matrixA,
			matrixB, beta, matrixC)
	}
	return borrowed.giveBack(s, err)
}

// Sgemm queues C = alpha op(A) op(B) + beta C in the default stream of the current device. Matrices
// lie row after row; op(A) is m x k, op(B) k x n, C m x n; a leading dimension is the number of
// elements from row to row. With memory of the host it waits.
func Sgemm[A, B, C Float32s](transA, transB bool, m, n, k int, alpha float32, a A, lda int,
	b B, ldb int, beta float32, c C, ldc int) error {
	return SgemmAsync(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, Stream{})
}

// SgemmAsync is Sgemm in the order of a stream. With memory of the host, which it does not keep, it
// waits.
func SgemmAsync[A, B, C Float32s](transA, transB bool, m, n, k int, alpha float32, a A, lda int,
	b B, ldb int, beta float32, c C, ldc int, stream Stream) error {
	return inStream(stream, 0, func(s *streamState) error {
		return s.product(transA, transB, m, n, k, alpha, operandOf(a, 1), lda, operandOf(b, 1), ldb,
			beta, operandOf(c, 1), ldc)
	})
}

// Sgemv queues y = alpha op(A) x + beta y in the default stream of the current device. A has m rows of n
// numbers, lda apart. With memory of the host it waits.
func Sgemv[A, X, Y Float32s](trans bool, m, n int, alpha float32, a A, lda int, x X, incX int,
	beta float32, y Y, incY int) error {
	return inStream(Stream{}, 0, func(s *streamState) error {
		if m < 0 || n < 0 {
			return invalid("a matrix of %d x %d: sizes are not negative", m, n)
		}
		lengthY, lengthX := sized(trans, m, n)
		if lengthY == 0 {
			return nil
		}
		if incX == 0 || incY == 0 {
			return invalid("an increment is 0")
		}
		blas, err := s.useBLAS()
		if err != nil {
			return err
		}
		var borrowed hostSlices
		matrix, failedA := operandOf(a, 1).matrix(s.device, m, n, lda, &borrowed)
		vectorX, failedX := operandOf(x, incX).vector(s.device, max(lengthX, 1), &borrowed)
		vectorY, failedY := operandOf(y, incY).vector(s.device, lengthY, &borrowed)
		err = errors.Join(failedA, failedX, failedY)
		if err == nil {
			err = kernelmill.Gemv(blas, operation(trans), m, n, alpha, matrix, vectorX, beta, vectorY)
		}
		return borrowed.giveBack(s, err)
	})
}

// number of a reduction that goes to device memory, which this waits for; NaN when it fails.
func scalarOf(n int, call func(*kernelmill.BLAS, []kernelmill.Vector[float32],
	*kernelmill.Slice[float32]) error, operands ...operand) (float32, error) {
	var result [1]float32
	err := inStream(Stream{}, 0, func(s *streamState) error {
		return s.withVectors(n, func(blas *kernelmill.BLAS, v []kernelmill.Vector[float32]) error {
			out, err := kernelmill.NewSliceOn[float32](s.stream, 1)
			if err != nil {
				return err
			}
			defer out.Close()
			if err := call(blas, v, out); err != nil {
				return err
			}
			if err := out.Download(s.stream, result[:]); err != nil {
				return err
			}
			return s.stream.Synchronize()
		}, operands...)
	})
	if err != nil {
		return float32(math.NaN()), err
	}
	return result[0], nil
}

// Sdot waits for the sum of x y of n numbers each; NaN when it fails, and [GetLastError] says why.
func Sdot[X, Y Float32s](n int, x X, incX int, y Y, incY int) float32 {
	return first(dot(n, operandOf(x, incX), operandOf(y, incY)))
}

func dot(n int, x, y operand) (float32, error) {
	return scalarOf(n, func(blas *kernelmill.BLAS, v []kernelmill.Vector[float32],
		out *kernelmill.Slice[float32]) error {
		return kernelmill.Dot(blas, n, v[0], v[1], out)
	}, x, y)
}

// Snrm2 waits for the length of a vector of n numbers; NaN when it fails, and [GetLastError] says why.
func Snrm2[X Float32s](n int, x X, incX int) float32 {
	return first(scalarOf(n, func(blas *kernelmill.BLAS, v []kernelmill.Vector[float32],
		out *kernelmill.Slice[float32]) error {
		return kernelmill.Nrm2(blas, n, v[0], out)
	}, operandOf(x, incX)))
}

// Sasum waits for the sum of the absolute values of n numbers; NaN when it fails, and [GetLastError]
// says why.
func Sasum[X Float32s](n int, x X, incX int) float32 {
	return first(scalarOf(n, func(blas *kernelmill.BLAS, v []kernelmill.Vector[float32],
		out *kernelmill.Slice[float32]) error {
		return kernelmill.Asum(blas, n, v[0], out)
	}, operandOf(x, incX)))
}

// waited is what a call gave that was queued in the default stream, once it is done.
func waited(err error) error {
	if err != nil {
		return err
	}
	return StreamSynchronize(Stream{})
}

// GEMM is [Sgemm] with memory of the device, and waits.
func GEMM(transA, transB bool, m, n, k int, alpha float32, a DevicePtr, lda int,
	b DevicePtr, ldb int, beta float32, c DevicePtr, ldc int) error {
	return waited(Sgemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc))
}

// GEMV is [Sgemv] with memory of the device, and waits.
func GEMV(transA bool, m, n int, alpha float32, a DevicePtr, lda int, x DevicePtr, incX int,
	beta float32, y DevicePtr, incY int) error {
	return waited(Sgemv(transA, m, n, alpha, a, lda, x, incX, beta, y, incY))
}

// AXPY adds alpha times n numbers of x to those of y, and waits.
func AXPY(alpha float32, x, y DevicePtr, n int) error {
	return waited(Saxpy(n, alpha, x, 1, y, 1))
}

// Scale multiplies n numbers by alpha, and waits.
func Scale(alpha float32, x DevicePtr, n int) error { return waited(Sscal(n, alpha, x, 1)) }

// DOT waits for the sum of x y of n numbers each.
func DOT(x, y DevicePtr, n int) (float32, error) { return dot(n, operandOf(x, 1), operandOf(y, 1)) }

// NRM2 waits for the length of a vector of n numbers.
func NRM2(x DevicePtr, n int) (float32, error) {
	return scalarOf(n, func(blas *kernelmill.BLAS, v []kernelmill.Vector[float32],
		out *kernelmill.Slice[float32]) error {
		return kernelmill.Nrm2(blas, n, v[0], out)
	}, operandOf(x, 1))
}

// ASUM waits for the sum of the absolute values of n numbers.
func ASUM(x DevicePtr, n int) (float32, error) {
	return scalarOf(n, func(blas *kernelmill.BLAS, v []kernelmill.Vector[float32],
		out *kernelmill.Slice[float32]) error {
		return kernelmill.Asum(blas, n, v[0], out)
	}, operandOf(x, 1))
}

// FusedGEMMBiasReLU is C = max(0, alpha op(A) op(B) + beta C + bias), with a bias of n numbers that is
// added to each row, and waits.
func FusedGEMMBiasReLU(transA, transB bool, m, n, k int, alpha float32, a DevicePtr, lda int,
	b DevicePtr, ldb int, beta float32, c DevicePtr, ldc int, bias DevicePtr) error {
	return productWithBias(opReLU, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, bias)
}

// FusedGEMMBiasGELU is FusedGEMMBiasReLU with [GELU].
func FusedGEMMBiasGELU(transA, transB bool, m, n, k int, alpha float32, a DevicePtr, lda int,
	b DevicePtr, ldb int, beta float32, c DevicePtr, ldc int, bias DevicePtr) error {
	return productWithBias(opGELU, transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, bias)
}

func productWithBias(activation int32, transA, transB bool, m, n, k int, alpha float32,
	a DevicePtr, lda int, b DevicePtr, ldb int, beta float32, c DevicePtr, ldc int,
	bias DevicePtr) error {
	return inDefault(c, 0, func(s *streamState) error {
		if err := s.device.holds(bias, n); err != nil {
			return err
		}
		err := s.product(transA, transB, m, n, k, alpha, operandOf(a, 1), lda, operandOf(b, 1), ldb,
			beta, operandOf(c, 1), ldc)
		if err != nil || m == 0 || n == 0 {
			return err
		}
		err = s.run("bias_rows", m*n, c, int64(m), int64(n), int64(ldc), bias, activation)
		if err != nil {
			return err
		}
		return s.stream.Synchronize()
	})
}
