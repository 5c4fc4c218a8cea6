package kernelmill_test

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// crash has a kernel write to address 16, and gives the error of the context.
func crash(f *fixture) *kernelmill.Error {
	f.Helper()
	ok(f, f.stream.Launch(f.function("crash")).AddressArg(16).Submit())
	return expect(f, kernelmill.ErrIllegalAddress, f.stream.Synchronize())
}

func TestKernelFaultSticksUntilReset(t *testing.T) {
	f := newFixture(t)
	slice := keep(f, must(kernelmill.NewSlice[int32](f.context, 1))(f))
	equal(t, crash(f).Category(), kernelmill.CategoryKernelFault)
	expect(t, kernelmill.ErrIllegalAddress, slice.Fill(f.stream, 1))
	expect(t, kernelmill.ErrIllegalAddress, errorOf(f.context.NewStream()))
	expect(t, kernelmill.ErrIllegalAddress, f.context.TakeErr())
	expect(t, kernelmill.ErrIllegalAddress, f.context.Err())
	ok(f, f.context.Reset())
	ok(f, f.context.Err())
	expect(t, kernelmill.ErrContextLost, slice.Fill(f.stream, 1))
	stream := keep(f, must(f.context.NewStream())(f))
	again := keep(f, must(kernelmill.SliceOf(stream, []int32{7}))(f))
	equal(t, must(again.ToHost(stream))(f)[0], 7)
}

type node struct{ next *node }

// dereferenceNil has Go's own fault turned into a panic, and gives that.
func dereferenceNil(n *node) (err error) {
	defer func() { err, _ = recover().(error) }()
	_ = n.next
	return errors.New("a nil pointer was read")
}

func isNilPanic(err error) bool {
	var failure runtime.Error
	return errors.As(err, &failure) && strings.Contains(err.Error(), "nil pointer")
}

func TestKernelFaultsAndGoFaultsInOneProcess(t *testing.T) {
	fixtures := []*fixture{newFixture(t), newFixture(t), newFixture(t)}
	parallel(2*len(fixtures), func(worker int) {
		if worker < len(fixtures) {
			crashRepeatedly(fixtures[worker])
			return
		}
		for range 2000 {
			if err := dereferenceNil(nil); !isNilPanic(err) {
				t.Errorf("Go's own fault: %v", err)
			}
		}
	})
}

func crashRepeatedly(f *fixture) {
	for range 20 {
		function, err := f.module.Function("crash")
		if err == nil {
			err = f.stream.Launch(function).AddressArg(16).Submit()
		}
		if err != nil {
			f.Error(err)
		}
		if err := f.stream.Synchronize(); !errors.Is(err, kernelmill.ErrIllegalAddress) {
			f.Errorf("a kernel's fault: %v", err)
		}
		if err := errors.Join(function.Close(), f.renew()); err != nil {
			f.Error(err)
		}
	}
}

// renew resets the context and makes again what is lost by that.
func (f *fixture) renew() error {
	err := errors.Join(f.context.Reset(), f.stream.Close(), f.module.Close())
	if err != nil {
		return err
	}
	if f.stream, err = f.context.NewStream(); err != nil {
		return err
	}
	f.module, err = f.context.LoadSource(kernels, "kernels.cu")
	return err
}

func TestGoroutinesShareAContext(t *testing.T) {
	f := newFixture(t)
	scale := f.function("scale")
	parallel(16, func(worker int) {
		stream, err := f.context.NewStream()
		if err != nil {
			t.Error(err)
			return
		}
		for round := range 20 {
			if err := scaleOnce(stream, scale, float32(worker*20+round)); err != nil {
				t.Error(err)
			}
		}
		if err := stream.Close(); err != nil {
			t.Error(err)
		}
	})
}

func scaleOnce(stream *kernelmill.Stream, scale *kernelmill.Function, factor float32) error {
	data, err := kernelmill.SliceOf(stream, []float32{1, 2, 3})
	if err != nil {
		return err
	}
	launch := stream.Launch(scale).Block(3).Args(data, factor, int32(3))
	if err := launch.Submit(); err != nil {
		return err
	}
	got, err := data.ToHost(stream)
	if err == nil && !slices.Equal(got, []float32{factor, 2 * factor, 3 * factor}) {
		err = errors.New("wrong numbers")
	}
	return errors.Join(err, data.Close())
}

