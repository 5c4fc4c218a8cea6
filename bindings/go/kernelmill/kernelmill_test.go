package kernelmill_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func TestVersionAndBackends(t *testing.T) {
	major, _, _, err := kernelmill.Version()
	ok(t, err)
	equal(t, major, 1)
	backends := must(kernelmill.Backends())(t)
	at := slices.IndexFunc(backends, func(b kernelmill.Backend) bool { return b.Name == "cpu" })
	if at < 0 || backends[at].Status != nil || backends[at].DeviceCount < 1 {
		t.Errorf("no usable CPU backend: %+v", backends)
	}
	equal(t, must(kernelmill.DeviceCount("cpu"))(t), backends[at].DeviceCount)
	if must(kernelmill.DeviceCount(""))(t) < backends[at].DeviceCount {
		t.Error("all backends have fewer devices than one of them")
	}
}

func TestDevice(t *testing.T) {
	device := must(kernelmill.OpenDevice("cpu"))(t)
	info := must(device.Info())(t)
	equal(t, info.URI, "cpu:0")
	equal(t, info.WarpSize, 32)
	if info.TotalMemoryBytes == 0 || info.ISA == "" || info.MaxGridDim[2] == 0 {
		t.Errorf("incomplete: %+v", info)
	}
	equal(t, must(device.Attribute(kernelmill.DeviceWarpSize))(t), 32)
	context := must(device.NewContext())(t)
	ok(t, device.Close())
	again := must(context.Device())(t)
	equal(t, must(again.Info())(t).URI, "cpu:0")
	free, total, err := context.MemoryInfo()
	ok(t, err)
	if free == 0 || free > total {
		t.Errorf("%d bytes free of %d", free, total)
	}
	ok(t, again.Close())
	ok(t, context.Close())
}

func TestLaunchAndResubmit(t *testing.T) {
	f := newFixture(t)
	scale := f.function("scale")
	data := keep(f, must(kernelmill.SliceOf(f.stream, []float32{1, 2, 3, 4, 5}))(f))
	launch := f.stream.Launch(scale).Grid(2).Block(4).Args(data, float32(2), int32(5))
	ok(f, launch.Submit())
	ok(f, launch.Submit())
	ok(f, launch.Args(data, float32(0.5), int32(1)).Submit())
	got := must(data.ToHost(f.stream))(f)
	if !slices.Equal(got, []float32{2, 8, 12, 16, 20}) {
		t.Errorf("%v", got)
	}
}

type pair struct {
	Scale  float32
	Offset int32
}

func TestStructuresAndOtherArguments(t *testing.T) {
	f := newFixture(t)
	in := keep(f, must(kernelmill.SliceOf(f.stream, []int32{1, 2}))(f))
	out := keep(f, must(kernelmill.NewZeroedSlice[float64](f.context, 2))(f))
	launch := f.stream.Launch(f.function("apply")).Block(2)
	ok(f, launch.Args(in, out, pair{Scale: 0.5, Offset: 10}, true).Submit())
	got := must(out.ToHost(f.stream))(f)
	if !slices.Equal(got, []float64{-10.5, -11}) {
		t.Errorf("%v", got)
	}
	address := must(out.Address())(f)
	ok(f, launch.Args(in).AddressArg(address).Args([2]int32{0, 7}, false).Submit())
	got = must(out.ToHost(f.stream))(f)
	if !slices.Equal(got, []float64{7, 7}) {
		t.Errorf("%v", got)
	}
}

func TestGlobals(t *testing.T) {
	f := newFixture(t)
	factors := keep(f, must(kernelmill.Global[float32](f.module, "factors"))(f))
	equal(t, factors.Len(), 4)
	ok(f, factors.Upload(f.stream, []float32{1, 2, 3, 4}))
	expect(t, kernelmill.ErrOutOfBounds, errorOf(factors.View(1<<62, 0)))
	view := keep(f, must(factors.View(2, 2))(f))
	ok(f, view.Upload(f.stream, []float32{30, 40}))
	out := keep(f, must(kernelmill.NewSlice[float32](f.context, 4))(f))
	ok(f, f.stream.Launch(f.function("weigh")).Block(4).Args(out).Submit())
	got := must(out.ToHost(f.stream))(f)
	if !slices.Equal(got, []float32{1, 2, 30, 40}) {
		t.Errorf("%v", got)
	}
	counter := keep(f, must(kernelmill.Global[int32](f.module, "counter"))(f))
	equal(t, must(counter.ToHost(f.stream))(f)[0], 4)
	_, err := kernelmill.Global[float32](f.module, "nothing")
	expect(t, kernelmill.ErrNotFound, err)
	_, err = kernelmill.Global[float64](f.module, "counter")
	expect(t, kernelmill.ErrInvalidArgument, err)
}

