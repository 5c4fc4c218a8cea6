package guda_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

func TestSscalAndSaxpyTakeIncrements(t *testing.T) {
	x, y := upload(t, 1, 2, 3, 4), upload(t, 10, 20, 30, 40)
	ok(t, guda.Sscal(2, 10, x, 2))
	ok(t, guda.Saxpy(2, 1, x, 2, y, -1))
	if got := download(t, x, 4); got[0] != 10 || got[1] != 2 || got[2] != 30 {
		t.Errorf("%v", got)
	}
	if got := download(t, y, 4); got[0] != 40 || got[1] != 30 {
		t.Errorf("%v", got)
	}
	host := []float32{1, 2, 3}
	ok(t, guda.Sscal(3, 2, host, 1))
	ok(t, guda.Sscal(2, 2, unsafe.Pointer(&host[1]), 1))
	ok(t, guda.Saxpy(3, 1, host, 1, y, 1))
	ok(t, guda.Saxpy(1, 1, x, 1, host, 1))
	if host[0] != 12 || host[2] != 12 || download(t, y, 3)[2] != 42 {
		t.Errorf("%v, %v", host, download(t, y, 3))
	}
	on := stream(t)
	ok(t, guda.SscalAsync(4, 0, x, 1, on))
	ok(t, guda.SaxpyAsync(4, 1, x, 1, y, 1, on))
	ok(t, guda.StreamSynchronize(on))
	equal(t, download(t, x, 4)[2], 0)
}

func TestSscalAndSaxpyFindWrongOperands(t *testing.T) {
	x := upload(t, 1, 2)
	ok(t, guda.Sscal(0, 2, guda.DevicePtr(0), 1))
	for _, err := range []error{
		guda.Sscal(-1, 2, x, 1), guda.Sscal(1, 2, x, 0), guda.Sscal(1<<20, 2, x, 1),
		guda.Sscal(1, 2, guda.DevicePtr(0), 1), guda.Sscal(1, 2, guda.DevicePtr(16), 1),
		guda.Sscal(3, 2, []float32{1, 2}, 1), guda.Sscal(2, 2, []float32{1, 2}, 2),
		guda.Sscal(1, 2, []float32(nil), 1), guda.Sscal(1, 2, unsafe.Pointer(nil), 1),
		guda.Saxpy(2, 1, x, 1, x, 1), guda.Saxpy(1, 1, x, 1, guda.DevicePtr(16), 1),
		guda.Sscal(1, 2, x+1, 1),
		// Extents that no number holds.
		guda.Sscal(1<<30+1, 2, []float32{1}, 1<<33), guda.Sscal(3, 2, []float32{1}, math.MinInt),
		guda.Sscal(1<<30+1, 2, []float32{1}, 1<<34), guda.Sscal(1<<30+1, 2, unsafe.Pointer(&t), 1<<34),
	} {
		expect(t, guda.ErrorInvalidValue, err)
	}
}

func TestCompiledKernelsRunInStreamOrder(t *testing.T) {
	on := stream(t)
	x, y, sum := upload(t, 1, 2, 3), upload(t, 10, 20, 30), malloc(t, 12)
	add := function(t, "add")
	three := guda.Dim3{X: 3}
	ok(t, guda.LaunchKernel(add, guda.Dim3{X: 1}, three, 0, on, x, y, sum, int32(3)))
	ok(t, guda.LaunchKernel(add, guda.Dim3{X: 1}, three, 0, on, sum, y+4, sum, int32(2)))
	ok(t, guda.StreamSynchronize(on))
	if got := download(t, sum, 3); got[0] != 31 || got[2] != 33 {
		t.Errorf("%v", got)
	}
	for _, err := range []error{
		guda.Launch(add, three, three, x, y, sum), guda.Launch(add, three, three, x, y, sum, 3),
		guda.Launch(add, guda.Dim3{}, three, x, y, sum, int32(3)),
		guda.Launch(add, guda.Dim3{X: -1}, three, x, y, sum, int32(3)),
		guda.LaunchKernel(add, three, three, -1, on, x, y, sum, int32(3)),
		guda.LaunchKernel(add, three, three, 1<<40, on, x, y, sum, int32(3)),
	} {
		expect(t, guda.ErrorInvalidConfiguration, err)
	}
	var none *guda.Function
	expect(t, guda.ErrorInvalidValue, guda.Launch(none, three, three))
	expect(t, guda.ErrorInvalidValue, guda.Launch(nil, three, three))
	expect(t, guda.ErrorInvalidValue, none.Close())
	ok(t, add.Close())
	expect(t, guda.ErrorInvalidValue, guda.Launch(add, three, three, x, y, sum, int32(3)))
	expect(t, guda.ErrorInvalidValue, add.Close())
}

func TestModulesComeFromFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernels.cu")
	ok(t, os.WriteFile(path, []byte(kernels), 0o600))
	module := must(guda.ModuleLoad(path))(t)
	ok(t, guda.Launch(must(module.GetFunction("empty"))(t), guda.Dim3{X: 1}, guda.Dim3{X: 1}))
	expect(t, guda.ErrorInvalidValue, errorOf(module.GetFunction("nothing")))
	ok(t, guda.ModuleUnload(module))
	expect(t, guda.ErrorInvalidValue, guda.ModuleUnload(module))
	expect(t, guda.ErrorInvalidValue, guda.ModuleUnload(nil))
	expect(t, guda.ErrorInvalidValue, errorOf(guda.ModuleLoad(path+"x")))
	expect(t, guda.ErrorInvalidValue, errorOf((*guda.Module)(nil).GetFunction("empty")))
}

// counter is a kernel of a type of the program.
type counter struct{ calls atomic.Int64 }

func (c *counter) Execute(tid guda.ThreadID, args ...any) {
	c.calls.Add(int64(tid.Global()) + int64(args[0].(int)))
}

func TestHostKernelsRunForEveryThread(t *testing.T) {
	const count = 10_000
	var seen [count]atomic.Int32
	mark := guda.ThreadFunc(func(tid guda.ThreadID) {
		if i := tid.Global(); i < count {
			seen[i].Add(1)
		}
	})
	ok(t, guda.Launch(mark, guda.Dim3{X: (count + 255) / 256}, guda.Dim3{X: 256}))
	ok(t, guda.DeviceSynchronize())
	for i := range seen {
		if seen[i].Load() != 1 {
			t.Fatalf("thread %d ran %d times", i, seen[i].Load())
		}
	}
	sum := &counter{}
	ok(t, guda.Launch(sum, guda.Dim3{X: 2}, guda.Dim3{X: 3}, 10))
	ok(t, guda.DeviceSynchronize())
	equal(t, sum.calls.Load(), 0+1+2+3+4+5+60)
	var volume atomic.Int64
	shape := guda.KernelFunc(func(tid guda.ThreadID, args ...any) {
		if tid.GridDim != (guda.Dim3{2, 3, 4}) || tid.BlockDim != (guda.Dim3{5, 1, 1}) ||
			args[0] != "text" {
			panic("the wrong shape")
		}
		volume.Add(int64(tid.GlobalX() + 100*tid.GlobalY() + 10_000*tid.GlobalZ()))
	})
	ok(t, guda.Launch(shape, guda.Dim3{2, 3, 4}, guda.Dim3{X: 5}, "text"))
	var blocks atomic.Int64
	ok(t, guda.Launch(guda.BlockFunc(func(guda.ThreadID) { blocks.Add(1) }), guda.Dim3{X: 7, Y: 2},
		guda.Dim3{X: 32}))
	ok(t, guda.DeviceSynchronize())
	equal(t, volume.Load(), 12*45+100*3*40+10_000*6*30)
	equal(t, blocks.Load(), 14)
}

func TestHostKernelsSeeDeviceMemory(t *testing.T) {
	ptr := upload(t, 1, 2, 3, 4)
	numbers := must(guda.DeviceFloat32(ptr, 4))(t)
	ok(t, guda.Sscal(4, 10, ptr, 1))
	increase := guda.ThreadFunc(func(tid guda.ThreadID) { numbers[tid.Global()]++ })
	ok(t, guda.Launch(increase, guda.Dim3{X: 2}, guda.Dim3{X: 2}))
	ok(t, guda.Sscal(4, 2, ptr, 1))
	equal(t, download(t, ptr, 4)[3], 82)
}

func TestPanicsBecomeTheStreamsError(t *testing.T) {
	reset(t)
	on, other := stream(t), stream(t)
	wrong := errors.New("wrong")
	var ran atomic.Bool
	one := guda.Dim3{X: 1}
	open := gate(t, on)
	ok(t, guda.LaunchKernel(guda.ThreadFunc(func(tid guda.ThreadID) {
		if tid.Global() == 7 {
			panic(wrong)
		}
	}), guda.Dim3{X: 4}, guda.Dim3{X: 4}, 0, on))
	ok(t, guda.LaunchKernel(guda.ThreadFunc(func(guda.ThreadID) { ran.Store(true) }), one, one, 0, on))
	open()
	err := guda.StreamSynchronize(on)
	expect(t, guda.ErrorLaunchFailure, err)
	var panicked *guda.PanicError
	if !errors.As(err, &panicked) || !errors.Is(err, wrong) ||
		!strings.Contains(string(panicked.Stack), "kernel_test.go") {
		t.Errorf("%v", err)
	}
	expect(t, guda.ErrorLaunchFailure, guda.StreamQuery(on))
	expect(t, guda.ErrorLaunchFailure, guda.PeekAtLastError())
	equal(t, ran.Load(), false)
	ok(t, guda.LaunchKernel(guda.ThreadFunc(func(guda.ThreadID) {}), one, one, 0, other))
	ok(t, guda.StreamSynchronize(other))
	ok(t, guda.DeviceReset())
	equal(t, guda.GetLastError(), nil)
}

