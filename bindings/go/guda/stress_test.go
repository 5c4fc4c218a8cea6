package guda_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// residentBytes is what leaks show in.
func residentBytes(t *testing.T) int {
	fields := strings.Fields(string(must(os.ReadFile("/proc/self/statm"))(t)))
	return must(strconv.Atoi(fields[1]))(t) * os.Getpagesize()
}

func TestCyclesOfAllObjectsLeakNothing(t *testing.T) {
	one := guda.Dim3{X: 1}
	kernel := guda.ThreadFunc(func(guda.ThreadID) {})
	pool := guda.NewMemoryPool()
	defer pool.Cleanup()
	cycle := func(count int) {
		for i := range count {
			on, mark := must(guda.StreamCreate())(t), must(guda.EventCreate())(t)
			ptr, pooled := guda.Malloc(1000), pool.Allocate(1000)
			err := errors.Join(guda.MemsetAsync(ptr, 1, 1000, on), guda.EventRecord(mark, on),
				guda.Memset(pooled, 1, 1000), guda.Free(ptr))
			pool.Free(pooled)
			if i%100 == 0 {
				buffer := must(guda.NewPinnedBuffer(100))(t)
				err = errors.Join(err, guda.LaunchKernel(kernel, one, one, 0, on), buffer.Close())
			}
			ok(t, errors.Join(err, guda.StreamSynchronize(on), guda.EventDestroy(mark),
				guda.StreamDestroy(on)))
		}
		runtime.GC()
	}
	cycle(500)
	bytes, goroutines := residentBytes(t), runtime.NumGoroutine()
	cycle(cycles)
	grown := residentBytes(t) - bytes
	t.Logf("%d bytes more after %d cycles", grown, cycles)
	if grown > residentLimit {
		t.Errorf("more than %d", residentLimit)
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines more", runtime.NumGoroutine()-goroutines)
		}
		runtime.Gosched()
	}
}

// service is one use of the runtime, for any goroutine.
type service func(random *rand.Rand) error

func services() []service {
	one := guda.Dim3{X: 1}
	pool := guda.NewRuntimeMemoryPool()
	numbers := []float32{1, 2, 3, 4}
	with := func(use func(guda.DevicePtr) error) error {
		ptr := guda.Malloc(16)
		if ptr == 0 {
			return errors.New("no memory")
		}
		return errors.Join(use(ptr), guda.Free(ptr))
	}
	return []service{
		func(*rand.Rand) error {
			return with(func(p guda.DevicePtr) error { return guda.MemcpyFloat32HtoD(p, numbers) })
		},
		func(*rand.Rand) error {
			return with(func(p guda.DevicePtr) error {
				return guda.MemcpyFloat32DtoH(make([]float32, 4), p)
			})
		},
		func(*rand.Rand) error {
			return with(func(p guda.DevicePtr) error { return guda.Sscal(4, 2, p, 1) })
		},
		func(*rand.Rand) error { return guda.Sscal(4, 2, []float32{1, 2, 3, 4}, 1) },
		func(*rand.Rand) error {
			ptr := pool.Malloc(1000)
			err := guda.Memset(ptr, 0, 1000)
			pool.Free(ptr, 1000)
			return err
		},
		func(*rand.Rand) error {
			on, err := guda.StreamCreate()
			return errors.Join(err, guda.LaunchKernel(guda.ThreadFunc(func(guda.ThreadID) {}),
				guda.Dim3{X: 8}, guda.Dim3{X: 8}, 0, on), guda.StreamDestroy(on))
		},
		func(*rand.Rand) error {
			event, err := guda.EventCreate()
			return errors.Join(err, guda.EventRecord(event, guda.Stream{}), guda.EventSynchronize(event),
				guda.EventDestroy(event))
		},
		func(*rand.Rand) error { return guda.DeviceSynchronize() },
		func(*rand.Rand) error { return errorOf(guda.GetDeviceProperties(0)) },
		func(random *rand.Rand) error { // what is wrong is found
			ptr := guda.DevicePtr(random.Uint64())
			if guda.Free(ptr) == nil && ptr != 0 || guda.Memset(ptr, 0, 16) == nil ||
				guda.Launch(nil, one, one) == nil || guda.StreamDestroy(guda.Stream{}) == nil {
				return errors.New("a wrong call succeeded")
			}
			_ = guda.GetLastError()
			return nil
		},
	}
}

func TestEightGoroutinesUseAllServices(t *testing.T) {
	all := services()
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			random := rand.New(rand.NewPCG(7, uint64(worker)))
			for range rounds {
				if err := all[random.IntN(len(all))](random); err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	group.Wait()
	ok(t, guda.DeviceSynchronize())
}

// FuzzArguments gives calls any arguments: they work or give an error.
func FuzzArguments(f *testing.F) {
	f.Add(uint64(0), 0, 1, 1, 1)
	f.Add(uint64(16), -1, 0, 1<<40, -1)
	f.Fuzz(func(t *testing.T, address uint64, size, increment, blocks, threads int) {
		ptr := guda.DevicePtr(address)
		own := guda.Malloc(64)
		room := make([]byte, 64)
		if size <= len(room) { // memory of the host is the caller's business
			_ = guda.MemcpyHtoD(ptr, unsafe.Pointer(&room[0]), size)
			_ = guda.MemcpyDtoH(unsafe.Pointer(&room[0]), own+ptr%128, size)
		}
		_ = guda.Free(ptr)
		_ = guda.Memset(own+ptr%128, 1, size)
		_ = guda.MemcpyDtoD(own+ptr%128, own, size)
		_ = guda.Sscal(size, 2, own, increment)
		_ = guda.Saxpy(size, 2, own, increment, []float32{1, 2}, threads)
		if ptr := guda.MallocAligned(size%(1<<20), increment); ptr != 0 {
			ok(t, guda.Free(ptr))
		}
		if blocks < 1000 && threads < 1000 {
			_ = guda.Launch(guda.ThreadFunc(func(guda.ThreadID) {}), guda.Dim3{X: blocks},
				guda.Dim3{X: threads, Y: increment % 4})
		}
		ok(t, guda.DeviceSynchronize())
		ok(t, guda.Free(own))
		_ = guda.GetLastError()
	})
}
