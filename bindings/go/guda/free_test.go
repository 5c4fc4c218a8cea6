package guda_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// queueHeld queues a kernel that adds to numbers behind a gate. The function that it gives opens the
// gate a little later; that has come to pass when what it gives is true.
func queueHeld(t *testing.T, ptr guda.DevicePtr, on guda.Stream) func() *atomic.Bool {
	t.Helper()
	open := gate(t, on)
	kernel := function(t, "slow_add")
	ok(t, guda.LaunchKernel(kernel, guda.Dim3{X: 1}, guda.Dim3{X: 32}, 0, on, ptr, int32(32)))
	expect(t, guda.ErrorNotReady, guda.StreamQuery(on))
	return func() *atomic.Bool {
		var isOpen atomic.Bool
		time.AfterFunc(5*time.Millisecond, func() {
			isOpen.Store(true)
			open()
		})
		return &isOpen
	}
}

func TestFreeWaitsAndTheMemoryIsGone(t *testing.T) {
	on := stream(t)
	ptr := upload(t, make([]float32, 32)...)
	isOpen := queueHeld(t, ptr, on)()
	ok(t, guda.Free(ptr))
	equal(t, isOpen.Load(), true)
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
	on := stream(t)
	buffer := must(guda.NewPinnedBuffer(32))(t)
	isOpen := queueHeld(t, buffer.DevicePtr(), on)()
	ok(t, buffer.Close())
	equal(t, isOpen.Load(), true)
	ok(t, guda.StreamQuery(on))
	memory := must(guda.AllocatePinnedMemory(128))(t)
	other := malloc(t, 128)
	isOpen = queueHeld(t, other, on)()
	ok(t, guda.MemcpyHtoDAsync(other, memory, 128, on))
	ok(t, guda.FreePinnedMemory(memory, 128))
	equal(t, isOpen.Load(), true)
	ok(t, guda.StreamQuery(on))
}

func TestPoolsGiveBackWithoutWaitingAndCleanUpAfterIt(t *testing.T) {
	on := stream(t)
	pool := guda.NewMemoryPool()
	block := pool.Allocate(256)
	open := queueHeld(t, block, on)
	pool.Free(block)
	expect(t, guda.ErrorNotReady, guda.StreamQuery(on))
	isOpen := open()
	pool.Cleanup()
	equal(t, isOpen.Load(), true)
	ok(t, guda.StreamQuery(on))

	runtime := guda.NewRuntimeMemoryPool()
	block = runtime.Malloc(256)
	open = queueHeld(t, block, on)
	runtime.Free(block, 256)
	expect(t, guda.ErrorNotReady, guda.StreamQuery(on))
	isOpen = open()
	runtime.Trim()
	equal(t, isOpen.Load(), true)
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
