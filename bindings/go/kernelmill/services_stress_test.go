package kernelmill_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// closed closes an object and joins what went wrong.
func closed(err error, objects ...io.Closer) error {
	for _, object := range objects {
		err = errors.Join(err, object.Close())
	}
	return err
}

// service is one use of an object, for any goroutine.
type service = func() error

// memoryServices are uses of what holds memory.
func memoryServices(f *fixture) map[string]service {
	pool := keep(f, must(f.context.NewPool(0))(f))
	return map[string]service{
		"pool": func() error {
			slice, err := kernelmill.PoolSlice[float32](pool, 100)
			if err != nil {
				return err
			}
			return closed(errors.Join(slice.Fill(f.stream, 1), errorOf(pool.Info())), slice)
		},
		"host memory": func() error {
			memory, err := kernelmill.NewHostMemory[float32](f.context, 100)
			if err != nil {
				return err
			}
			slice, err := kernelmill.NewSlice[float32](f.context, 100)
			if err != nil {
				return closed(err, memory)
			}
			return closed(slice.UploadFrom(f.stream, memory), memory, slice)
		},
		"memory of the program": func() error {
			numbers := make([]float32, 100)
			slice, err := kernelmill.SliceOver(f.context, numbers)
			if err != nil {
				return err
			}
			return closed(slice.Fill(f.stream, 1), slice)
		},
		"bytes": func() error {
			slice, err := kernelmill.NewSlice[byte](f.context, 100)
			if err != nil {
				return err
			}
			_, err = kernelmill.BytesOn(f.stream, slice).ReadFrom(bytes.NewReader(make([]byte, 100)))
			return closed(err, slice)
		},
	}
}

// workServices are uses of what is queued in streams.
func workServices(f *fixture) map[string]service {
	scale := f.function("scale")
	blas := keep(f, must(f.stream.NewBLAS(kernelmill.RowMajor))(f))
	return map[string]service{
		"graph": func() error {
			graph, err := f.context.Capture(func(s *kernelmill.Stream) error {
				return s.AddCallback(func(error) {})
			})
			if err != nil {
				return err
			}
			exec, err := graph.Instantiate()
			if err != nil {
				return closed(err, graph)
			}
			return closed(exec.Launch(f.stream), graph, exec)
		},
		"launch": func() error {
			slice, err := kernelmill.NewSlice[float32](f.context, 4)
			if err != nil {
				return err
			}
			launch := f.stream.Launch(scale).Block(4).Args(slice, float32(2), int32(4))
			return closed(launch.Submit(), slice)
		},
		"blas": func() error {
			slice, err := kernelmill.NewZeroedSlice[float32](f.context, 4)
			if err != nil {
				return err
			}
			return closed(kernelmill.Scal(blas, 4, 2, kernelmill.VectorOf(slice)), slice)
		},
		"wait": func() error {
			stream, err := f.context.NewStream()
			if err != nil {
				return err
			}
			return closed(stream.Wait(context.Background()), stream)
		},
		"events": func() error {
			event, err := f.context.NewEvent()
			if err != nil {
				return err
			}
			return closed(errors.Join(event.Record(f.stream), event.Synchronize()), event)
		},
	}
}

// deviceServices are uses of what tells about devices and contexts.
func deviceServices(f *fixture) map[string]service {
	scale := f.function("scale")
	device := keep(f, must(f.context.Device())(f))
	return map[string]service{
		"profiler": func() error {
			span, err := f.context.Profiler().StartRange("range")
			return errors.Join(err, span.End(), errorOf(f.context.Profiler().Rows()))
		},
		"errors": func() error {
			if f.context.EnablePeerAccess(f.context) == nil {
				return errors.New("a wrong call succeeded")
			}
			return errors.Join(errorOf(f.context.ErrorHistory()), errorOf(f.context.ErrorCounts()))
		},
		"device": func() error {
			return errors.Join(errorOf(device.Info()), errorOf(scale.Occupancy(64, 0)),
				errorOf(f.context.Limit(kernelmill.LimitStackBytes)))
		},
		"tuner": func() error {
			tuner, err := device.NewTuner(kernels, "empty")
			if err != nil {
				return err
			}
			return closed(errorOf(tuner.AddCandidate(kernelmill.Shape{Grid: [3]uint32{1}})), tuner)
		},
	}
}

// services are uses of every kind of object.
func services(f *fixture) map[string]service {
	all := memoryServices(f)
	maps.Copy(all, workServices(f))
	maps.Copy(all, deviceServices(f))
	return all
}

func TestEightGoroutinesUseAllServices(t *testing.T) {
	f := newFixture(t)
	all := services(f)
	names := slices.Collect(maps.Keys(all))
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			random := rand.New(rand.NewPCG(3, uint64(worker)))
			for range serviceCycles {
				name := names[random.IntN(len(names))]
				if err := all[name](); err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
			}
		}()
	}
	group.Wait()
	ok(t, f.context.Synchronize())
}

func TestCyclesOfAllServicesLeakNothing(t *testing.T) {
	f := newFixture(t)
	all := services(f)
	cycle := func(count int) {
		for range count {
			for name, use := range all {
				if err := use(); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
		ok(t, f.context.Synchronize())
		runtime.GC()
	}
	cycle(200)
	bytes, files := residentBytes(t), openFiles(t)
	cycle(serviceCycles)
	grown := residentBytes(t) - bytes
	t.Logf("%d bytes more after %d cycles of %d services", grown, serviceCycles, len(all))
	if grown > residentLimit {
		t.Errorf("more than %d", residentLimit)
	}
	equal(t, openFiles(t), files)
}