func TestModules(t *testing.T) {
	f := newFixture(t)
	names := must(f.module.FunctionNames())(f)
	if len(names) < 5 || !slices.Contains(names, "scale") {
		t.Errorf("%q", names)
	}
	scale := f.function("scale")
	equal(t, must(scale.Name())(f), "scale")
	equal(t, scale.ParameterCount(), 3)
	ok(f, scale.SetAttribute(kernelmill.MaxDynamicSharedBytes, 65536))
	equal(t, must(scale.Attribute(kernelmill.MaxDynamicSharedBytes))(f), 65536)
	failure := expect(t, kernelmill.ErrNotFound, errorOf(f.module.Function("scael")))
	if !strings.Contains(failure.Error(), "scale") {
		t.Errorf("the nearest name is not in: %v", failure)
	}
	file := keep(f, must(f.context.LoadFile("testdata/kernels.cu"))(f))
	if !slices.Equal(must(file.FunctionNames())(f), names) {
		t.Error("the file has other kernels than the text")
	}
}

func TestCompile(t *testing.T) {
	f := newFixture(t)
	program := keep(f, must(kernelmill.Compile("#include \"more.h\"\n"+kernels,
		kernelmill.WithName("increments.cu"), kernelmill.WithOption("-DMORE=1"),
		kernelmill.WithHeader("more.h", "#if MORE != 1\n#error no\n#endif\n"),
		kernelmill.WithNameExpression("increment<double>")))(f))
	lowered := must(program.LoweredName("increment<double>"))(f)
	if !strings.Contains(must(program.PTX())(f), lowered) {
		t.Errorf("no %s in the PTX", lowered)
	}
	ptx := keep(f, must(f.context.LoadPTX(must(program.PTX())(f), "increments.ptx"))(f))
	keep(f, must(ptx.Function(lowered))(f))
	module := keep(f, must(f.context.LoadProgram(program))(f))
	increment := keep(f, must(module.Function("increment<double>"))(f))
	data := keep(f, must(kernelmill.SliceOf(f.stream, []float64{1.5}))(f))
	ok(f, f.stream.Launch(increment).Args(data).Submit())
	equal(t, must(data.ToHost(f.stream))(f)[0], 2.5)

	_, err := kernelmill.Compile("extern \"C\" __global__ void f() { nonsense; }")
	failure := expect(t, kernelmill.ErrCompilationFailed, err)
	if !strings.Contains(failure.Log, "nonsense") {
		t.Errorf("the log is %q", failure.Log)
	}
	equal(t, failure.Category(), kernelmill.CategoryProgram)
}

func TestEvents(t *testing.T) {
	f := newFixture(t)
	start := keep(f, must(f.context.NewEvent())(f))
	end := keep(f, must(f.context.NewEvent())(f))
	other := keep(f, must(f.context.NewStreamWithPriority(0))(f))
	equal(t, must(start.Query())(f), true)
	ok(f, start.Record(f.stream))
	ok(f, f.stream.Launch(f.function("empty")).Grid(100).Submit())
	ok(f, end.Record(f.stream))
	ok(f, other.WaitEvent(end))
	ok(f, other.SynchronizeTimeout(time.Minute))
	ok(f, end.SynchronizeTimeout(0))
	ok(f, end.Synchronize())
	if elapsed := must(end.Elapsed(start))(f); elapsed <= 0 {
		t.Errorf("%v from start to end", elapsed)
	}
	if elapsed := must(start.Elapsed(end))(f); elapsed >= 0 {
		t.Errorf("%v from end to start", elapsed)
	}
	equal(t, must(f.stream.Query())(f), true)
	equal(t, must(other.Priority())(f), 0)
	untimed := keep(f, must(f.context.NewUntimedEvent())(f))
	ok(f, untimed.Record(f.stream))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(untimed.Elapsed(start)))
}

func errorOf[T any](_ T, err error) error { return err }
