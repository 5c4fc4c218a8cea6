package guda_test

import (
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// launchSlow queues a kernel that adds to numbers for 10 ms.
func launchSlow(t *testing.T, kernel *guda.Function, ptr guda.DevicePtr, on guda.Stream) {
	t.Helper()
	ok(t, guda.LaunchKernel(kernel, guda.Dim3{X: 1}, guda.Dim3{X: 32}, 0, on, ptr, int32(32)))
	expect(t, guda.ErrorNotReady, guda.StreamQuery(on))
}

func TestFreeWaitsAndTheMemoryIsGone(t *testing.T) {
	kernel := function(t, "slow_add")
	on := stream(t)
	ptr := upload(t, make([]float32, 32)...)
	launchSlow(t, kernel, ptr, on)
	ok(t, guda.Free(ptr))
	ok(t, guda.StreamQuery(on))
	expect(t, guda.ErrorInvalidValue, guda.Memset(ptr, 0, 1))
	expect(t, guda.ErrorInvalidValue, guda.Free(ptr))
}

func TestFreedMemoryIsThereForOthers(t *testing.T) {
	const size = 256 << 20
	var kept int64
	for round := 0; round < 20; round++ {
		// Other programs take and free memory too, so that not every round shows it.
		before, _, err := guda.MemGetInfo()
		ok(t, err)
		ptr := guda.Malloc(size)
		on := stream(t)
		ok(t, guda.MemsetAsync(ptr, 1, size, on))
		ok(t, guda.Free(ptr))
		after, _, err := guda.MemGetInfo()
		ok(t, err)
		if kept = before - after; kept < size/2 {
			return
		}
	}
	t.Errorf("%d MiB are still taken after Free", kept>>20)
}

func TestClosingABufferWaits(t *testing.T) {
	kernel := function(t, "slow_add")
	on := stream(t)
	buffer := must(guda.NewPinnedBuffer(32))(t)
	launchSlow(t, kernel, buffer.DevicePtr(), on)
	ok(t, buffer.Close())
	ok(t, guda.StreamQuery(on))
	memory := must(guda.AllocatePinnedMemory(128))(t)
	other := malloc(t, 128)
	ok(t, guda.MemcpyHtoDAsync(other, memory, 128, on))
	launchSlow(t, kernel, other, on)
	ok(t, guda.FreePinnedMemory(memory, 128))
	ok(t, guda.StreamQuery(on))
}

func TestPoolsGiveBackWithoutWaitingAndCleanUpAfterIt(t *testing.T) {
	kernel := function(t, "slow_add")
	on := stream(t)
	pool := guda.NewMemoryPool()
	block := pool.Allocate(256)
	launchSlow(t, kernel, block, on)
	pool.Free(block)
	expect(t, guda.ErrorNotReady, guda.StreamQuery(on))
	pool.Cleanup()
	ok(t, guda.StreamQuery(on))

	runtime := guda.NewRuntimeMemoryPool()
	block = runtime.Malloc(256)
	launchSlow(t, kernel, block, on)
	runtime.Free(block, 256)
	expect(t, guda.ErrorNotReady, guda.StreamQuery(on))
	runtime.Trim()
	ok(t, guda.StreamQuery(on))
	ok(t, guda.PeekAtLastError())
}

func TestFreeWaitsForHostKernels(t *testing.T) {
	on := stream(t)
	numbers := make([]float32, 4)
	ptr := must(guda.HostRegister(numbers))(t)
	wait := guda.ThreadFunc(func(guda.ThreadID) {
		time.Sleep(10 * time.Millisecond)
		numbers[0] = 1
	})
	ok(t, guda.LaunchKernel(wait, guda.Dim3{X: 1}, guda.Dim3{X: 1}, 0, on))
	ok(t, guda.Free(ptr))
	equal(t, numbers[0], 1)
}
