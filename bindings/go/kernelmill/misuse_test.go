package kernelmill_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// harmless are the methods that give no error, whatever they are called on.
var harmless = map[string]bool{
	"Slice.Len": true, "Slice.IsView": true, "Function.ParameterCount": true,
	"LaunchBuilder.Grid": true, "LaunchBuilder.Block": true, "LaunchBuilder.SharedBytes": true,
	"LaunchBuilder.Args": true, "LaunchBuilder.AddressArg": true, "Stream.Launch": true,
	"LaunchBuilder.Renew": true, "LaunchBuilder.Forget": true, "LaunchBuilder.MemoryArg": true, "LaunchBuilder.Cluster": true, "LaunchBuilder.Cooperative": true,
	"HostMemory.Len":      true,
	"Function.Parameters": true, "Context.Profiler": true, "Context.Allocations": true,
	"Module.Functions": true,
}

// callAll calls every method with zero values, and expects an error from each that can give one.
func callAll(t *testing.T, object any, status kernelmill.Status) {
	t.Helper()
	value := reflect.ValueOf(object)
	kind := value.Type().Elem().Name()
	if before, _, generic := strings.Cut(kind, "["); generic {
		kind = before
	}
	for i := range value.NumMethod() {
		name := kind + "." + value.Type().Method(i).Name
		method := value.Method(i)
		var arguments []reflect.Value
		for j := range method.Type().NumIn() {
			if !method.Type().IsVariadic() || j+1 < method.Type().NumIn() {
				arguments = append(arguments, reflect.Zero(method.Type().In(j)))
			}
		}
		results := method.Call(arguments)
		if harmless[name] {
			continue
		}
		err, _ := results[len(results)-1].Interface().(error)
		if !errors.Is(err, status) {
			t.Errorf("%s: %v; expected %v", name, err, status)
		}
	}
}

func TestNilReceivers(t *testing.T) {
	for _, object := range []any{
		(*kernelmill.Device)(nil), (*kernelmill.Context)(nil), (*kernelmill.Stream)(nil), (*kernelmill.Event)(nil),
		(*kernelmill.Slice[float32])(nil), (*kernelmill.Program)(nil), (*kernelmill.Module)(nil),
		(*kernelmill.Function)(nil), (*kernelmill.LaunchBuilder)(nil),
		(*kernelmill.HostMemory[int8])(nil), (*kernelmill.Pool)(nil), (*kernelmill.Graph)(nil),
		(*kernelmill.GraphExec)(nil), (*kernelmill.BLAS)(nil), (*kernelmill.Tuner)(nil),
		&kernelmill.Profiler{}, &kernelmill.Range{}, &kernelmill.Bytes{},
	} {
		callAll(t, object, kernelmill.ErrInvalidHandle)
	}
}

func TestZeroValues(t *testing.T) {
	for _, object := range []any{
		&kernelmill.Device{}, &kernelmill.Context{}, &kernelmill.Stream{}, &kernelmill.Event{}, &kernelmill.Slice[int8]{},
		&kernelmill.Program{}, &kernelmill.Module{}, &kernelmill.Function{},
		&kernelmill.LaunchBuilder{}, &kernelmill.HostMemory[int8]{}, &kernelmill.Pool{},
		&kernelmill.Graph{}, &kernelmill.GraphExec{}, &kernelmill.BLAS{}, &kernelmill.Tuner{},
	} {
		callAll(t, object, kernelmill.ErrInvalidHandle)
	}
	var launch kernelmill.LaunchBuilder
	expect(t, kernelmill.ErrInvalidHandle, launch.Grid(1).Block(1).SharedBytes(1).Args(1).Submit())
}

