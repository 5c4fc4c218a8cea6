package guda_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// harmless are the methods that give no error, whatever they are called on.
var harmless = map[string]bool{
	"Slice.Len": true, "Slice.IsView": true, "Function.ParameterCount": true,
	"LaunchBuilder.Grid": true, "LaunchBuilder.Block": true, "LaunchBuilder.SharedBytes": true,
	"LaunchBuilder.Args": true, "LaunchBuilder.AddressArg": true, "Stream.Launch": true,
}

// callAll calls every method with zero values, and wants an error from each that can give one.
func callAll(t *testing.T, object any, status guda.Status) {
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
		(*guda.Device)(nil), (*guda.Context)(nil), (*guda.Stream)(nil), (*guda.Event)(nil),
		(*guda.Slice[float32])(nil), (*guda.Program)(nil), (*guda.Module)(nil),
		(*guda.Function)(nil), (*guda.LaunchBuilder)(nil),
	} {
		callAll(t, object, guda.ErrInvalidHandle)
	}
}

func TestZeroValues(t *testing.T) {
	for _, object := range []any{
		&guda.Device{}, &guda.Context{}, &guda.Stream{}, &guda.Event{}, &guda.Slice[int8]{},
		&guda.Program{}, &guda.Module{}, &guda.Function{}, &guda.LaunchBuilder{},
	} {
		callAll(t, object, guda.ErrInvalidHandle)
	}
	var launch guda.LaunchBuilder
	expect(t, guda.ErrInvalidHandle, launch.Grid(1).Block(1).SharedBytes(1).Args(1).Submit())
}

func TestClosedObjects(t *testing.T) {
	f := newFixture(t)
	program := must(guda.Compile(kernels))(t)
	device := must(f.context.Device())(t)
	event := must(f.context.NewEvent())(t)
	slice := must(guda.NewSlice[float32](f.context, 4))(t)
	function := f.function("empty")
	launch := f.stream.Launch(function)
	closers := []interface{ Close() error }{
		program, device, event, slice, function, f.module, f.stream, f.context,
	}
	for _, object := range closers {
		ok(t, object.Close())
		callAll(t, object, guda.ErrInvalidHandle)
		if err := object.Close(); !errors.Is(err, guda.ErrClosed) {
			t.Errorf("%T closed twice: %v", object, err)
		}
	}
	if err := launch.Submit(); !errors.Is(err, guda.ErrClosed) {
		t.Errorf("a launch on a closed stream: %v", err)
	}
}

func TestNilAndClosedArguments(t *testing.T) {
	f := newFixture(t)
	event := keep(f, must(f.context.NewEvent())(f))
	slice := keep(f, must(guda.NewSlice[float32](f.context, 1))(f))
	for _, stream := range []*guda.Stream{nil, new(guda.Stream)} {
		expect(t, guda.ErrInvalidHandle, event.Record(stream))
		expect(t, guda.ErrInvalidHandle, slice.Upload(stream, []float32{1}))
		expect(t, guda.ErrInvalidHandle, slice.Download(stream, []float32{1}))
		expect(t, guda.ErrInvalidHandle, slice.Fill(stream, 1))
		expect(t, guda.ErrInvalidHandle, slice.CopyFrom(stream, slice))
		expect(t, guda.ErrInvalidHandle, slice.CloseOn(stream))
		expect(t, guda.ErrInvalidHandle, errorOf(guda.NewSliceOn[int8](stream, 1)))
		expect(t, guda.ErrInvalidHandle, errorOf(guda.SliceOf(stream, []int8{1})))
		expect(t, guda.ErrInvalidHandle, stream.Launch(f.function("empty")).Submit())
	}
	expect(t, guda.ErrInvalidHandle, f.stream.WaitEvent(nil))
	expect(t, guda.ErrInvalidHandle, errorOf(event.Elapsed(nil)))
	expect(t, guda.ErrInvalidHandle, slice.CopyFrom(f.stream, nil))
	expect(t, guda.ErrInvalidHandle, errorOf(f.context.LoadProgram(nil)))
	expect(t, guda.ErrInvalidHandle, f.stream.Launch(nil).Grid(1).Args(1).Submit())
	expect(t, guda.ErrInvalidHandle, errorOf(guda.NewSlice[int8](nil, 1)))
	expect(t, guda.ErrInvalidHandle, errorOf(guda.NewZeroedSlice[int8](nil, 1)))
	expect(t, guda.ErrInvalidHandle, errorOf(guda.Global[int8](nil, "counter")))
}

