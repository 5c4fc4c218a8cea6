package guda

import runtimes "github.com/kernelmill/kernelmill/bindings/go/guda"

// AXPY adds alpha times n numbers of x to those of y, and waits.
func AXPY(alpha float32, x, y DevicePtr, n int) error { return runtimes.AXPY(alpha, x, y, n) }

// DOT waits for the sum of x y of n numbers each.
func DOT(x, y DevicePtr, n int) (float32, error) { return runtimes.DOT(x, y, n) }

// NRM2 waits for the length of a vector of n numbers.
func NRM2(x DevicePtr, n int) (float32, error) { return runtimes.NRM2(x, n) }

// ASUM waits for the sum of the absolute values of n numbers.
func ASUM(x DevicePtr, n int) (float32, error) { return runtimes.ASUM(x, n) }

// GEMM is [Sgemm] with memory of the device, and waits.
func GEMM(transA, transB bool, m, n, k int, alpha float32, a DevicePtr, lda int,
	b DevicePtr, ldb int, beta float32, c DevicePtr, ldc int) error {
	return runtimes.GEMM(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// GEMV is [Sgemv] with memory of the device, and waits.
func GEMV(transA bool, m, n int, alpha float32, a DevicePtr, lda int,
	x DevicePtr, incX int, beta float32, y DevicePtr, incY int) error {
	return runtimes.GEMV(transA, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Scale multiplies n numbers by alpha, and waits.
func Scale(alpha float32, x DevicePtr, n int) error { return runtimes.Scale(alpha, x, n) }

// Saxpy adds alpha times n numbers of x, incX apart, to those of y: in the default stream of the
// current device. With memory of the host it waits until that is done, else it does not.
func Saxpy[X, Y runtimes.Float32s](n int, alpha float32, x X, incX int, y Y, incY int) error {
	return runtimes.Saxpy(n, alpha, x, incX, y, incY)
}

// Sscal multiplies n numbers, inc apart, by alpha: in the default stream of the current device.
// With memory of the host it waits until that is done, else it does not.
func Sscal[X runtimes.Float32s](n int, alpha float32, x X, inc int) error {
	return runtimes.Sscal(n, alpha, x, inc)
}

// Sdot waits for the sum of x y of n numbers each; NaN when it fails, and
// GetLastError of the other package says why.
func Sdot[X, Y runtimes.Float32s](n int, x X, incX int, y Y, incY int) float32 {
	return runtimes.Sdot(n, x, incX, y, incY)
}

// Snrm2 waits for the length of a vector of n numbers; NaN when it fails, and
// GetLastError of the other package says why.
func Snrm2[X runtimes.Float32s](n int, x X, incX int) float32 { return runtimes.Snrm2(n, x, incX) }

// Sasum waits for the sum of the absolute values of n numbers; NaN when it fails, and GetLastError of
// the other package says why.
func Sasum[X runtimes.Float32s](n int, x X, incX int) float32 { return runtimes.Sasum(n, x, incX) }

// Sgemv queues y = alpha op(A) x + beta y in the default stream of the current device. A has m rows of n
// numbers, lda apart. With memory of the host it waits.
func Sgemv[A, X, Y runtimes.Float32s](trans bool, m, n int, alpha float32, a A, lda int,
	x X, incX int, beta float32, y Y, incY int) error {
	return runtimes.Sgemv(trans, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Sgemm queues C = alpha op(A) op(B) + beta C in the default stream of the current device. Matrices
// lie row after row; op(A) is m x k, op(B) k x n, C m x n; a leading dimension is the number of
// elements from row to row. With memory of the host it waits.
func Sgemm[A, B, C runtimes.Float32s](transA, transB bool, m, n, k int, alpha float32, a A, lda int,
	b B, ldb int, beta float32, c C, ldc int) error {
	return runtimes.Sgemm(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Add queues c = a + b of n numbers each in the default stream.
func Add(a, b, c DevicePtr, n int) error { return runtimes.Add(a, b, c, n) }

// Multiply queues c = a * b of n numbers each, element by element, in the default stream.
func Multiply(a, b, c DevicePtr, n int) error { return runtimes.Multiply(a, b, c, n) }

// ReLU queues x = max(0, x) of n numbers in the default stream.
func ReLU(x DevicePtr, n int) error { return runtimes.ReLU(x, n) }

// Sigmoid queues x = 1 / (1 + exp(-x)) of n numbers in the default stream.
func Sigmoid(x DevicePtr, n int) error { return runtimes.Sigmoid(x, n) }

// Tanh queues x = tanh(x) of n numbers in the default stream.
func Tanh(x DevicePtr, n int) error { return runtimes.Tanh(x, n) }

// GELU queues the Gaussian error linear unit of n numbers, by its form with tanh, in the default
// stream.
func GELU(x DevicePtr, n int) error { return runtimes.GELU(x, n) }

// LinearReLU queues x = max(0, alpha x + beta) of n numbers in the default stream, in one pass.
func LinearReLU(x DevicePtr, alpha, beta float32, n int) error {
	return runtimes.LinearReLU(x, alpha, beta, n)
}

// AddBiasReLU queues x = max(0, x + bias) of n numbers in the default stream, in one pass. The bias is
// as long as its allocation from there on, and is gone through again and again: it is that of each
// row.
func AddBiasReLU(x, bias DevicePtr, n int) error { return runtimes.AddBiasReLU(x, bias, n) }

// AddBiasGELU is AddBiasReLU with [GELU].
func AddBiasGELU(x, bias DevicePtr, n int) error { return runtimes.AddBiasGELU(x, bias, n) }

// FusedGEMMBiasReLU is C = max(0, alpha op(A) op(B) + beta C + bias), with a bias of n numbers that is
// added to each row, and waits.
func FusedGEMMBiasReLU(transA, transB bool, m, n, k int, alpha float32, a DevicePtr, lda int,
	b DevicePtr, ldb int, beta float32, c DevicePtr, ldc int,
	bias DevicePtr) error {
	return runtimes.FusedGEMMBiasReLU(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, bias)
}

// FusedGEMMBiasGELU is FusedGEMMBiasReLU with [GELU].
func FusedGEMMBiasGELU(transA, transB bool, m, n, k int, alpha float32, a DevicePtr, lda int,
	b DevicePtr, ldb int, beta float32, c DevicePtr, ldc int,
	bias DevicePtr) error {
	return runtimes.FusedGEMMBiasGELU(transA, transB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, bias)
}

// NewFusedKernel makes one that does nothing yet.
func NewFusedKernel() *FusedKernel { return runtimes.NewFusedKernel() }

// ForEach queues a call of a function for each of n numbers, with its number and its place, on all
// cores, in the default stream. It needs a device whose memory the host sees, as CPU devices.
func ForEach(data DevicePtr, n int, call func(index int, value *float32)) error {
	return runtimes.ForEach(data, n, call)
}

// Map queues out = f(in) of n numbers on all cores in the default stream. It needs a device whose
// memory the host sees, as CPU devices.
func Map(in, out DevicePtr, n int, call func(float32) float32) error {
	return runtimes.Map(in, out, n, call)
}

// Reduce waits for n numbers, one or more, put together by a function, from the first to the last.
func Reduce(data DevicePtr, n int, call func(a, b float32) float32) (float32, error) {
	return runtimes.Reduce(data, n, call)
}

// Sum waits for the sum of n numbers, which is computed in f64.
func Sum(x DevicePtr, n int) (float32, error) { return runtimes.Sum(x, n) }

// Max waits for the largest of n numbers; 0 for none.
func Max(x DevicePtr, n int) (float32, error) { return runtimes.Max(x, n) }

// Min waits for the smallest of n numbers; 0 for none.
func Min(x DevicePtr, n int) (float32, error) { return runtimes.Min(x, n) }

// CumSum queues running sums in the default stream: out[i] is the sum of x up to i.
func CumSum(x, out DevicePtr, n int) error { return runtimes.CumSum(x, out, n) }

// LogSumExp is the logarithm of the sum of exp(x) of n numbers; -Inf for none, NaN when it fails, and
// [GetLastError] says why.
func LogSumExp(x DevicePtr, n int) float32 { return runtimes.LogSumExp(x, n) }

// Softmax makes exp(x) of n numbers, divided by the sum of those, in their place.
func Softmax(x DevicePtr, n int) error { return runtimes.Softmax(x, n) }

// LayerNorm makes (x - mean) / sqrt(variance + eps) of n numbers in their place, times gamma plus beta,
// which have as many, or are 0 for none.
func LayerNorm(x, gamma, beta DevicePtr, n int, eps float32) error {
	return runtimes.LayerNorm(x, gamma, beta, n, eps)
}

// ReduceSum queues the sums of the columns (axis 0) or of the rows (axis 1) of a matrix, whose shape
// is rows and columns, in the default stream.
func ReduceSum(x DevicePtr, shape []int, axis int, out DevicePtr) error {
	return runtimes.ReduceSum(x, shape, axis, out)
}

// ReduceMax is ReduceSum with the largest instead of the sum.
func ReduceMax(x DevicePtr, shape []int, axis int, out DevicePtr) error {
	return runtimes.ReduceMax(x, shape, axis, out)
}

// SegmentSum makes out[k] the sum of those numbers whose segment is k, of count segments, and waits.
func SegmentSum(data DevicePtr, segments []int, count int, out DevicePtr) error {
	return runtimes.SegmentSum(data, segments, count, out)
}

// TopK waits for the k largest of n numbers and their places, the largest first; all for a larger k.
func TopK(x DevicePtr, n, k int) (values []float32, places []int, err error) {
	return runtimes.TopK(x, n, k)
}
