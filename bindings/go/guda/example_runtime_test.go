package guda_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// Two streams copy and compute beside each other, each in its own order.
func ExampleStreamCreate() {
	const size = 1 << 16
	var results [2]float32
	var streams [2]guda.Stream
	var buffers [2]guda.DevicePtr
	for i := range streams {
		streams[i], _ = guda.StreamCreate()
		defer guda.StreamDestroy(streams[i])
		buffers[i] = guda.Malloc(size * 4)
		defer guda.Free(buffers[i])
		data := make([]float32, size)
		data[0] = 1
		guda.MemcpyHtoDAsync(buffers[i], unsafe.Pointer(&data[0]), size*4, streams[i])
		guda.SscalAsync(size, float32(2+i), buffers[i], 1, streams[i])
	}
	for i := range streams {
		guda.MemcpyDtoHAsync(unsafe.Pointer(&results[i]), buffers[i], 4, streams[i])
		if err := guda.StreamSynchronize(streams[i]); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(results)
	// Output: [2 3]
}

// The time of work on the device is that between two events. Operations per millisecond, divided by
// a million, are GFLOPS.
func ExampleEventElapsedTime() {
	start, _ := guda.EventCreate()
	end, _ := guda.EventCreate()
	defer guda.EventDestroy(start)
	defer guda.EventDestroy(end)
	const n = 1 << 20
	data := guda.Malloc(n * 4)
	defer guda.Free(data)
	stream, _ := guda.StreamCreate()
	defer guda.StreamDestroy(stream)
	guda.Memset(data, 0, n*4)
	guda.EventRecord(start, stream)
	guda.SscalAsync(n, 2.0, data, 1, stream)
	guda.EventRecord(end, stream)
	guda.EventSynchronize(end)
	elapsed, err := guda.EventElapsedTime(start, end)
	gflops := float64(n) / float64(elapsed) / 1e6
	fmt.Println(elapsed > 0, gflops > 0, err)
	// Output: true true <nil>
}

// A stream waits for an event of another one; the program does not.
func ExampleStreamWaitEvent() {
	producer, _ := guda.StreamCreate()
	consumer, _ := guda.StreamCreate()
	ready, _ := guda.EventCreateWithFlags(guda.EventDisableTiming)
	defer guda.StreamDestroy(producer)
	defer guda.StreamDestroy(consumer)
	defer guda.EventDestroy(ready)
	one := guda.Dim3{X: 1}
	guda.LaunchKernel(guda.ThreadFunc(func(guda.ThreadID) { fmt.Println("first") }), one, one, 0, producer)
	guda.EventRecord(ready, producer)
	guda.StreamWaitEvent(consumer, ready)
	guda.LaunchKernel(guda.ThreadFunc(func(guda.ThreadID) { fmt.Println("then") }), one, one, 0, consumer)
	guda.StreamSynchronize(consumer)
	// Output:
	// first
	// then
}

// A wait ends with its context.Context; the work goes on.
func ExampleStreamWait() {
	stream, _ := guda.StreamCreate()
	defer guda.StreamDestroy(stream)
	slow := guda.ThreadFunc(func(guda.ThreadID) { time.Sleep(20 * time.Millisecond) })
	guda.LaunchKernel(slow, guda.Dim3{X: 1}, guda.Dim3{X: 1}, 0, stream)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := guda.StreamWait(ctx, stream)
	fmt.Println(errors.Is(err, context.DeadlineExceeded), guda.StreamSynchronize(stream))
	// Output: true <nil>
}

// Work is split over all devices, one goroutine for each.
func ExampleSetDevice() {
	count, err := guda.GetDeviceCount()
	if err != nil {
		log.Fatal(err)
	}
	const total = 1000
	share := total / count
	var done sync.Map
	var group sync.WaitGroup
	for device := range count {
		group.Add(1)
		go func() {
			defer group.Done()
			guda.SetDevice(device) // and lock the goroutine to its thread
			buffer := guda.Malloc(share * 4)
			defer guda.Free(buffer)
			guda.Memset(buffer, 0, share*4)
			guda.Sscal(share, float32(device+1), buffer, 1)
			done.Store(device, guda.DeviceSynchronize())
		}()
	}
	group.Wait()
	failed, _ := done.Load(0)
	fmt.Println(failed)
	// Output: <nil>
}

// A device that is passed on needs no current one, and no thread of its own.
func ExampleUseDevice() {
	device, err := guda.UseDevice(0)
	if err != nil {
		log.Fatal(err)
	}
	properties, err := device.Properties()
	if err != nil {
		log.Fatal(err)
	}
	ptr := device.Malloc(1024)
	defer guda.Free(ptr)
	fmt.Println(properties.WarpSize, ptr != 0, device.Synchronize())
	// Output: 32 true <nil>
}

// Memory that cannot be had is tried again after a pause, which grows; other errors are final.
func ExampleGetLastError_retry() {
	guda.GetLastError() // forgets what was before
	allocate := func(size int) (guda.DevicePtr, error) {
		var last error
		for attempt := range 3 {
			if ptr := guda.Malloc(size); ptr != 0 {
				return ptr, nil
			}
			last = guda.GetLastError()
			if last.Error() != "out of memory" {
				return 0, last
			}
			time.Sleep(time.Duration(1<<attempt) * time.Millisecond)
			runtime.GC() // memory that was forgotten is freed
		}
		return 0, last
	}
	_, err := allocate(1 << 60)
	fmt.Println(err, errors.Is(err, guda.ErrorOutOfMemory))
	ptr, err := allocate(1 << 20)
	defer guda.Free(ptr)
	fmt.Println(ptr != 0, err)
	// Output:
	// out of memory true
	// true <nil>
}

// Calls that are not looked at one by one are looked at once.
func ExamplePeekAtLastError() {
	guda.GetLastError()
	ptr := guda.Malloc(1024)
	defer guda.Free(ptr)
	guda.Memset(ptr, 0, 1024)
	guda.Memset(ptr, 0, 1<<40) // too much
	guda.Sscal(256, 2.0, ptr, 1)
	fmt.Println(errors.Is(guda.PeekAtLastError(), guda.ErrorInvalidValue))
	guda.GetLastError()
	fmt.Println(guda.PeekAtLastError())
	// Output:
	// true
	// <nil>
}

// Ranges of a profile have names; the table and the trace go where they are said to.
func ExampleProfilerStart() {
	guda.ProfilerSetOutput(guda.ProfilerOutput{}) // nowhere; see DefaultTrace
	if err := guda.ProfilerStart(); err != nil {
		log.Fatal(err)
	}
	const n = 1 << 16
	data := guda.Malloc(n * 4)
	defer guda.Free(data)
	guda.ProfilerRangeStart("memory_init")
	guda.Memset(data, 0, n*4)
	guda.ProfilerRangeEnd("memory_init")
	guda.ProfilerRangeStart("computation")
	guda.Sscal(n, 2.0, data, 1)
	guda.ProfilerRangeEnd("computation")
	fmt.Println(guda.ProfilerStop())
	// Output: <nil>
}

// Kernels of CUDA C++ or PTX are launched with arguments that are checked.
func ExampleLaunchKernel() {
	module, err := guda.ModuleLoadSource(`extern "C" __global__ void add(const float* x, float* y,
		int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += x[i]; }`)
	if err != nil {
		log.Fatal(err)
	}
	defer guda.ModuleUnload(module)
	add, err := module.GetFunction("add")
	if err != nil {
		log.Fatal(err)
	}
	defer add.Close()
	x, y := guda.Malloc(12), guda.Malloc(12)
	defer guda.Free(x)
	defer guda.Free(y)
	guda.MemcpyFloat32HtoD(x, []float32{1, 2, 3})
	guda.MemcpyFloat32HtoD(y, []float32{10, 20, 30})
	err = guda.LaunchKernel(add, guda.Dim3{X: 1}, guda.Dim3{X: 32}, 0, guda.Stream{}, x, y, int32(3))
	if err != nil {
		log.Fatal(err)
	}
	sum := make([]float32, 3)
	guda.MemcpyFloat32DtoH(sum, y)
	fmt.Println(sum)
	// Output: [11 22 33]
}

// Kernels can be Go functions, called once for each thread of the grid, on all cores.
func ExampleThreadFunc() {
	x, y := []float32{1, 2, 3}, []float32{10, 20, 30}
	add := guda.ThreadFunc(func(tid guda.ThreadID) {
		if i := tid.Global(); i < len(x) {
			y[i] += x[i]
		}
	})
	guda.Launch(add, guda.Dim3{X: 1}, guda.Dim3{X: 256})
	guda.DeviceSynchronize()
	fmt.Println(y)
	// Output: [11 22 33]
}