func TestWrongTexts(t *testing.T) {
	f := newFixture(t)
	zero := "a\x00b"
	expect(t, guda.ErrInvalidArgument, errorOf(guda.OpenDevice(zero)))
	expect(t, guda.ErrInvalidArgument, errorOf(guda.DeviceCount(zero)))
	expect(t, guda.ErrInvalidArgument, errorOf(f.context.LoadFile(zero)))
	expect(t, guda.ErrInvalidArgument, errorOf(f.context.LoadPTX("", zero)))
	expect(t, guda.ErrInvalidArgument, errorOf(f.module.Function(zero)))
	expect(t, guda.ErrInvalidArgument, errorOf(guda.Global[int8](f.module, zero)))
	expect(t, guda.ErrInvalidArgument, errorOf(guda.Compile("", guda.WithName(zero))))
	expect(t, guda.ErrInvalidArgument, errorOf(guda.Compile("", guda.WithOption(zero))))
	expect(t, guda.ErrInvalidArgument, errorOf(guda.OpenDevice("")))
	expect(t, guda.ErrInvalidPTX, errorOf(f.context.LoadPTX("", "")))
	expect(t, guda.ErrInvalidPTX, errorOf(f.context.LoadPTX("nonsense", "")))
	expect(t, guda.ErrCompilationFailed, errorOf(f.context.LoadSource("nonsense", "")))
	expect(t, guda.ErrNotFound, errorOf(f.context.LoadFile("no/such.ptx")))
	expect(t, guda.ErrNotFound, errorOf(f.module.Function("")))
	expect(t, guda.ErrNoDevice, errorOf(guda.OpenDevice("cpu:4000")))
	expect(t, guda.ErrBackendUnavailable, errorOf(guda.OpenDevice("abacus")))
}

func TestWrongLaunches(t *testing.T) {
	f := newFixture(t)
	scale, empty := f.function("scale"), f.function("empty")
	data := keep(f, must(guda.NewZeroedSlice[float32](f.context, 4))(f))
	closed := must(guda.NewSlice[float32](f.context, 4))(f)
	ok(f, closed.Close())
	launch := func() *guda.LaunchBuilder { return f.stream.Launch(scale) }
	wrong := map[string]*guda.LaunchBuilder{
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
		if err := launch.Submit(); !errors.Is(err, guda.ErrInvalidLaunch) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := launch().Args(closed).Submit(); !errors.Is(err, guda.ErrClosed) {
		t.Errorf("a closed slice: %v", err)
	}
	var none *guda.Slice[float32]
	expect(t, guda.ErrInvalidHandle, launch().Args(none).Submit())
	ok(f, f.stream.Synchronize())
}

func TestObjectsOfOtherContexts(t *testing.T) {
	f, other := newFixture(t), newFixture(t)
	event := keep(other, must(other.context.NewEvent())(other))
	slice := keep(other, must(guda.NewSlice[float32](other.context, 1))(other))
	expect(t, guda.ErrContextMismatch, event.Record(f.stream))
	ok(f, f.stream.WaitEvent(event)) // events order streams of all contexts
	expect(t, guda.ErrContextMismatch, slice.Fill(f.stream, 1))
	expect(t, guda.ErrContextMismatch, f.stream.Launch(other.function("empty")).Submit())
	expect(t, guda.ErrContextMismatch,
		f.stream.Launch(f.function("scale")).Args(slice, float32(1), int32(1)).Submit())
}

func TestErrorsSayEverything(t *testing.T) {
	f := newFixture(t)
	failure := expect(t, guda.ErrNotFound, errorOf(f.module.Function("nothing")))
	equal(t, failure.Op, "Module.Function")
	equal(t, failure.Status.String(), "KM_ERROR_NOT_FOUND")
	equal(t, failure.Category(), guda.CategoryUsage)
	equal(t, failure.Category().String(), "usage")
	for what, text := range map[string]string{
		"Error": failure.Error(), "Suggestion": failure.Suggestion(),
		"Status.Error": failure.Status.Error(), "unknown": guda.Status(12345).Error(),
		"unknown category": guda.Category(99).String(),
	} {
		if text == "" {
			t.Errorf("%s is empty", what)
		}
	}
	if !strings.HasPrefix(failure.Error(), "guda: Module.Function: ") {
		t.Errorf("%q", failure.Error())
	}
	if errors.Is(failure, guda.ErrIO) || errors.Is(failure, guda.ErrClosed) {
		t.Error("an error matches others")
	}
	expect(t, guda.ErrNotFound, f.context.TakeErr())
	ok(f, f.context.Err())
	timeout := errors.Join(f.stream.SynchronizeTimeout(-time.Second))
	if timeout != nil && !errors.Is(timeout, guda.ErrTimeout) {
		t.Error(timeout)
	}
}
