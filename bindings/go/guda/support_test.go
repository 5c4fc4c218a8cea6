package guda_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// must unwraps a result, or ends the test.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func equal[T comparable](t testing.TB, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Errorf("%v; expected %v", got, wanted)
	}
}

// expect checks the code of an error, and that it says something.
func expect(t testing.TB, code guda.GudaError, err error) {
	t.Helper()
	if !errors.Is(err, code) || err.Error() == "" {
		t.Fatalf("%v; expected %v", err, code)
	}
}

func errorOf[T any](_ T, err error) error { return err }

// malloc allocates device memory that is freed at the end of the test, unless it is before.
func malloc(t testing.TB, size int) guda.DevicePtr {
	t.Helper()
	ptr := guda.Malloc(size)
	if ptr == 0 {
		t.Fatal(guda.GetLastError())
	}
	t.Cleanup(func() {
		if err := guda.Free(ptr); err != nil {
			_ = guda.GetLastError() // the test freed it
		}
	})
	return ptr
}

// upload puts numbers into device memory.
func upload(t testing.TB, numbers ...float32) guda.DevicePtr {
	t.Helper()
	ptr := malloc(t, 4*len(numbers))
	ok(t, guda.MemcpyFloat32HtoD(ptr, numbers))
	return ptr
}

// download reads numbers from device memory.
func download(t testing.TB, ptr guda.DevicePtr, count int) []float32 {
	t.Helper()
	numbers := make([]float32, count)
	ok(t, guda.MemcpyFloat32DtoH(numbers, ptr))
	return numbers
}

func stream(t testing.TB) guda.Stream {
	t.Helper()
	created := must(guda.StreamCreate())(t)
	t.Cleanup(func() { _ = guda.StreamDestroy(created); _ = guda.GetLastError() })
	return created
}

func event(t testing.TB) guda.Event {
	t.Helper()
	created := must(guda.EventCreate())(t)
	t.Cleanup(func() { _ = guda.EventDestroy(created); _ = guda.GetLastError() })
	return created
}

// gate keeps a stream until it is opened.
func gate(t testing.TB, on guda.Stream) (open func()) {
	t.Helper()
	closed := make(chan bool)
	hold := guda.ThreadFunc(func(guda.ThreadID) { <-closed })
	ok(t, guda.LaunchKernel(hold, guda.Dim3{X: 1}, guda.Dim3{X: 1}, 0, on))
	open = sync.OnceFunc(func() { close(closed) })
	t.Cleanup(open)
	return open
}

func pointer(numbers []float32) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(numbers)) }

// withTwoDevices runs the test itself again in a process with two devices, and says whether this is
// that one.
func withTwoDevices(t *testing.T) bool {
	t.Helper()
	if os.Getenv("KM_CPU_DEVICES") == "2" {
		return true
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), "KM_CPU_DEVICES=2", "KM_DEVICE=cpu")
	if output, err := command.CombinedOutput(); err != nil ||
		!bytes.Contains(output, []byte("--- PASS: "+t.Name())) {
		t.Errorf("with two devices: %v\n%s", err, output)
	}
	return false
}

const kernels = `
extern "C" __global__ void add(const float* x, const float* y, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = x[i] + y[i];
}
extern "C" __global__ void crash(int* address) { *address = 1; }
extern "C" __global__ void empty() {}
extern "C" __global__ void empty_with(float* x, float* y) {}
extern "C" __global__ void slow_add(float* sum, int count) {
  for (int round = 0; round < 100; ++round) {
    __nanosleep(100000);
    for (int i = threadIdx.x; i < count; i += blockDim.x) sum[i] += 1;
  }
}`

func function(t testing.TB, name string) *guda.Function {
	t.Helper()
	module := must(guda.ModuleLoadSource(kernels))(t)
	found := must(module.GetFunction(name))(t)
	ok(t, guda.ModuleUnload(module))
	return found
}

// reset leaves the device as it was at first.
func reset(t testing.TB) {
	t.Helper()
	t.Cleanup(func() { ok(t, guda.DeviceReset()) })
}
