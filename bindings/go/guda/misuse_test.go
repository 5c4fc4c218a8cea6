package guda_test

import (
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// nothing are objects that are none, or were made by no call.
var nothing = []any{
	(*guda.Device)(nil), &guda.Device{}, (*guda.Module)(nil), &guda.Module{},
	(*guda.Function)(nil), &guda.Function{}, (*guda.MemoryPool)(nil), &guda.MemoryPool{},
	(*guda.RuntimeMemoryPool)(nil), &guda.RuntimeMemoryPool{}, (*guda.MemoryTracker)(nil),
	&guda.MemoryTracker{}, (*guda.MemoryProfiler)(nil), &guda.MemoryProfiler{},
	(*guda.PinnedBuffer)(nil), &guda.PinnedBuffer{}, (*guda.MappedDataset)(nil),
	&guda.MappedDataset{},
}

func TestMethodsOfNothingDoNotPanic(t *testing.T) {
	reset(t)
	for _, object := range nothing {
		value := reflect.ValueOf(object)
		for i := range value.NumMethod() {
			name := fmt.Sprintf("%T.%s", object, value.Type().Method(i).Name)
			if method := value.Method(i); value.Type().Method(i).Name != "Execute" { // it panics
				callWithZeros(t, name, method)
			}
		}
	}
	_ = guda.GetLastError()
}

// callWithZeros calls a method, and fails the test if that panics.
func callWithZeros(t *testing.T, name string, method reflect.Value) {
	t.Helper()
	defer func() {
		if value := recover(); value != nil {
			t.Errorf("%s: %v", name, value)
		}
	}()
	var arguments []reflect.Value
	for i := range method.Type().NumIn() {
		argument := reflect.Zero(method.Type().In(i))
		if _, writes := reflect.New(method.Type().In(i)).Interface().(*io.Writer); writes {
			argument = reflect.ValueOf(io.Discard)
		}
		arguments = append(arguments, argument)
	}
	method.Call(arguments)
}

func TestCallsWithNothingFail(t *testing.T) {
	one := guda.Dim3{X: 1}
	for _, err := range []error{
		guda.ModuleUnload(&guda.Module{}), guda.Launch(&guda.Function{}, one, one),
		(&guda.Function{}).Close(), errorOf((&guda.Module{}).GetFunction("empty")),
		(&guda.MemoryProfiler{}).Err(), errorOf((&guda.MemoryProfiler{}).Samples()),
		guda.EventRecord(guda.Event{}, guda.Stream{}), errorOf(guda.AllocatePinnedMemory(-1)),
		errorOf(guda.NewPinnedBuffer(1 << 62)), errorOf(guda.AllocatePinnedMemory(1<<63 - 1)),
	} {
		if err == nil {
			t.Error("a call with nothing succeeded")
		}
	}
	var pool *guda.MemoryPool
	if pool.Allocate(4) != 0 || guda.GetLastError() == nil {
		t.Error("a pool that is none gave memory")
	}
}
