package kernelmill_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// open opens a context and a stream for an example.
func open() (*kernelmill.Context, *kernelmill.Stream) {
	opened := got(kernelmill.Open("cpu"))
	return opened, got(opened.NewStream())
}

// got ends an example that fails.
func got[T any](value T, err error) T {
	check(err)
	return value
}

func check(errs ...error) {
	if err := errors.Join(errs...); err != nil {
		log.Fatal(err)
	}
}

// A pool gives memory that was freed out again.
func ExamplePool() {
	context, stream := open()
	defer context.Close()
	pool := got(context.NewPool(64 << 20))
	defer pool.Close()
	for range 10 {
		slice := got(kernelmill.PoolSliceOn[float32](pool, stream, 1000))
		check(slice.Fill(stream, 1), slice.CloseOn(stream))
	}
	info := got(pool.Info())
	fmt.Println(info.AllocationCount, info.ReuseCount)
	// Output: 10 9
}

// Page-locked memory is copied while the program goes on.
func ExampleHostMemory() {
	context, stream := open()
	defer context.Close()
	memory := got(kernelmill.NewHostMemory[int32](context, 3))
	defer memory.Close()
	copy(got(memory.Data()), []int32{1, 2, 3})
	slice := got(kernelmill.NewSlice[int32](context, 3))
	check(slice.UploadFrom(stream, memory), slice.DownloadTo(stream, memory), stream.Synchronize())
	fmt.Println(got(memory.Data()))
	// Output: [1 2 3]
}

// Work that is captured runs when its graph is launched, as often as that is.
func ExampleContext_Capture() {
	context, stream := open()
	defer context.Close()
	a := got(kernelmill.SliceOf(stream, []uint32{1, 2, 3, 4}))
	b := got(kernelmill.NewZeroedSlice[uint32](context, 4))
	graph := got(context.Capture(func(s *kernelmill.Stream) error {
		return errors.Join(b.CopyFrom(s, a), a.Fill(s, 7))
	}))
	exec := got(graph.Instantiate())
	check(exec.Launch(stream))
	fmt.Println(got(b.ToHost(stream)))
	check(exec.Launch(stream))
	fmt.Println(got(b.ToHost(stream)))
	// Output:
	// [1 2 3 4]
	// [7 7 7 7]
}

// A graph can be put together node by node; those that do not depend on each other run side by side.
func ExampleGraph() {
	context, stream := open()
	defer context.Close()
	data := got(kernelmill.NewZeroedSlice[uint32](context, 2))
	graph := got(context.NewGraph())
	fill := got(graph.AddFill(data, 5, 4))
	say := got(graph.AddHost(func(err error) { fmt.Println("filled:", err) }, fill))
	exec := got(graph.Instantiate())
	check(exec.Launch(stream), stream.Synchronize())
	fmt.Println(got(graph.Dependencies(say))[0] == fill, got(data.ToHost(stream)))
	// Output:
	// filled: <nil>
	// true [5 5]
}

// Matrices of a stream's BLAS lie in slices; results stay on the device.
func ExampleGemm() {
	context, stream := open()
	defer context.Close()
	blas := got(stream.NewBLAS(kernelmill.RowMajor))
	defer blas.Close()
	a := got(kernelmill.SliceOf(stream, []float64{1, 2, 3, 4}))
	c := got(kernelmill.NewSlice[float64](context, 4))
	m := kernelmill.MatrixOf[float64](a, 2)
	check(kernelmill.Gemm(blas, kernelmill.NoTranspose, kernelmill.Transpose, 2, 2, 2, 1, m, m, 0,
		kernelmill.MatrixOf[float64](c, 2)))
	fmt.Println(got(c.ToHost(stream)))
	// Output: [5 11 11 25]
}

// A wait ends with its context.Context; the work goes on.
func ExampleStream_Wait() {
	opened, stream := open()
	defer opened.Close()
	number := got(kernelmill.NewZeroedSlice[uint32](opened, 1))
	check(kernelmill.WaitValue(stream, number, 0, kernelmill.WaitEqual, 1))
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := stream.Wait(ctx)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	other := got(opened.NewStream())
	check(kernelmill.WriteValue(other, number, 0, 1))
	fmt.Println(stream.Wait(context.Background()))
	// Output:
	// true
	// <nil>
}

