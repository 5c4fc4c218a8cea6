package guda_test

import (
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// Allocate, check for 0, free by defer; copies in between are checked against the allocation.
func ExampleMalloc() {
	guda.GetLastError() // forgets what was before
	host := make([]float32, 1000)
	for i := range host {
		host[i] = float32(i % 100)
	}
	device := guda.Malloc(4 * len(host))
	if device == 0 {
		log.Fatal(guda.GetLastError())
	}
	defer guda.Free(device)
	guda.MemcpyHtoD(device, unsafe.Pointer(&host[0]), 4*len(host))
	guda.Sscal(len(host), 2.0, device, 1)
	result := make([]float32, len(host))
	guda.MemcpyDtoH(unsafe.Pointer(&result[0]), device, 4*len(result))
	if err := guda.PeekAtLastError(); err != nil { // one check for all
		log.Fatal(err)
	}
	fmt.Println(result[1], result[2], result[3])
	// Output: 2 4 6
}

// Memory for vector instructions is aligned by allocating it so.
func ExampleMallocAligned() {
	free, total, err := guda.MemGetInfo()
	if err != nil {
		log.Fatal(err)
	}
	const size = 4 << 20
	ptr := guda.MallocAligned(size, 32)
	if ptr == 0 {
		log.Fatal(guda.GetLastError())
	}
	defer guda.Free(ptr)
	if err := guda.Memset(ptr, 0, size); err != nil {
		log.Fatal(err)
	}
	fmt.Println(free <= total, ptr%32)
	// Output: true 0
}

// One buffer serves all batches: allocating in a loop costs more than the work.
func ExampleMemcpyFloat32HtoD_batches() {
	const batchSize, batches = 1000, 3
	buffer := guda.MallocAligned(batchSize*4, 32)
	defer guda.Free(buffer)
	data, results := make([]float32, batchSize), make([]float32, batchSize)
	for batch := range batches {
		for i := range data {
			data[i] = float32(batch)
		}
		if err := guda.MemcpyFloat32HtoD(buffer, data); err != nil {
			log.Fatal(err)
		}
		guda.Sscal(batchSize, 2.0, buffer, 1)
		if err := guda.MemcpyFloat32DtoH(results, buffer); err != nil {
			log.Fatal(err)
		}
		fmt.Println(batch, results[0])
	}
	// Output:
	// 0 0
	// 1 2
	// 2 4
}

// Buffers of many sizes come from a pool, which gives them out again.
func ExampleMemoryPool() {
	pool := guda.NewMemoryPool()
	defer pool.Cleanup()
	var ptrs []guda.DevicePtr
	for i := range 100 {
		size := 1024 * (i%10 + 1)
		ptr := pool.Allocate(size)
		ptrs = append(ptrs, ptr)
		guda.Memset(ptr, 0, size)
	}
	for _, ptr := range ptrs {
		pool.Free(ptr)
	}
	before := pool.Reused()
	ptr := pool.Allocate(2048)
	defer pool.Free(ptr)
	fmt.Println(pool.Reused() - before)
	// Output: 1
}

// The pool of the runtime gets sizes when memory is given back.
func ExampleRuntimeMemoryPool() {
	pool := guda.NewRuntimeMemoryPool()
	for range 1000 {
		ptr := pool.Malloc(512)
		guda.Memset(ptr, 1, 512)
		pool.Free(ptr, 512)
	}
	fmt.Println(pool.Reused())
	// Output: 999
}

// Page-locked memory is copied while the program goes on, and is memory of the device, too.
func ExamplePinnedBuffer() {
	buffer, err := guda.NewPinnedBuffer(4)
	if err != nil {
		log.Fatal(err)
	}
	defer buffer.Close()
	copy(buffer.Data(), []float32{1, 2, 3, 4})
	guda.Sscal(4, 10, buffer.DevicePtr(), 1)
	guda.DeviceSynchronize()
	fmt.Println(buffer.Data())
	// Output: [10 20 30 40]
}

// A file larger than the buffer, and perhaps than memory, goes through it batch by batch.
func ExampleMappedDataset() {
	folder, err := os.MkdirTemp("", "dataset")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "numbers")
	bytes, _ := binary.Append(nil, binary.NativeEndian, []float32{1, 2, 3, 4, 5})
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		log.Fatal(err)
	}
	dataset, err := guda.OpenMappedDataset(path)
	if err != nil {
		log.Fatal(err)
	}
	defer dataset.Close()
	const batchSize = 2
	buffer := guda.Malloc(batchSize * 4)
	defer guda.Free(buffer)
	for offset := 0; offset < dataset.Len(); offset += batchSize {
		batch := dataset.GetBatch(offset, batchSize)
		guda.MemcpyHtoD(buffer, unsafe.Pointer(&batch[0]), 4*len(batch))
		guda.Sscal(len(batch), 1.5, buffer, 1)
		result := make([]float32, len(batch))
		guda.MemcpyFloat32DtoH(result, buffer)
		fmt.Println(result)
	}
	// Output:
	// [1.5 3]
	// [4.5 6]
	// [7.5]
}

// Device memory is seen, and memory of the program is given to the device, without copies.
func ExampleDeviceFloat32() {
	device := guda.Malloc(8)
	defer guda.Free(device)
	guda.MemcpyFloat32HtoD(device, []float32{1, 2})
	view, err := guda.DeviceFloat32(device, 2)
	if err != nil {
		log.Fatal(err)
	}
	mine := []float32{10, 20}
	shared, err := guda.HostRegister(mine)
	if err != nil {
		log.Fatal(err)
	}
	defer guda.Free(shared)
	guda.Saxpy(2, 1, device, 1, shared, 1)
	guda.DeviceSynchronize()
	fmt.Println(view, mine)
	// Output: [1 2] [11 22]
}

// Memory that goes through a tracker and is not freed is listed, with the stack of its allocation.
func ExampleMemoryTracker() {
	tracker := guda.NewMemoryTracker()
	leaked, freed := tracker.Malloc(1024), tracker.Malloc(2048)
	tracker.Free(freed)
	for _, leak := range tracker.Leaks() {
		fmt.Println(leak.Size, len(leak.Stack) > 0)
	}
	tracker.Free(leaked)
	tracker.ReportLeaks()
	// Output:
	// 1024 true
	// No memory leaks detected
}

// The memory of the device in use is sampled while the program works.
func ExampleStartMemoryProfiling() {
	profiler := guda.StartMemoryProfiling(time.Millisecond)
	ptr := guda.Malloc(16 << 20)
	guda.Free(ptr)
	profiler.Stop()
	profile, err := profiler.Profile()
	fmt.Println(profile.PeakBytes-profile.MinimumBytes >= 16<<20, err)
	// Output: true <nil>
}
