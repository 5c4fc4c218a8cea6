package guda_test

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// BenchmarkMemoryTransfers copies 64 MB to the device and back.
func BenchmarkMemoryTransfers(b *testing.B) {
	const size = 64 << 20
	host := make([]float32, size/4)
	device := malloc(b, size)
	b.SetBytes(2 * size)
	for b.Loop() {
		ok(b, guda.MemcpyHtoD(device, unsafe.Pointer(&host[0]), size))
		ok(b, guda.MemcpyDtoH(unsafe.Pointer(&host[0]), device, size))
	}
}

// BenchmarkMemset fills 64 MB.
func BenchmarkMemset(b *testing.B) {
	const size = 64 << 20
	device := malloc(b, size)
	b.SetBytes(size)
	for b.Loop() {
		ok(b, guda.Memset(device, 1, size))
		ok(b, guda.DeviceSynchronize())
	}
}

const vectorLength = 1 << 24

// BenchmarkVectorAdd adds vectors by a compiled kernel, by host kernels, and by goroutines.
func BenchmarkVectorAdd(b *testing.B) {
	x, y, sum := malloc(b, 4*vectorLength), malloc(b, 4*vectorLength), malloc(b, 4*vectorLength)
	ok(b, guda.Memset(x, 0, 4*vectorLength))
	ok(b, guda.Memset(y, 0, 4*vectorLength))
	ok(b, guda.Memset(sum, 0, 4*vectorLength))
	hx, hy := must(guda.DeviceFloat32(x, vectorLength))(b), must(guda.DeviceFloat32(y, vectorLength))(b)
	hsum := must(guda.DeviceFloat32(sum, vectorLength))(b)
	ok(b, guda.DeviceSynchronize())
	grid, block := guda.Dim3{X: vectorLength / 256}, guda.Dim3{X: 256}
	run := func(kernel guda.Kernel, args ...any) func(*testing.B) {
		return func(b *testing.B) {
			b.SetBytes(12 * vectorLength)
			for b.Loop() {
				ok(b, guda.Launch(kernel, grid, block, args...))
				ok(b, guda.DeviceSynchronize())
			}
		}
	}
	b.Run("compiled", run(function(b, "add"), x, y, sum, int32(vectorLength)))
	b.Run("threads", run(guda.ThreadFunc(func(tid guda.ThreadID) {
		i := tid.Global()
		hsum[i] = hx[i] + hy[i]
	})))
	b.Run("blocks", run(guda.BlockFunc(func(first guda.ThreadID) {
		addRange(hx, hy, hsum, first.Global(), first.Global()+first.BlockDim.X)
	})))
	b.Run("goroutines", func(b *testing.B) {
		b.SetBytes(12 * vectorLength)
		for b.Loop() {
			byGoroutines(hx, hy, hsum)
		}
	})
	b.Run("saxpy", func(b *testing.B) {
		b.SetBytes(12 * vectorLength)
		for b.Loop() {
			ok(b, guda.Saxpy(vectorLength, 2, x, 1, y, 1))
			ok(b, guda.DeviceSynchronize())
		}
	})
}

func addRange(x, y, sum []float32, begin, end int) {
	for i := begin; i < end; i++ {
		sum[i] = x[i] + y[i]
	}
}

// byGoroutines is the loop as a program without a runtime has it: a part for each core.
func byGoroutines(x, y, sum []float32) {
	workers := runtime.GOMAXPROCS(0)
	var group sync.WaitGroup
	for worker := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			addRange(x, y, sum, worker*len(x)/workers, (worker+1)*len(x)/workers)
		}()
	}
	group.Wait()
}

// BenchmarkLaunch queues an empty kernel.
func BenchmarkLaunch(b *testing.B) {
	empty, one := function(b, "empty"), guda.Dim3{X: 1}
	stream := guda.GetDefaultStream()
	count := 0
	for b.Loop() {
		ok(b, guda.LaunchKernel(empty, one, one, 0, stream))
		if count++; count%256 == 0 {
			ok(b, guda.DeviceSynchronize())
		}
	}
}