func TestClosedObjects(t *testing.T) {
	f := newFixture(t)
	program := must(kernelmill.Compile(kernels))(t)
	device := must(f.context.Device())(t)
	event := must(f.context.NewEvent())(t)
	slice := must(kernelmill.NewSlice[float32](f.context, 4))(t)
	function := f.function("empty")
	launch := f.stream.Launch(function)
	graph := must(f.context.NewGraph())(t)
	closers := []interface{ Close() error }{
		program, device, event, slice, function, graph, must(graph.Instantiate())(t),
		must(kernelmill.NewHostMemory[float32](f.context, 4))(t), must(f.context.NewPool(0))(t),
		must(kernelmill.RegisterHostMemory(f.context, make([]float32, 4)))(t),
		must(f.stream.NewBLAS(kernelmill.RowMajor))(t),
		must(must(f.context.Device())(t).NewTuner(kernels, "scale"))(t),
		f.module, f.stream, f.context,
	}
	for _, object := range closers {
		ok(t, object.Close())
		callAll(t, object, kernelmill.ErrInvalidHandle)
		if err := object.Close(); !errors.Is(err, kernelmill.ErrClosed) {
			t.Errorf("%T closed twice: %v", object, err)
		}
	}
	if err := launch.Submit(); !errors.Is(err, kernelmill.ErrClosed) {
		t.Errorf("a launch on a closed stream: %v", err)
	}
}

func TestNilAndClosedArguments(t *testing.T) {
	f := newFixture(t)
	event := keep(f, must(f.context.NewEvent())(f))
	slice := keep(f, must(kernelmill.NewSlice[float32](f.context, 1))(f))
	for _, stream := range []*kernelmill.Stream{nil, new(kernelmill.Stream)} {
		expect(t, kernelmill.ErrInvalidHandle, event.Record(stream))
		expect(t, kernelmill.ErrInvalidHandle, slice.Upload(stream, []float32{1}))
		expect(t, kernelmill.ErrInvalidHandle, slice.Download(stream, []float32{1}))
		expect(t, kernelmill.ErrInvalidHandle, slice.Fill(stream, 1))
		expect(t, kernelmill.ErrInvalidHandle, slice.CopyFrom(stream, slice))
		expect(t, kernelmill.ErrInvalidHandle, slice.CloseOn(stream))
		expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.NewSliceOn[int8](stream, 1)))
		expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.SliceOf(stream, []int8{1})))
		expect(t, kernelmill.ErrInvalidHandle, stream.Launch(f.function("empty")).Submit())
	}
	expect(t, kernelmill.ErrInvalidHandle, f.stream.WaitEvent(nil))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(event.Elapsed(nil)))
	expect(t, kernelmill.ErrInvalidHandle, slice.CopyFrom(f.stream, nil))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(f.context.LoadProgram(nil)))
	expect(t, kernelmill.ErrInvalidHandle, f.stream.Launch(nil).Grid(1).Args(1).Submit())
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.NewSlice[int8](nil, 1)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.NewZeroedSlice[int8](nil, 1)))
	expect(t, kernelmill.ErrInvalidHandle, errorOf(kernelmill.Global[int8](nil, "counter")))
}

func TestWrongTexts(t *testing.T) {
	f := newFixture(t)
	zero := "a\x00b"
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.OpenDevice(zero)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.DeviceCount(zero)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(f.context.LoadFile(zero)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(f.context.LoadPTX("", zero)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(f.module.Function(zero)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.Global[int8](f.module, zero)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.Compile("", kernelmill.WithName(zero))))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.Compile("", kernelmill.WithOption(zero))))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.OpenDevice("")))
	expect(t, kernelmill.ErrInvalidPTX, errorOf(f.context.LoadPTX("", "")))
	expect(t, kernelmill.ErrInvalidPTX, errorOf(f.context.LoadPTX("nonsense", "")))
	expect(t, kernelmill.ErrCompilationFailed, errorOf(f.context.LoadSource("nonsense", "")))
	expect(t, kernelmill.ErrNotFound, errorOf(f.context.LoadFile("no/such.ptx")))
	expect(t, kernelmill.ErrNotFound, errorOf(f.module.Function("")))
	expect(t, kernelmill.ErrNoDevice, errorOf(kernelmill.OpenDevice("cpu:4000")))
	expect(t, kernelmill.ErrBackendUnavailable, errorOf(kernelmill.OpenDevice("abacus")))
}

