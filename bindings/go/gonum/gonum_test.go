package gonum_test

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/testblas"
	"gonum.org/v1/gonum/mat"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/kernelmill/kernelmill/bindings/go/gonum"
)

// open makes the BLAS of the tests.
func open(t *testing.T) *gonum.Implementation {
	t.Helper()
	implementation, err := gonum.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := implementation.Close(); err != nil {
			t.Error(err)
		}
	})
	return implementation
}

// realTests are gonum's own, of the routines for float64.
func realTests(i *gonum.Implementation) map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"Dasum":  func(t *testing.T) { testblas.DasumTest(t, i) },
		"Daxpy":  func(t *testing.T) { testblas.DaxpyTest(t, i) },
		"Dcopy":  func(t *testing.T) { testblas.DcopyTest(t, i) },
		"Ddot":   func(t *testing.T) { testblas.DdotTest(t, i) },
		"Dgbmv":  func(t *testing.T) { testblas.DgbmvTest(t, i) },
		"Dgemm":  func(t *testing.T) { testblas.TestDgemm(t, i) },
		"Dgemv":  func(t *testing.T) { testblas.DgemvTest(t, i) },
		"Dger":   func(t *testing.T) { testblas.DgerTest(t, i) },
		"Dnrm2":  func(t *testing.T) { testblas.Dnrm2Test(t, i) },
		"Drot":   func(t *testing.T) { testblas.DrotTest(t, i) },
		"Drotg":  func(t *testing.T) { testblas.DrotgTest(t, i, false) },
		"Drotm":  func(t *testing.T) { testblas.DrotmTest(t, i) },
		"Drotmg": func(t *testing.T) { testblas.DrotmgTest(t, i) },
		"Dsbmv":  func(t *testing.T) { testblas.DsbmvTest(t, i) },
		"Dscal":  func(t *testing.T) { testblas.DscalTest(t, i) },
		"Dspmv":  func(t *testing.T) { testblas.DspmvTest(t, i) },
		"Dspr":   func(t *testing.T) { testblas.DsprTest(t, i) },
		"Dspr2":  func(t *testing.T) { testblas.Dspr2Test(t, i) },
		"Dswap":  func(t *testing.T) { testblas.DswapTest(t, i) },
		"Dsymm":  func(t *testing.T) { testblas.DsymmTest(t, i) },
		"Dsymv":  func(t *testing.T) { testblas.DsymvTest(t, i) },
		"Dsyr":   func(t *testing.T) { testblas.DsyrTest(t, i) },
		"Dsyr2":  func(t *testing.T) { testblas.Dsyr2Test(t, i) },
		"Dsyr2k": func(t *testing.T) { testblas.Dsyr2kTest(t, i) },
		"Dsyrk":  func(t *testing.T) { testblas.DsyrkTest(t, i) },
		"Dtbmv":  func(t *testing.T) { testblas.DtbmvTest(t, i) },
		"Dtbsv":  func(t *testing.T) { testblas.DtbsvTest(t, i) },
		"Dtpmv":  func(t *testing.T) { testblas.DtpmvTest(t, i) },
		"Dtpsv":  func(t *testing.T) { testblas.DtpsvTest(t, i) },
		"Dtrmm":  func(t *testing.T) { testblas.DtrmmTest(t, i) },
		"Dtrmv":  func(t *testing.T) { testblas.DtrmvTest(t, i) },
		"Dtrsm":  func(t *testing.T) { testblas.DtrsmTest(t, i) },
		"Dtrsv":  func(t *testing.T) { testblas.DtrsvTest(t, i) },
		"Dtxmv":  func(t *testing.T) { testblas.DtxmvTest(t, i) },
		"Idamax": func(t *testing.T) { testblas.IdamaxTest(t, i) },
	}
}

