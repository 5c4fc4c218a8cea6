package guda_test

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/dropin/guda"
)

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Example has the calls of the library's README.
func Example() {
	guda.Init(0)
	defer guda.Reset()

	const n = 64
	a, _ := guda.Malloc(4 * n * n)
	b, _ := guda.Malloc(4 * n * n)
	c, _ := guda.Malloc(4 * n * n)
	defer guda.Free(a)
	defer guda.Free(b)
	defer guda.Free(c)
	for i := range n * n {
		a.Float32()[i], b.Float32()[i] = 0.5, 4
	}

	guda.GEMM(false, false, n, n, n,
		1.0, a, n, b, n,
		0.0, c, n)
	fmt.Println(c.Float32()[0])
	// Output: 128
}

// Declarations have the types that the library publishes.
var (
	_ func(int) (guda.DevicePtr, error)                                      = guda.Malloc
	_ func(guda.DevicePtr) error                                             = guda.Free
	_ func(dst, src any, size int, kind guda.MemcpyKind) error               = guda.Memcpy
	_ func(guda.Kernel, guda.Dim3, guda.Dim3, ...any) error                  = guda.Launch
	_ func(guda.KernelFunc, guda.Dim3, guda.Dim3, ...any) error              = guda.LaunchFunc
	_ func() error                                                           = guda.Synchronize
	_ func() *guda.Device                                                    = guda.GetDevice
	_ func(int) error                                                        = guda.SetDevice
	_ func() int                                                             = guda.GetDeviceCount
	_ func(int) (*guda.Device, error)                                        = guda.GetDeviceProperties
	_ func(alpha float32, x, y guda.DevicePtr, n int) error                  = guda.AXPY
	_ func(x, y guda.DevicePtr, n int) (float32, error)                      = guda.DOT
	_ func(alpha float32, x guda.DevicePtr, n int) error                     = guda.Scale
	_ func(a, b, c guda.DevicePtr, n int) error                              = guda.Add
	_ func(a, b, c guda.DevicePtr, n int) error                              = guda.Multiply
	_ func(x guda.DevicePtr, n int) error                                    = guda.ReLU
	_ func(x guda.DevicePtr, n int) error                                    = guda.Sigmoid
	_ func(x guda.DevicePtr, n int) error                                    = guda.GELU
	_ func(x guda.DevicePtr, n int) error                                    = guda.Softmax
	_ func(x, gamma, beta guda.DevicePtr, n int, eps float32) error          = guda.LayerNorm
	_ func(x guda.DevicePtr, alpha, beta float32, n int) error               = guda.LinearReLU
	_ func(x, bias guda.DevicePtr, n int) error                              = guda.AddBiasReLU
	_ func(x guda.DevicePtr, n int) (float32, error)                         = guda.Sum
	_ func(guda.DevicePtr, int, func(int, *float32)) error                   = guda.ForEach
	_ func(in, out guda.DevicePtr, n int, call func(float32) float32) error  = guda.Map
	_ func(guda.DevicePtr, int, func(a, b float32) float32) (float32, error) = guda.Reduce
	_ func(guda.DevicePtr, []int, int, guda.DevicePtr) error                 = guda.ReduceSum
	_ func(x guda.DevicePtr, n, k int) ([]float32, []int, error)             = guda.TopK
	_ func(*guda.FusedKernel, guda.DevicePtr, []guda.DevicePtr, int) error   = (*guda.FusedKernel).Execute
	_ func(*guda.MemoryPool, int) (guda.DevicePtr, error)                    = (*guda.MemoryPool).Allocate
	_ func(*guda.MemoryPool, guda.DevicePtr) error                           = (*guda.MemoryPool).Free
	_ func(*guda.MemoryPool) (allocated, peak int64)                         = (*guda.MemoryPool).GetStats
	_ func(guda.DevicePtr) []float32                                         = guda.DevicePtr.Float32
	_ func(guda.DevicePtr) []float64                                         = guda.DevicePtr.Float64
	_ func(guda.DevicePtr) []int32                                           = guda.DevicePtr.Int32
	_ func(guda.DevicePtr) []byte                                            = guda.DevicePtr.Byte
	_ func(guda.DevicePtr, int) guda.DevicePtr                               = guda.DevicePtr.Offset
	_ func(guda.DevicePtr) int                                               = guda.DevicePtr.Size
	_ func(guda.DevicePtr, int) float32                                      = guda.DevicePtr.Sum
	_ func(guda.DevicePtr, int) int                                          = guda.DevicePtr.ArgMax
	_ func(*guda.Context) *guda.Stream                                       = (*guda.Context).CreateStream
	_ func(*guda.Stream, func())                                             = (*guda.Stream).Submit
	_ func(*guda.Stream)                                                     = (*guda.Stream).Synchronize
	_ func(n int, a float32, x []float32, ix int, y []float32, iy int) error = guda.Saxpy
	_ func(n int, x []float32, ix int, y []float32, iy int) float32          = guda.Sdot
)