func TestAHostKernelMayEndItsGoroutine(t *testing.T) {
	reset(t)
	end := guda.ThreadFunc(func(tid guda.ThreadID) {
		if tid.Global() == 5 {
			runtime.Goexit()
		}
	})
	for range 20 { // whichever goroutine takes the block
		if err := guda.Launch(end, guda.Dim3{X: 8}, guda.Dim3{X: 1}); err != nil {
			expect(t, guda.ErrorLaunchFailure, err) // it has ended already
		}
		err := guda.DeviceSynchronize()
		expect(t, guda.ErrorLaunchFailure, err)
		if !strings.Contains(err.Error(), "Goexit") {
			t.Errorf("%v", err)
		}
		ok(t, guda.DeviceReset())
	}
}

func TestPanicsFromBeforeAResetDoNotCount(t *testing.T) {
	reset(t)
	var hold sync.WaitGroup
	hold.Add(1)
	ended := make(chan struct{})
	ok(t, guda.Launch(guda.ThreadFunc(func(guda.ThreadID) {
		defer close(ended)
		hold.Wait()
		panic("too late")
	}), guda.Dim3{X: 1}, guda.Dim3{X: 1}))
	ok(t, guda.DeviceReset())
	hold.Done()
	<-ended
	for range 100 { // the panic is noted a little after
		ok(t, guda.DeviceSynchronize())
		time.Sleep(100 * time.Microsecond)
	}
}

func TestMemoryStaysUntilKernelsHaveUsedIt(t *testing.T) {
	one, warp := guda.Dim3{X: 1}, guda.Dim3{X: 32}
	slow, on := function(t, "slow_add"), stream(t)
	const count = 1 << 12
	buffer := must(guda.NewPinnedBuffer(count))(t)
	ptr := guda.Malloc(4 * count)
	ok(t, guda.LaunchKernel(slow, one, warp, 0, on, buffer.DevicePtr(), int32(count)))
	ok(t, guda.LaunchKernel(slow, one, warp, 0, on, ptr+64, int32(count-16)))
	ok(t, buffer.Close())
	ok(t, guda.Free(ptr))
	// The kernels would write to objects that took their places.
	var others [][]float32
	for range 20 {
		other := must(guda.NewPinnedBuffer(count))(t)
		defer other.Close()
		others = append(others, other.Data(), must(guda.DeviceFloat32(malloc(t, 4*count), count))(t))
	}
	for _, numbers := range others {
		clear(numbers)
	}
	ok(t, guda.StreamSynchronize(on))
	for _, numbers := range others {
		for _, number := range numbers {
			if number != 0 {
				t.Fatal("a kernel wrote to memory that was freed under it")
			}
		}
	}
}

type node struct{ next *node }

func TestKernelFaultsAndGoFaultsInOneProcess(t *testing.T) {
	reset(t)
	one := guda.Dim3{X: 1}
	for range 10 {
		if err := guda.Launch(function(t, "crash"), one, one, guda.DevicePtr(16)); err != nil {
			expect(t, guda.ErrorLaunchFailure, err) // it has failed already
		}
		expect(t, guda.ErrorLaunchFailure, guda.DeviceSynchronize())
		ok(t, guda.DeviceReset())
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), "nil pointer") {
					t.Errorf("Go's own fault: %v", err)
				}
			}()
			var none *node
			none = none.next
			t.Errorf("a nil pointer was read: %v", none)
		}()
		var none *node
		if err := guda.Launch(guda.ThreadFunc(func(guda.ThreadID) { _ = *none }), one, one); err != nil {
			expect(t, guda.ErrorLaunchFailure, err) // it has panicked already
		}
		expect(t, guda.ErrorLaunchFailure, guda.DeviceSynchronize())
		ok(t, guda.DeviceReset())
	}
}

func TestWrongHostLaunches(t *testing.T) {
	one, kernel := guda.Dim3{X: 1}, guda.ThreadFunc(func(guda.ThreadID) {})
	for _, shape := range [][2]guda.Dim3{
		{{}, one}, {one, {}}, {{X: -1}, one}, {one, {X: 1, Y: -1}}, {{X: math.MaxInt}, one},
		{{math.MaxInt32, math.MaxInt32, math.MaxInt32}, {math.MaxInt32, math.MaxInt32, 1}},
	} {
		expect(t, guda.ErrorInvalidConfiguration, guda.Launch(kernel, shape[0], shape[1]))
	}
	expect(t, guda.ErrorInvalidConfiguration, guda.LaunchKernel(kernel, one, one, 1, guda.Stream{}))
	expect(t, guda.ErrorInvalidValue, guda.Launch(guda.ThreadFunc(nil), one, one))
	expect(t, guda.ErrorInvalidValue, guda.Launch(guda.KernelFunc(nil), one, one))
	expect(t, guda.ErrorInvalidValue, guda.Launch(guda.BlockFunc(nil), one, one))
	equal(t, guda.Dim3{X: 5}.Size(), 5)
	_ = guda.GetLastError()
}
