package guda_test

import (
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

func TestMallocGivesZeroAndAnErrorOnFailure(t *testing.T) {
	for _, size := range []int{0, -1, math.MinInt} {
		equal(t, guda.Malloc(size), 0)
		expect(t, guda.ErrorInvalidValue, guda.GetLastError())
	}
	equal(t, guda.Malloc(math.MaxInt), 0)
	err := guda.GetLastError()
	expect(t, guda.ErrorOutOfMemory, err)
	equal(t, err.Error(), "out of memory")
	equal(t, guda.GetLastError(), nil)
}

func TestFreeFindsWrongPointers(t *testing.T) {
	ptr := malloc(t, 1024)
	expect(t, guda.ErrorInvalidValue, guda.Free(ptr+1))
	ok(t, guda.Free(ptr))
	expect(t, guda.ErrorInvalidValue, guda.Free(ptr))
	expect(t, guda.ErrorInvalidValue, guda.Free(16))
	ok(t, guda.Free(0))
	expect(t, guda.ErrorInvalidValue, guda.GetLastError())
}

func TestMallocAlignedIsAligned(t *testing.T) {
	for _, alignment := range []int{1, 32, 64, 4096, 1 << 20} {
		ptr := guda.MallocAligned(1000, alignment)
		if ptr == 0 || int(ptr)%alignment != 0 {
			t.Errorf("%#x for an alignment of %d", ptr, alignment)
		}
		ok(t, guda.Free(ptr))
	}
	for _, alignment := range []int{0, -8, 24, 48} {
		equal(t, guda.MallocAligned(1000, alignment), 0)
		expect(t, guda.ErrorInvalidValue, guda.GetLastError())
	}
}

func TestFreeMemoryFallsWithAllocations(t *testing.T) {
	const size = 256 << 20
	for round := 0; round < 50; round++ {
		// Other programs take and free memory too, so that not every round shows it.
		before, total, err := guda.MemGetInfo()
		ok(t, err)
		ptr := malloc(t, size)
		ok(t, guda.Memset(ptr, 1, size))
		after, _, err := guda.MemGetInfo()
		ok(t, err)
		ok(t, guda.Free(ptr))
		if before <= 0 || before > total || after > total {
			t.Fatalf("%d of %d bytes free, then %d", before, total, after)
		}
		if after < before-size/2 {
			return
		}
	}
	t.Error("no round shows that an allocation takes memory")
}

func TestMemsetStaysWithinTheAllocation(t *testing.T) {
	ptr := malloc(t, 4096)
	ok(t, guda.Memset(ptr, 0x3f, 4096))
	equal(t, math.Float32bits(download(t, ptr, 1024)[1023]), 0x3f3f3f3f)
	ok(t, guda.Memset(ptr+4, 0, 4))
	if got := download(t, ptr, 3); got[0] == 0 || got[1] != 0 || got[2] == 0 {
		t.Errorf("%v", got)
	}
	expect(t, guda.ErrorInvalidValue, guda.Memset(ptr, 0, 1<<30))
	expect(t, guda.ErrorInvalidValue, guda.Memset(ptr, 0, -1))
	expect(t, guda.ErrorInvalidValue, guda.Memset(0, 0, 1))
	ok(t, guda.MemsetAsync(ptr, 0, 4096, stream(t)))
	equal(t, download(t, ptr, 1)[0], 0)
}

func TestCopiesAreCheckedAgainstTheAllocation(t *testing.T) {
	x, y := upload(t, 1, 2, 3), malloc(t, 12)
	ok(t, guda.MemcpyDtoD(y, x, 12))
	if got := download(t, y, 3); !slices.Equal(got, []float32{1, 2, 3}) {
		t.Errorf("%v", got)
	}
	numbers := make([]float32, 1<<20)
	for what, err := range map[string]error{
		"HtoD beyond":       guda.MemcpyHtoD(x, pointer(numbers), 4<<20),
		"HtoD inside":       guda.MemcpyHtoD(x+1<<19, pointer(numbers), 4),
		"HtoD nowhere":      guda.MemcpyHtoD(0, pointer(numbers), 4),
		"HtoD from nil":     guda.MemcpyHtoD(x, nil, 4),
		"HtoD negative":     guda.MemcpyHtoD(x, pointer(numbers), -4),
		"DtoH beyond":       guda.MemcpyDtoH(pointer(numbers), x, 4<<20),
		"DtoH to nil":       guda.MemcpyDtoH(nil, x, 4),
		"DtoH from nowhere": guda.MemcpyDtoH(pointer(numbers), 16, 4),
		"DtoD beyond":       guda.MemcpyDtoD(x, y, 4<<20),
		"DtoD overlapping":  guda.MemcpyDtoD(x, x+4, 8),
	} {
		expect(t, guda.ErrorInvalidValue, err)
		_ = what
	}
	ok(t, guda.MemcpyHtoD(x, nil, 0))
}

func TestNumbersAreCopied(t *testing.T) {
	numbers := []float32{1.5, -2.5}
	ptr := malloc(t, 8)
	ok(t, guda.MemcpyFloat32HtoD(ptr, numbers))
	if got := download(t, ptr, 2); !slices.Equal(got, numbers) {
		t.Errorf("%v", got)
	}
	expect(t, guda.ErrorInvalidValue, guda.MemcpyFloat32HtoD(ptr, make([]float32, 1<<20)))
	ok(t, guda.MemcpyFloat32HtoD(ptr, nil))
}

func TestPinnedCopiesAreAsynchronousInStreamOrder(t *testing.T) {
	on := stream(t)
	buffer := must(guda.NewPinnedBuffer(1000))(t)
	for i := range buffer.Data() {
		buffer.Data()[i] = float32(i)
	}
	ptr := malloc(t, 4000)
	ok(t, guda.Memset(ptr, 0, 4000))
	open := gate(t, on)
	ok(t, guda.MemcpyHtoDAsync(ptr, pointer(buffer.Data()), 4000, on)) // does not wait
	expect(t, guda.ErrorNotReady, guda.StreamQuery(on))
	open()
	ok(t, guda.StreamSynchronize(on))
	clear(buffer.Data())
	ok(t, guda.MemcpyDtoHAsync(pointer(buffer.Data()), ptr, 4000, on))
	ok(t, guda.StreamSynchronize(on))
	equal(t, buffer.Data()[999], 999)
	ok(t, buffer.Close())
}

func TestMemcpyAsyncFindsTheDirection(t *testing.T) {
	on := stream(t)
	x, y, in, out := malloc(t, 8), malloc(t, 8), []float32{3, 4}, make([]float32, 2)
	ok(t, guda.MemcpyAsync(x, in, 8, on))
	ok(t, guda.MemcpyAsync(y, x, 8, on))
	ok(t, guda.MemcpyAsync(unsafe.Pointer(&out[0]), y, 8, on))
	ok(t, guda.StreamSynchronize(on))
	equal(t, out[1], 4)
	ok(t, guda.Memcpy(x, []byte{0, 0, 0, 0}, 4))
	ok(t, guda.Memcpy(out, x, 8))
	equal(t, out[0], 0)
	expect(t, guda.ErrorInvalidValue, guda.MemcpyAsync(out, in, 8, on))
	expect(t, guda.ErrorInvalidValue, guda.MemcpyAsync(x, in, 12, on))
	expect(t, guda.ErrorInvalidValue, guda.MemcpyAsync(guda.DevicePtr(0), in, 8, on))
	expect(t, guda.ErrorInvalidValue, guda.MemcpyAsync(x, in, -8, on))
}

func TestMemoryIsSharedWithoutCopies(t *testing.T) {
	ptr := upload(t, 1, 2, 3)
	view := must(guda.DeviceFloat32(ptr, 3))(t)
	equal(t, uintptr(pointer(view)), uintptr(ptr)) // a debugger sees the same
	ok(t, guda.Sscal(3, 2, ptr, 1))
	ok(t, guda.DeviceSynchronize())
	equal(t, view[2], 6)
	numbers := []float32{5, 6}
	registered := must(guda.HostRegister(numbers))(t)
	ok(t, guda.Sscal(2, 10, registered, 1))
	ok(t, guda.DeviceSynchronize())
	equal(t, numbers[1], 60)
	ok(t, guda.Free(registered))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.DeviceFloat32(ptr, 1<<20)))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.DeviceFloat32(16, 1)))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.HostRegister(nil)))
}