func TestVectorsAreAddedByAKernel(t *testing.T) {
	const n = 1000
	a, b, c := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range n {
		a[i], b[i] = float32(i), 0.5
	}
	var places [3]guda.DevicePtr
	for i := range places {
		place, err := guda.Malloc(4 * n)
		ok(t, err)
		defer guda.Free(place)
		places[i] = place
	}
	ok(t, guda.Memcpy(places[0], a, 4*n, guda.MemcpyHostToDevice))
	ok(t, guda.Memcpy(places[1], unsafe.Pointer(unsafe.SliceData(b)), 4*n, guda.MemcpyHostToDevice))
	kernel := guda.KernelFunc(func(tid guda.ThreadID, args ...any) {
		if i := tid.Global(); i < n {
			x, y, sum := places[0].Float32(), places[1].Float32(), places[2].Float32()
			sum[i] = x[i] + y[i] + args[0].(float32)
		}
	})
	blocks := (n + guda.DefaultBlockSize - 1) / guda.DefaultBlockSize
	grid, block := guda.Dim3{X: blocks, Y: 1, Z: 1}, guda.Dim3{X: guda.DefaultBlockSize, Y: 1, Z: 1}
	ok(t, guda.Launch(kernel, grid, block, float32(1)))
	ok(t, guda.Synchronize())
	ok(t, guda.Memcpy(c, places[2], 4*n, guda.MemcpyDeviceToHost))
	for i, number := range c {
		if number != float32(i)+1.5 {
			t.Fatalf("number %d is %v", i, number)
		}
	}
	if err := guda.Memcpy([]string{""}, places[2], 4, guda.MemcpyDefault); !guda.IsInvalidArgError(err) {
		t.Error(err)
	}
	if err := guda.Memcpy(places[2], 1, 4, guda.MemcpyDefault); !guda.IsInvalidArgError(err) {
		t.Error(err)
	}
}

func TestContextsStreamsAndPools(t *testing.T) {
	context := guda.NewContext()
	defer context.Destroy()
	ptr, err := context.Malloc(64)
	ok(t, err)
	stream, order := context.CreateStream(), []int{}
	for i := range 10 {
		stream.Submit(func() { order = append(order, i) })
	}
	ok(t, context.LaunchFuncStream(func(guda.ThreadID, ...any) { order = append(order, 10) },
		guda.Dim3{X: 1}, guda.Dim3{X: 1}, stream))
	stream.Synchronize()
	for i, number := range order {
		if i != number || len(order) != 11 {
			t.Fatal(order)
		}
	}
	ok(t, context.Free(ptr))
	if err := context.Free(ptr); !guda.IsInvalidArgError(err) {
		t.Error(err)
	}
	pool := guda.NewMemoryPool()
	ptr, err = pool.Allocate(100)
	ok(t, err)
	ok(t, pool.Free(ptr))
	if err := pool.Free(ptr); err == nil {
		t.Error("a second time")
	}
	if allocated, peak := pool.GetStats(); allocated != 0 || peak != 100 {
		t.Error(allocated, peak)
	}
	if _, err := pool.Allocate(math.MaxInt / 2); !guda.IsMemoryError(err) && !guda.IsInvalidArgError(err) {
		t.Error(err)
	}
	device := guda.GetDevice()
	if guda.GetDeviceCount() < 1 || device == nil || device.Name == "" || device.TotalMem == 0 {
		t.Errorf("%+v", device)
	}
	if err := guda.SetDevice(99); !guda.IsDeviceError(err) {
		t.Error(err)
	}
}
