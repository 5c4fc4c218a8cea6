package guda_test

import (
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
