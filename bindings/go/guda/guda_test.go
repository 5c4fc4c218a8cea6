package guda_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// some gives numbers from -1 to 1.
func some(count int) []float32 {
	random := rand.New(rand.NewPCG(7, uint64(count)))
	numbers := make([]float32, count)
	for i := range numbers {
		numbers[i] = 2*random.Float32() - 1
	}
	return numbers
}

// near compares numbers that are computed in another order.
func near(t testing.TB, what string, got, wanted []float32) {
	t.Helper()
	if len(got) != len(wanted) {
		t.Fatalf("%s: %d numbers; expected %d", what, len(got), len(wanted))
	}
	for i := range got {
		if difference := math.Abs(float64(got[i] - wanted[i])); !(difference <= 1e-4) {
			t.Fatalf("%s: number %d is %v; expected %v", what, i, got[i], wanted[i])
		}
	}
}

// multiplied is alpha op(A) op(B) + beta C of matrices of rows.
func multiplied(transA, transB bool, m, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int) []float32 {
	result := slices.Clone(c)
	for i := range m {
		for j := range n {
			sum := 0.0
			for l := range k {
				x, y := a[i*lda+l], b[l*ldb+j]
				if transA {
					x = a[l*lda+i]
				}
				if transB {
					y = b[j*ldb+l]
				}
				sum += float64(x) * float64(y)
			}
			result[i*ldc+j] = alpha*float32(sum) + beta*c[i*ldc+j]
		}
	}
	return result
}

func TestTheReadmeOfGUDA(t *testing.T) {
	ok(t, guda.Init(0))
	defer guda.Reset()
	const n = 256
	a, err := guda.Allocate(n * n * 4)
	ok(t, err)
	defer guda.Free(a)
	b, err := guda.Allocate(n * n * 4)
	ok(t, err)
	defer guda.Free(b)
	c, err := guda.Allocate(n * n * 4)
	ok(t, err)
	defer guda.Free(c)
	ok(t, guda.Memcpy(a, some(n*n), n*n*4, guda.MemcpyHostToDevice))
	ok(t, guda.Memcpy(b, some(n*n), n*n*4, guda.MemcpyHostToDevice))
	ok(t, guda.GEMM(false, false, n, n, n, 1.0, a, n, b, n, 0.0, c, n))
	got := slices.Clone(c.Float32()) // GEMM has waited
	wanted := multiplied(false, false, n, n, n, 1, some(n*n), n, some(n*n), n, 0, make([]float32, n*n), n)
	near(t, "GEMM", got, wanted)
	_, err = guda.Allocate(0)
	expect(t, guda.ErrorInvalidValue, err)
	expect(t, guda.ErrorInvalidDevice, guda.Init(99))
}

func TestMatricesLieRowAfterRow(t *testing.T) {
	const m, n, k, ld = 5, 7, 3, 9
	a, b, c := some(m*k*ld), some(k*n*ld), some(m*ld)
	for _, trans := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		onDevice := upload(t, c...)
		wanted := multiplied(trans[0], trans[1], m, n, k, 2, a, ld, b, ld, 3, c, ld)
		ok(t, guda.Sgemm(trans[0], trans[1], m, n, k, 2, upload(t, a...), ld, b, ld, 3, onDevice, ld))
		near(t, "Sgemm", download(t, onDevice, m*ld), wanted)
		host := slices.Clone(c)
		ok(t, guda.Sgemm(trans[0], trans[1], m, n, k, 2, a, ld, pointer(b), ld, 3, host, ld))
		near(t, "Sgemm on the host", host, wanted)
	}
	for _, trans := range []bool{false, true} {
		rows, columns := m, n
		if trans {
			rows, columns = n, m
		}
		x, y := some(2*columns), some(rows)
		spread := make([]float32, columns)
		for i := range spread {
			spread[i] = x[2*i]
		}
		wanted := multiplied(trans, false, rows, 1, columns, 2, a, ld, spread, 1, 3, y, 1)
		ok(t, guda.Sgemv(trans, m, n, 2, a, ld, x, 2, 3, y, 1))
		near(t, "Sgemv", y, wanted)
	}
	expect(t, guda.ErrorInvalidValue, guda.Sgemm(false, false, m, n, k, 1, a, k-1, b, n, 0, c, n))
	expect(t, guda.ErrorInvalidValue, guda.Sgemm(false, false, m, n, k, 1, a[:4], k, b, n, 0, c, n))
	expect(t, guda.ErrorInvalidValue, guda.Sgemm(false, false, -1, n, k, 1, a, k, b, n, 0, c, n))
	expect(t, guda.ErrorInvalidValue, guda.GEMM(false, false, m, n, k, 1, 16, k, 16, n, 0, 16, n))
	expect(t, guda.ErrorInvalidValue, guda.Sgemv(false, m, n, 1, a, n, c, 0, 0, c, 1))
	ok(t, guda.Sgemm(false, false, 0, n, k, 1, a, k, b, n, 0, c, n))
}