// complexTests are gonum's own, of the routines for complex128.
func complexTests(i *gonum.Implementation) map[string]func(*testing.T) {
	return map[string]func(*testing.T){
		"Dzasum": func(t *testing.T) { testblas.DzasumTest(t, i) },
		"Dznrm2": func(t *testing.T) { testblas.Dznrm2Test(t, i) },
		"Izamax": func(t *testing.T) { testblas.IzamaxTest(t, i) },
		"Zaxpy":  func(t *testing.T) { testblas.ZaxpyTest(t, i) },
		"Zcopy":  func(t *testing.T) { testblas.ZcopyTest(t, i) },
		"Zdotc":  func(t *testing.T) { testblas.ZdotcTest(t, i) },
		"Zdotu":  func(t *testing.T) { testblas.ZdotuTest(t, i) },
		"Zdscal": func(t *testing.T) { testblas.ZdscalTest(t, i) },
		"Zgbmv":  func(t *testing.T) { testblas.ZgbmvTest(t, i) },
		"Zgemm":  func(t *testing.T) { testblas.ZgemmTest(t, i) },
		"Zgemv":  func(t *testing.T) { testblas.ZgemvTest(t, i) },
		"Zgerc":  func(t *testing.T) { testblas.ZgercTest(t, i) },
		"Zgeru":  func(t *testing.T) { testblas.ZgeruTest(t, i) },
		"Zhbmv":  func(t *testing.T) { testblas.ZhbmvTest(t, i) },
		"Zhemm":  func(t *testing.T) { testblas.ZhemmTest(t, i) },
		"Zhemv":  func(t *testing.T) { testblas.ZhemvTest(t, i) },
		"Zher":   func(t *testing.T) { testblas.ZherTest(t, i) },
		"Zher2":  func(t *testing.T) { testblas.Zher2Test(t, i) },
		"Zher2k": func(t *testing.T) { testblas.Zher2kTest(t, i) },
		"Zherk":  func(t *testing.T) { testblas.ZherkTest(t, i) },
		"Zhpmv":  func(t *testing.T) { testblas.ZhpmvTest(t, i) },
		"Zhpr":   func(t *testing.T) { testblas.ZhprTest(t, i) },
		"Zhpr2":  func(t *testing.T) { testblas.Zhpr2Test(t, i) },
		"Zscal":  func(t *testing.T) { testblas.ZscalTest(t, i) },
		"Zswap":  func(t *testing.T) { testblas.ZswapTest(t, i) },
		"Zsymm":  func(t *testing.T) { testblas.ZsymmTest(t, i) },
		"Zsyr2k": func(t *testing.T) { testblas.Zsyr2kTest(t, i) },
		"Zsyrk":  func(t *testing.T) { testblas.ZsyrkTest(t, i) },
		"Ztbmv":  func(t *testing.T) { testblas.ZtbmvTest(t, i) },
		"Ztbsv":  func(t *testing.T) { testblas.ZtbsvTest(t, i) },
		"Ztpmv":  func(t *testing.T) { testblas.ZtpmvTest(t, i) },
		"Ztpsv":  func(t *testing.T) { testblas.ZtpsvTest(t, i) },
		"Ztrmm":  func(t *testing.T) { testblas.ZtrmmTest(t, i) },
		"Ztrmv":  func(t *testing.T) { testblas.ZtrmvTest(t, i) },
		"Ztrsm":  func(t *testing.T) { testblas.ZtrsmTest(t, i) },
		"Ztrsv":  func(t *testing.T) { testblas.ZtrsvTest(t, i) },
	}
}

func TestGonumsOwnTestsPass(t *testing.T) {
	i := open(t)
	tests := realTests(i)
	maps.Copy(tests, complexTests(i))
	for name, test := range tests {
		t.Run(name, test)
	}
}

func TestMatricesAreMultipliedByTheLibrary(t *testing.T) {
	before := blas64.Implementation()
	blas64.Use(open(t))
	defer blas64.Use(before)
	a := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	var product mat.Dense
	product.Mul(a, a) // the same memory twice
	if got := product.RawMatrix().Data; !slices.Equal(got, []float64{7, 10, 15, 22}) {
		t.Errorf("%v", got)
	}
}

func TestSinglePrecision(t *testing.T) {
	i := open(t)
	x, y := []float32{1, 2, 3}, []float32{10, 20, 30}
	i.Saxpy(3, 2, x, 1, y, 1)
	if !slices.Equal(y, []float32{12, 24, 36}) {
		t.Errorf("%v", y)
	}
	if got := i.Sdsdot(3, 1, x, 1, x, -1); got != 11 {
		t.Errorf("%v", got)
	}
	if got := i.Dsdot(3, x, 1, x, 1); got != 14 {
		t.Errorf("%v", got)
	}
	z := []complex64{3 + 4i}
	i.Csscal(1, 2, z, 1)
	if z[0] != 6+8i || i.Scnrm2(1, z, 1) != 10 || i.Scasum(1, z, 1) != 14 || i.Icamax(1, z, 1) != 0 {
		t.Errorf("%v", z)
	}
}

func TestGoroutinesShareArrays(t *testing.T) {
	library := open(t)
	const n = 48
	a, c := make([]float32, n*n), make([]float32, 8*n*n)
	for i := range a {
		a[i] = 1
	}
	var all sync.WaitGroup
	for part := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			// Each routine has every eighth block of n columns of one matrix.
			mine := c[part*n:]
			for range 50 {
				library.Sgemm(blas.NoTrans, blas.NoTrans, n, n, n, 1, a, n, a, n, 0, mine, 8*n)
				if got := library.Sdot(n, a, 1, a[1:], 1); got != n {
					t.Errorf("the product is %v", got)
				}
			}
		}()
	}
	all.Wait()
	for i, number := range c {
		if number != n {
			t.Fatalf("element %d is %v", i, number)
		}
	}
}