func TestWrongLaunches(t *testing.T) {
	f := newFixture(t)
	scale, empty := f.function("scale"), f.function("empty")
	data := keep(f, must(kernelmill.NewZeroedSlice[float32](f.context, 4))(f))
	closed := must(kernelmill.NewSlice[float32](f.context, 4))(f)
	ok(f, closed.Close())
	launch := func() *kernelmill.LaunchBuilder { return f.stream.Launch(scale) }
	wrong := map[string]*kernelmill.LaunchBuilder{
		"no arguments":        launch(),
		"too few":             launch().Args(data, float32(1)),
		"too many":            launch().Args(data, float32(1), int32(1), int32(1)),
		"any for none":        f.stream.Launch(empty).Args(int32(1)),
		"wrong size":          launch().Args(data, float64(1), int32(1)),
		"a slice for a float": launch().Args(data, data, int32(1)),
		"a float for a slice": launch().Args(float32(1)),
		"int":                 launch().Args(data, float32(1), 4),
		"a string":            launch().Args("data"),
		"a Go slice":          launch().Args([]float32{1}),
		"a pointer":           launch().Args(new(float32)),
		"a hidden pointer":    launch().Args(struct{ p *int }{}),
		"a stream":            launch().Args(f.stream),
		"nothing":             launch().Args(nil),
		"no dimensions":       f.stream.Launch(empty).Grid(),
		"four dimensions":     f.stream.Launch(empty).Block(1, 1, 1, 1),
		"a negative size":     f.stream.Launch(empty).Grid(-1),
		"a huge size":         f.stream.Launch(empty).Grid(1 << 40),
		"no blocks":           f.stream.Launch(empty).Grid(0),
		"no threads":          f.stream.Launch(empty).Block(1, 0),
		"too many threads":    f.stream.Launch(empty).Block(1 << 20),
		"too much memory":     f.stream.Launch(empty).SharedBytes(1 << 40),
	}
	for what, launch := range wrong {
		if err := launch.Submit(); !errors.Is(err, kernelmill.ErrInvalidLaunch) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if text := fmt.Sprint(launch().Args([]float32{1}).Submit()); !strings.Contains(text, "SliceOf copies") {
		t.Errorf("a Go slice: %s", text)
	}
	if err := launch().Args(closed).Submit(); !errors.Is(err, kernelmill.ErrClosed) {
		t.Errorf("a closed slice: %v", err)
	}
	var none *kernelmill.Slice[float32]
	expect(t, kernelmill.ErrInvalidHandle, launch().Args(none).Submit())
	ok(f, f.stream.Synchronize())
}

func TestObjectsOfOtherContexts(t *testing.T) {
	f, other := newFixture(t), newFixture(t)
	event := keep(other, must(other.context.NewEvent())(other))
	slice := keep(other, must(kernelmill.NewSlice[float32](other.context, 1))(other))
	expect(t, kernelmill.ErrContextMismatch, event.Record(f.stream))
	ok(f, f.stream.WaitEvent(event)) // events order streams of all contexts
	expect(t, kernelmill.ErrContextMismatch, slice.Fill(f.stream, 1))
	expect(t, kernelmill.ErrContextMismatch, f.stream.Launch(other.function("empty")).Submit())
	expect(t, kernelmill.ErrContextMismatch,
		f.stream.Launch(f.function("scale")).Args(slice, float32(1), int32(1)).Submit())
}

func TestErrorsSayEverything(t *testing.T) {
	f := newFixture(t)
	failure := expect(t, kernelmill.ErrNotFound, errorOf(f.module.Function("nothing")))
	equal(t, failure.Op, "Module.Function")
	equal(t, failure.Status.String(), "KM_ERROR_NOT_FOUND")
	equal(t, failure.Category(), kernelmill.CategoryUsage)
	equal(t, failure.Category().String(), "usage")
	for what, text := range map[string]string{
		"Error": failure.Error(), "Suggestion": failure.Suggestion(),
		"Status.Error": failure.Status.Error(), "unknown": kernelmill.Status(12345).Error(),
		"unknown category": kernelmill.Category(99).String(),
	} {
		if text == "" {
			t.Errorf("%s is empty", what)
		}
	}
	if !strings.HasPrefix(failure.Error(), "kernelmill: Module.Function: ") {
		t.Errorf("%q", failure.Error())
	}
	if errors.Is(failure, kernelmill.ErrIO) || errors.Is(failure, kernelmill.ErrClosed) {
		t.Error("an error matches others")
	}
	expect(t, kernelmill.ErrNotFound, f.context.TakeErr())
	ok(f, f.context.Err())
	timeout := errors.Join(f.stream.SynchronizeTimeout(-time.Second))
	if timeout != nil && !errors.Is(timeout, kernelmill.ErrTimeout) {
		t.Error(timeout)
	}
}