func TestVectorsOfBLAS(t *testing.T) {
	const n = 1000
	x, y := some(n), some(2*n)
	dx, dy := upload(t, x...), upload(t, y...)
	sum, squares, absolute := 0.0, 0.0, 0.0
	for i := range n {
		sum += float64(x[i]) * float64(y[i])
		squares += float64(x[i]) * float64(x[i])
		absolute += math.Abs(float64(x[i]))
	}
	wanted := []float32{float32(sum), float32(math.Sqrt(squares)), float32(absolute)}
	product, err := guda.DOT(dx, dy, n)
	ok(t, err)
	length, err := guda.NRM2(dx, n)
	ok(t, err)
	size, err := guda.ASUM(dx, n)
	ok(t, err)
	near(t, "BLAS", []float32{product, length, size}, wanted)
	near(t, "BLAS by letters", []float32{guda.Sdot(n, x, 1, dy, 1), guda.Snrm2(n, x, 1),
		guda.Sasum(n, dx, 1)}, wanted)
	ok(t, guda.Scale(2, dx, n))
	ok(t, guda.AXPY(-2, dx, dx, 0))
	ok(t, guda.AXPY(1, dy, dx, n))
	for i := range x {
		x[i] = 2*x[i] + y[i]
	}
	near(t, "AXPY", dx.Float32()[:n], x)
	if result := guda.Sdot(n, x[:3], 1, y, 1); !math.IsNaN(float64(result)) {
		t.Error(result)
	}
	expect(t, guda.ErrorInvalidValue, guda.GetLastError())
}

func TestProductsWithBias(t *testing.T) {
	const m, n, k = 6, 5, 4
	a, b, bias := some(m*k), some(k*n), some(n)
	plain := multiplied(false, false, m, n, k, 1, a, k, b, n, 0, make([]float32, m*n), n)
	relu, gelu := slices.Clone(plain), slices.Clone(plain)
	for i := range plain {
		value := float64(plain[i] + bias[i%n])
		relu[i] = float32(max(value, 0))
		gelu[i] = float32(0.5 * value * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(value+0.044715*value*value*value))))
	}
	c := malloc(t, 4*m*n)
	ok(t, guda.FusedGEMMBiasReLU(false, false, m, n, k, 1, upload(t, a...), k, upload(t, b...), n, 0, c,
		n, upload(t, bias...)))
	near(t, "ReLU", c.Float32(), relu)
	ok(t, guda.FusedGEMMBiasGELU(false, false, m, n, k, 1, upload(t, a...), k, upload(t, b...), n, 0, c,
		n, upload(t, bias...)))
	near(t, "GELU", c.Float32(), gelu)
	expect(t, guda.ErrorInvalidValue, guda.FusedGEMMBiasReLU(false, false, m, n, k, 1, c, k, c, n, 0, c,
		n, upload(t, bias[:4]...)))
}