// Slices of bytes are readers and writers of Go.
func ExampleBytesOn() {
	context, stream := open()
	defer context.Close()
	slice := got(kernelmill.NewZeroedSlice[byte](context, 11))
	memory := kernelmill.BytesOn(stream, slice)
	got(memory.ReadFrom(strings.NewReader("hello world")))
	section := io.NewSectionReader(memory, 6, 5)
	fmt.Println(string(got(io.ReadAll(section))))
	// Output: world
}

// Memory that is not freed is listed, with the names that it was given.
func ExampleContext_Allocations() {
	context, _ := open()
	defer context.Close()
	check(context.SetTracking(kernelmill.TrackingOn))
	slice := got(kernelmill.NewSlice[float32](context, 256))
	check(slice.SetTag("weights"))
	for allocation, err := range context.Allocations() {
		fmt.Println(allocation.Tag, allocation.SizeBytes, err)
	}
	check(slice.Close())
	fmt.Println(context.LogLeaks(nil))
	// Output:
	// weights 1024 <nil>
	// 0 <nil>
}

// A profile says what ran, how often and how long, and writes traces.
func ExampleProfiler() {
	context, stream := open()
	defer context.Close()
	profiler := context.Profiler()
	check(profiler.Start())
	span := got(profiler.StartRange("fills"))
	slice := got(kernelmill.NewSlice[float32](context, 1000))
	check(slice.Fill(stream, 1), slice.Fill(stream, 2), stream.Synchronize(), span.End(),
		profiler.Stop())
	for _, row := range got(profiler.Rows()) {
		if row.Kind == kernelmill.ProfileFill || row.Kind == kernelmill.ProfileRange {
			fmt.Println(row.Name, row.Count, row.SizeBytes)
		}
	}
	// Output:
	// fill 2 8000
	// fills 1 0
}

// A tuner measures which shape of launch is the fastest, and checks that all compute the same.
func ExampleTuner() {
	context, stream := open()
	defer context.Close()
	device := got(context.Device())
	tuner := got(device.NewTuner(saxpySource, "saxpy"))
	defer tuner.Close()
	for _, block := range []uint32{64, 256} {
		got(tuner.AddCandidate(kernelmill.Shape{Grid: [3]uint32{1024 / block}, Block: [3]uint32{block}}))
	}
	x := make([]float32, 1024)
	check(kernelmill.TuneInput(tuner, x), kernelmill.TuneOutput(tuner, x),
		kernelmill.TuneValue(tuner, float32(2)), kernelmill.TuneValue(tuner, int32(len(x))),
		tuner.SetCheck(kernelmill.CheckExact, 0), tuner.SetBudget(10*time.Millisecond, 1))
	best := got(tuner.RunAgain(""))
	saxpy := got(tuner.Function(best, context))
	fmt.Println(best == 0 || best == 1, saxpy.ParameterCount(), stream.Synchronize())
	// Output: true 4 <nil>
}

// A file is a slice without being read: pages are read when they are used.
func ExampleMapFile() {
	context, stream := open()
	defer context.Close()
	file := got(os.CreateTemp("", "bytes"))
	defer os.Remove(file.Name())
	got(file.WriteString("a large file"))
	check(file.Close())
	slice := got(kernelmill.MapFile[byte](context, file.Name(), 2, -1))
	fmt.Println(string(got(slice.ToHost(stream))))
	// Output: large file
}

// Memory of the program is memory of the device, where that can reach it.
func ExampleSliceOver() {
	context, stream := open()
	defer context.Close()
	numbers := []uint32{1, 2, 3}
	slice := got(kernelmill.SliceOver(context, numbers))
	check(slice.Fill(stream, 9), stream.Synchronize(), slice.Close())
	fmt.Println(numbers)
	// Output: [9 9 9]
}

// The block size that fills a multiprocessor best follows from what the kernel needs.
func ExampleFunction_Occupancy() {
	context, _ := open()
	defer context.Close()
	module := got(context.LoadSource(saxpySource, ""))
	saxpy := got(module.Function("saxpy"))
	block, _, err := saxpy.BestBlock(nil, 0)
	check(err)
	occupancy := got(saxpy.Occupancy(int(block), 0))
	fmt.Println(occupancy.ActiveBlocks > 0, occupancy.Percent > 0)
	// Output: true true
}