func TestCloseDuringUse(t *testing.T) {
	f := newFixture(t)
	for range 200 {
		stream := must(f.context.NewStream())(t)
		parallel(4, func(worker int) {
			if worker == 0 {
				if err := stream.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			for {
				_, err := stream.Query()
				if errors.Is(err, kernelmill.ErrInvalidHandle) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
}

func TestCallbacks(t *testing.T) {
	f := newFixture(t)
	crash := f.function("crash")
	results := make(chan error, 1000)
	for range cap(results) {
		ok(t, f.stream.AddCallback(func(err error) {
			deep(100)
			results <- errors.Join(err, f.stream.Synchronize())
		}))
	}
	for range cap(results) {
		expect(t, kernelmill.ErrNotPermitted, <-results)
	}
	ok(t, f.stream.Launch(crash).AddressArg(16).Submit())
	err := f.stream.AddCallback(func(err error) { results <- err })
	if err == nil {
		err = <-results
	}
	if !errors.Is(err, kernelmill.ErrIllegalAddress) {
		t.Error(err)
	}
	for range 10_000 {
		expect(t, kernelmill.ErrIllegalAddress, f.stream.AddCallback(func(error) {
			t.Error("called, though it was refused")
		}))
	}
}

// deep calls itself with a large frame, so that the stack moves under the buffers of its callers.
func deep(depth int) int {
	var frame [512]byte
	if depth == 0 {
		return int(frame[0])
	}
	frame[depth%512] = byte(depth)
	return deep(depth-1) + int(frame[depth%512]) - int(byte(depth))
}

func TestBuffersOnMovingStacks(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	f := newFixture(t)
	apply := f.function("apply")
	parallel(8, func(int) {
		for round := range 50 {
			if err := onMovingStack(f, apply, int32(round)); err != nil {
				t.Error(err)
			}
		}
	})
}

// onMovingStack uses buffers of its own frame for every kind of call, on a stack that grows between
// them and that the garbage collector shrinks.
func onMovingStack(f *fixture, apply *kernelmill.Function, value int32) error {
	var in [64]int32
	var out [64]float64
	for i := range in {
		in[i] = value + int32(i)
	}
	device, err := kernelmill.SliceOf(f.stream, in[:])
	if err != nil {
		return err
	}
	deep(100)
	result, err := kernelmill.NewZeroedSlice[float64](f.context, len(out))
	if err != nil {
		return err
	}
	runtime.GC()
	launch := f.stream.Launch(apply).Block(len(in)).Args(device, result, pair{2, 1}, false)
	deep(200)
	err = errors.Join(launch.Submit(), result.Download(f.stream, out[:]))
	deep(400)
	for i := range out {
		if out[i] != float64(2*in[i]+1) {
			err = errors.Join(err, errors.New("wrong numbers"))
			break
		}
	}
	return errors.Join(err, device.Close(), result.Close())
}

// residentBytes and openFiles are what leaks show in.
func residentBytes(t *testing.T) int {
	fields := strings.Fields(string(must(os.ReadFile("/proc/self/statm"))(t)))
	return must(strconv.Atoi(fields[1]))(t) * os.Getpagesize()
}

func openFiles(t *testing.T) int { return len(must(os.ReadDir("/proc/self/fd"))(t)) }

func TestCyclesLeakNothing(t *testing.T) {
	f := newFixture(t)
	function := f.function("empty")
	cycle := func(count int) {
		for range count {
			stream := must(f.context.NewStream())(t)
			event := must(f.context.NewEvent())(t)
			slice := must(kernelmill.NewSlice[float32](f.context, 1000))(t)
			view := must(slice.View(1, 10))(t)
			ok(t, stream.Launch(function).Submit())
			expect(t, kernelmill.ErrOutOfBounds, errorOf(slice.View(1, 1000)))
			ok(t, errors.Join(event.Record(stream), slice.Close(), view.Close(), event.Close(),
				stream.Synchronize(), stream.Close()))
		}
		runtime.GC()
	}
	cycle(1000)
	bytes, files, goroutines := residentBytes(t), openFiles(t), runtime.NumGoroutine()
	cycle(cycles)
	grown := residentBytes(t) - bytes
	t.Logf("%d bytes more after %d cycles", grown, cycles)
	if grown > residentLimit {
		t.Errorf("more than %d", residentLimit)
	}
	equal(t, openFiles(t), files)
	noMoreGoroutines(t, goroutines)
}

// collect gives cleanups of what is garbage now the time to run.
func collect() {
	for range 3 {
		runtime.GC()
		runtime.Gosched()
	}
}

func TestLaunchesKeepWhatTheyWereGiven(t *testing.T) {
	f := newFixture(t)
	build := func() *kernelmill.LaunchBuilder {
		data := must(kernelmill.SliceOf(f.stream, []float32{1, 2}))(t)
		stream, scale := must(f.context.NewStream())(t), must(f.module.Function("scale"))(t)
		return stream.Launch(scale).Args(data, float32(2), int32(2))
	}
	launch := build()
	collect()
	ok(t, launch.Submit())
	collect()
	ok(t, launch.Submit())
	ok(t, f.context.Synchronize())
}

func TestObjectsOutliveTheirLastCall(t *testing.T) {
	f := newFixture(t)
	stop := make(chan bool)
	done := make(chan bool)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				collect()
			}
		}
	}()
	parallel(4, func(int) {
		for range 50 {
			slice, err := kernelmill.NewSlice[float64](f.context, 1<<16)
			if err == nil {
				err = slice.Fill(f.stream, 0.1) // which first makes a Go slice of as many
			}
			event, eventErr := f.context.NewEvent()
			if eventErr == nil {
				eventErr = event.Record(f.stream)
			}
			if err = errors.Join(err, eventErr); err != nil {
				t.Error(err)
			}
		}
	})
	close(stop)
	<-done
}