func TestPinnedBuffersAreMemoryOfTheDevice(t *testing.T) {
	buffer := must(guda.NewPinnedBuffer(4))(t)
	copy(buffer.Data(), []float32{1, 2, 3, 4})
	ptr := buffer.DevicePtr()
	equal(t, uintptr(ptr), uintptr(pointer(buffer.Data())))
	ok(t, guda.Sscal(4, 2, ptr, 1))
	sum := malloc(t, 16)
	add := function(t, "add")
	ok(t, guda.Launch(add, guda.Dim3{X: 1}, guda.Dim3{X: 4}, ptr, ptr, sum, int32(4)))
	equal(t, download(t, sum, 4)[3], 16)
	ok(t, guda.Memset(ptr, 0, 16))
	ok(t, guda.MemcpyDtoD(sum, ptr, 16))
	ok(t, guda.DeviceSynchronize())
	equal(t, buffer.Data()[0], 0)
	ok(t, buffer.Close())
	ok(t, buffer.Close())
	equal(t, buffer.DevicePtr(), 0)
	equal(t, len(buffer.Data()), 0)
	expect(t, guda.ErrorInvalidValue, errorOf(guda.NewPinnedBuffer(0)))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.NewPinnedBuffer(-1)))
	allocated := must(guda.AllocatePinnedMemory(100))(t)
	ok(t, guda.FreePinnedMemory(allocated, 100))
	expect(t, guda.ErrorInvalidValue, guda.FreePinnedMemory(allocated, 100))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.AllocatePinnedMemory(0)))
	ok(t, guda.FreePinnedMemory(nil, 0))
}

func TestTransfersBringBackAllThatWasSent(t *testing.T) {
	const size, rounds = 64 << 20, 4
	sent, received := make([]float32, size/4), make([]float32, size/4)
	device := malloc(t, size)
	for round := range rounds {
		for i := range sent {
			sent[i] = float32(i%1_000_003 + round)
		}
		ok(t, guda.MemcpyHtoD(device, pointer(sent), size))
		ok(t, guda.MemcpyDtoH(pointer(received), device, size))
		equal(t, slices.Equal(sent, received), true)
	}
}