// mapped is a function of each number.
func mapped(numbers []float32, call func(i int, x float64) float64) []float32 {
	result := make([]float32, len(numbers))
	for i, number := range numbers {
		result[i] = float32(call(i, float64(number)))
	}
	return result
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func gelu(x float64) float64 {
	return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func TestElementsOneByOne(t *testing.T) {
	const n = 100_001
	x, y := some(n), some(n + 1)[1:]
	bias := []float32{1, -2, 0.25}
	for name, each := range map[string]struct {
		call   func(guda.DevicePtr) error
		wanted func(i int, x float64) float64
	}{
		"Add": {func(p guda.DevicePtr) error { return guda.Add(p, upload(t, y...), p, n) },
			func(i int, x float64) float64 { return x + float64(y[i]) }},
		"Multiply": {func(p guda.DevicePtr) error { return guda.Multiply(p, upload(t, y...), p, n) },
			func(i int, x float64) float64 { return x * float64(y[i]) }},
		"ReLU": {func(p guda.DevicePtr) error { return guda.ReLU(p, n) },
			func(_ int, x float64) float64 { return max(x, 0) }},
		"Sigmoid": {func(p guda.DevicePtr) error { return guda.Sigmoid(p, n) },
			func(_ int, x float64) float64 { return sigmoid(x) }},
		"Tanh": {func(p guda.DevicePtr) error { return guda.Tanh(p, n) },
			func(_ int, x float64) float64 { return math.Tanh(x) }},
		"GELU": {func(p guda.DevicePtr) error { return guda.GELU(p, n) },
			func(_ int, x float64) float64 { return gelu(x) }},
		"LinearReLU": {func(p guda.DevicePtr) error { return guda.LinearReLU(p, 3, 0.5, n) },
			func(_ int, x float64) float64 { return max(3*x+0.5, 0) }},
		"AddBiasReLU": {func(p guda.DevicePtr) error { return guda.AddBiasReLU(p, upload(t, bias...), n) },
			func(i int, x float64) float64 { return max(x+float64(bias[i%3]), 0) }},
		"AddBiasGELU": {func(p guda.DevicePtr) error { return guda.AddBiasGELU(p, upload(t, bias...), n) },
			func(i int, x float64) float64 { return gelu(x + float64(bias[i%3])) }},
		"Map": {func(p guda.DevicePtr) error {
			return guda.Map(p, p, n, func(x float32) float32 { return x * x })
		}, func(_ int, x float64) float64 { return x * x }},
		"ForEach": {func(p guda.DevicePtr) error {
			return guda.ForEach(p, n, func(i int, x *float32) { *x = float32(i%2) + *x })
		}, func(i int, x float64) float64 { return float64(i%2) + x }},
	} {
		ptr := upload(t, x...)
		ok(t, each.call(ptr))
		ok(t, guda.Synchronize())
		near(t, name, ptr.Float32(), mapped(x, each.wanted))
		expect(t, guda.ErrorInvalidValue, guda.ReLU(ptr, n+1))
		expect(t, guda.ErrorInvalidValue, guda.Map(ptr, ptr, n+1, func(x float32) float32 { return x }))
	}
}

func TestFusedKernels(t *testing.T) {
	const n = 1000
	x, y := some(n), some(n + 1)[1:]
	ptr, other := upload(t, x...), upload(t, y...)
	kernel := guda.NewFusedKernel().MulScalar(2).Add(3).Multiply().AddScalar(1).ReLU()
	for range 10 {
		kernel = kernel.AddScalar(0.5)
	}
	kernel = kernel.Custom(func(x float32) float32 { return -x }).Add(1)
	expect(t, guda.ErrorInvalidValue, kernel.Execute(ptr, []guda.DevicePtr{other}, n))
	ok(t, kernel.Execute(ptr, []guda.DevicePtr{other, other, other}, n))
	wanted := mapped(x, func(i int, x float64) float64 {
		each := float64(y[i])
		return -(max((2*x+3*each)*each+1, 0) + 5) + each
	})
	near(t, "fused", download(t, ptr, n), wanted)
	ok(t, guda.NewFusedKernel().Execute(ptr, nil, n))
}

func TestReductions(t *testing.T) {
	for _, n := range []int{1, 2, 255, 4097, 1_000_001} {
		x := some(n)
		x[n/2], x[n-1] = 5, -5
		ptr := upload(t, x...)
		sum, squares, product := 0.0, 0.0, 1.0
		for _, number := range x {
			sum += float64(number)
			squares += float64(number) * float64(number)
			product *= float64(number)
		}
		got := must(guda.Sum(ptr, n))(t)
		if math.Abs(float64(got)-sum) > 1e-3 {
			t.Errorf("the sum of %d: %v; expected %v", n, got, sum)
		}
		equal(t, must(guda.Max(ptr, n))(t), slices.Max(x))
		equal(t, must(guda.Min(ptr, n))(t), slices.Min(x))
		equal(t, ptr.ArgMin(n), n-1)
		equal(t, ptr.ArgMax(n), slices.Index(x, slices.Max(x)))
		mean := sum / float64(n)
		near(t, "Mean", []float32{ptr.Mean(n)}, []float32{float32(mean)})
		near(t, "SumSquares", []float32{ptr.SumSquares(n) / float32(n)}, []float32{float32(squares / float64(n))})
		near(t, "Product", []float32{ptr.Product(n)}, []float32{float32(product)})
		if n > 1 {
			variance := (squares - float64(n)*mean*mean) / float64(n-1)
			near(t, "Variance", []float32{ptr.Variance(n)}, []float32{float32(variance)})
		}
	}
	ptr := upload(t, 1, 2)
	equal(t, ptr.Sum(0), 0)
	equal(t, ptr.ArgMax(0), -1)
	equal(t, ptr.Variance(1), 0)
	if !math.IsNaN(float64(ptr.Sum(3))) || !math.IsInf(float64(ptr.Max(0)), -1) {
		t.Error("no numbers")
	}
	expect(t, guda.ErrorInvalidValue, guda.GetLastError())
	equal(t, must(guda.Reduce(ptr, 2, func(a, b float32) float32 { return 10*a + b }))(t), 12)
	expect(t, guda.ErrorInvalidValue, errorOf(guda.Reduce(ptr, 0, nil)))
}

func TestNormalisedNumbers(t *testing.T) {
	const n = 10_000
	x := some(n)
	ptr := upload(t, x...)
	total, sum, squares := 0.0, 0.0, 0.0
	for _, number := range x {
		total += math.Exp(float64(number))
		sum += float64(number)
		squares += float64(number) * float64(number)
	}
	near(t, "LogSumExp", []float32{guda.LogSumExp(ptr, n)}, []float32{float32(math.Log(total))})
	ok(t, guda.Softmax(ptr, n))
	softmax := mapped(x, func(_ int, x float64) float64 { return n * math.Exp(x) / total })
	ok(t, guda.Scale(n, ptr, n))
	near(t, "Softmax", ptr.Float32(), softmax)
	mean := sum / n
	scale := 1 / math.Sqrt(squares/n-mean*mean+1e-5)
	ptr = upload(t, x...)
	ok(t, guda.LayerNorm(ptr, 0, 0, n, 1e-5))
	near(t, "LayerNorm", download(t, ptr, n),
		mapped(x, func(_ int, x float64) float64 { return (x - mean) * scale }))
	gamma, beta := some(n + 1)[1:], some(n + 2)[2:]
	ptr = upload(t, x...)
	ok(t, guda.LayerNorm(ptr, upload(t, gamma...), upload(t, beta...), n, 1e-5))
	near(t, "LayerNorm", download(t, ptr, n), mapped(x, func(i int, x float64) float64 {
		return (x-mean)*scale*float64(gamma[i]) + float64(beta[i])
	}))
}

func TestSumsAlongSomething(t *testing.T) {
	x := []float32{3, 1, 2, -1, 5, -9}
	ptr, out := upload(t, x...), malloc(t, 24)
	ok(t, guda.CumSum(ptr, out, 6))
	near(t, "CumSum", download(t, out, 6), []float32{3, 4, 6, 5, 10, 1})
	ok(t, guda.ReduceSum(ptr, []int{2, 3}, 0, out))
	near(t, "columns", download(t, out, 3), []float32{2, 6, -7})
	ok(t, guda.ReduceSum(ptr, []int{2, 3}, 1, out))
	near(t, "rows", download(t, out, 2), []float32{6, -5})
	ok(t, guda.ReduceMax(ptr, []int{2, 3}, 0, out))
	near(t, "columns", download(t, out, 3), []float32{3, 5, 2})
	ok(t, guda.ReduceMax(ptr, []int{2, 3}, 1, out))
	near(t, "rows", download(t, out, 2), []float32{3, 5})
	ok(t, guda.SegmentSum(ptr, []int{1, 0, 1, 3, 3, 1}, 4, out))
	near(t, "segments", download(t, out, 4), []float32{1, -4, 0, 4})
	values, places, err := guda.TopK(ptr, 6, 3)
	ok(t, err)
	near(t, "TopK", values, []float32{5, 3, 2})
	if !slices.Equal(places, []int{4, 0, 2}) {
		t.Error(places)
	}
	expect(t, guda.ErrorInvalidValue, guda.ReduceSum(ptr, []int{6}, 0, out))
	expect(t, guda.ErrorInvalidValue, guda.ReduceSum(ptr, []int{2, 3}, 2, out))
	expect(t, guda.ErrorInvalidValue, guda.SegmentSum(ptr, []int{4}, 4, out))
	expect(t, guda.ErrorInvalidValue, guda.CumSum(ptr, out, 7))
	long := some(100_000)
	sums := make([]float32, len(long))
	sum := 0.0
	for i, number := range long {
		sum += float64(number)
		sums[i] = float32(sum)
	}
	running := malloc(t, 4*len(long))
	ok(t, guda.CumSum(upload(t, long...), running, len(long)))
	near(t, "CumSum", download(t, running, len(long)), sums)
}

func TestViewsOfMemory(t *testing.T) {
	ptr := upload(t, 1, 2, 3, 4)
	equal(t, ptr.Size(), 16)
	second := ptr.Offset(8)
	equal(t, second.Size(), 8)
	if !slices.Equal(second.Float32(), []float32{3, 4}) {
		t.Error(second.Float32())
	}
	ptr.Int32()[0] = 7
	equal(t, ptr.Byte()[0], 7)
	equal(t, len(ptr.Float64()), 2)
	equal(t, guda.DevicePtr(0).Size(), 0)
	equal(t, len(guda.DevicePtr(16).Byte()), 0)
	ok(t, guda.Free(ptr))
	equal(t, len(ptr.Float32()), 0)
	equal(t, second.Size(), 0)
}

func TestKindsOfCopies(t *testing.T) {
	ptr := malloc(t, 16)
	ok(t, guda.Memcpy(ptr, []int32{1, 2, 3, 4}, 16, guda.MemcpyHostToDevice))
	back := make([]float64, 2)
	ok(t, guda.Memcpy(back, ptr, 16, guda.MemcpyDefault))
	ok(t, guda.Memcpy(back, ptr, 16, guda.MemcpyDeviceToHost))
	equal(t, math.Float64bits(back[0]), 2<<32|1)
	expect(t, guda.ErrorInvalidValue, guda.Memcpy(back, ptr, 16, guda.MemcpyHostToDevice))
	expect(t, guda.ErrorInvalidValue, guda.Memcpy(back, ptr, 16, guda.MemcpyKind(9)))
	expect(t, guda.ErrorInvalidValue, guda.Memcpy(back[:1], ptr, 16, guda.MemcpyDeviceToHost))
}

func TestWorkInsideAnAllocationIsOrdered(t *testing.T) {
	kernel := function(t, "slow_add")
	ptr := upload(t, make([]float32, 64)...)
	one, other := stream(t), stream(t)
	for _, on := range []guda.Stream{one, other} {
		ok(t, guda.LaunchKernel(kernel, guda.Dim3{X: 1}, guda.Dim3{X: 32}, 0, on, ptr.Offset(128), int32(32)))
	}
	ok(t, guda.Synchronize())
	for _, number := range download(t, ptr, 64)[32:] {
		equal(t, number, 200)
	}
}
