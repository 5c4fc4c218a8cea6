package kernelmill_test

import (
	"bytes"
	"errors"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func TestProfilesShowKernelsAndRanges(t *testing.T) {
	f := newFixture(t)
	scale := f.function("scale")
	data := keep(f, must(kernelmill.SliceOf(f.stream, []float32{1}))(f))
	profiler := f.context.Profiler()
	ok(t, errors.Join(profiler.Start(), scale.SetWork(1000, 2000)))
	span := must(profiler.StartRange("outer"))(t)
	runtime.LockOSThread() // Push and Pop are of the thread
	defer runtime.UnlockOSThread()
	ok(t, profiler.Push("inner"))
	ok(t, f.stream.Launch(scale).Args(data, float32(1), int32(1)).Submit())
	ok(t, errors.Join(f.stream.Synchronize(), profiler.Pop(), span.End(), profiler.Stop()))
	rows := must(profiler.Rows())(t)
	names := map[string]kernelmill.ProfileRow{}
	for _, row := range rows {
		names[row.Name] = row
	}
	kernel := names["scale"]
	if kernel.Count != 1 || kernel.Operations != 1000 || kernel.Total <= 0 ||
		kernel.Kind != kernelmill.ProfileKernel {
		t.Errorf("%+v", kernel)
	}
	equal(t, names["outer"].Kind, kernelmill.ProfileRange)
	equal(t, names["inner"].Count, 1)
	if summary := must(profiler.Summary())(t); !strings.Contains(summary, "scale") {
		t.Errorf("%q", summary)
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	ok(t, profiler.Write(path))
	if text := string(must(os.ReadFile(path))(t)); !strings.Contains(text, "outer") {
		t.Error("the trace lacks a range")
	}
	expect(t, kernelmill.ErrNotFound, span.End())
	expect(t, kernelmill.ErrInvalidArgument, profiler.Write(""))
	ok(t, profiler.Clear())
	equal(t, len(must(profiler.Rows())(t)), 0)
}

func TestCounters(t *testing.T) {
	f := newFixture(t)
	scale := f.function("scale")
	data := keep(f, must(kernelmill.SliceOf(f.stream, make([]float32, 1024)))(f))
	profiler := f.context.Profiler()
	ok(t, profiler.Start())
	for _, enabled := range []bool{true, false} {
		ok(t, profiler.SetCounters(enabled))
		ok(t, f.stream.Launch(scale).Grid(4).Block(256).Args(data, float32(1), int32(1024)).Submit())
	}
	ok(t, f.stream.Synchronize())
	found := false
	for i, row := range must(profiler.Rows())(t) {
		if row.Name != "scale" {
			continue
		}
		for _, each := range must(profiler.Counters(uint32(i)))(t) {
			if each.IsTotal && each.Kind == kernelmill.CounterGlobalLoad {
				found = true
				equal(t, each.Requests, 32)
				equal(t, each.Taken, 128)
			}
		}
	}
	equal(t, found, true)
	expect(t, kernelmill.ErrInvalidArgument, errorOf(profiler.Counters(1000)))
}

func TestAllocationsAreTracked(t *testing.T) {
	f := newFixture(t)
	ok(t, f.context.SetTracking(kernelmill.TrackingOn|kernelmill.TrackingStacks))
	slice := keep(f, must(kernelmill.NewSlice[float32](f.context, 100))(f))
	ok(t, slice.SetTag("weights"))
	found := 0
	for allocation, err := range f.context.Allocations() {
		ok(t, err)
		found++
		equal(t, allocation.SizeBytes, 400)
		equal(t, allocation.Tag, "weights")
		equal(t, allocation.Kind, kernelmill.AllocationDevice)
		if time.Since(allocation.Time) > time.Minute || len(allocation.Frames) == 0 {
			t.Errorf("%+v", allocation)
		}
		if must(f.context.AllocationStack(allocation.ID))(t) == "" {
			t.Error("no stack")
		}
	}
	equal(t, found, 1)
	var text bytes.Buffer
	log.SetOutput(&text)
	defer log.SetOutput(os.Stderr)
	for _, logger := range []kernelmill.WarningLogger{slog.New(slog.NewTextHandler(&text, nil)), nil,
		(*slog.Logger)(nil)} {
		text.Reset()
		equal(t, must(f.context.LogLeaks(logger))(t), 1)
		if !strings.Contains(text.String(), "tag=weights") || !strings.Contains(text.String(), "WARN") {
			t.Errorf("%q", text.String())
		}
	}
	ok(t, slice.Close())
	equal(t, must(f.context.LogLeaks(nil))(t), 0)
	expect(t, kernelmill.ErrInvalidHandle, errorOf((*kernelmill.Context)(nil).LogLeaks(nil)))
	expect(t, kernelmill.ErrNotFound, errorOf(f.context.AllocationStack(12345)))
}

func TestMemoryProfilesFindPeaks(t *testing.T) {
	f := newFixture(t)
	ok(t, f.context.StartMemoryProfile(100*time.Microsecond))
	expect(t, kernelmill.ErrNotPermitted, f.context.StartMemoryProfile(time.Second))
	slice := must(kernelmill.NewSlice[byte](f.context, 1<<20))(t)
	for len(must(f.context.MemorySamples())(t)) < 3 {
		time.Sleep(time.Millisecond)
	}
	ok(t, slice.Close())
	ok(t, f.context.StopMemoryProfile())
	profile := must(f.context.MemoryProfile())(t)
	if profile.PeakBytes < 1<<20 || profile.MinimumBytes >= 1<<20 || profile.IsRunning ||
		profile.AllocationCount != 1 || profile.Interval != 100*time.Microsecond {
		t.Errorf("%+v", profile)
	}
	expect(t, kernelmill.ErrInvalidArgument, f.context.StartMemoryProfile(0))
}

func TestLimitsAndErrorHistory(t *testing.T) {
	f := newFixture(t)
	ok(t, f.context.SetLimit(kernelmill.LimitPrintfBytes, 1<<20))
	if got := must(f.context.Limit(kernelmill.LimitPrintfBytes))(t); got < 1<<20 {
		t.Errorf("%d", got)
	}
	ok(t, f.context.ClearErrorHistory())
	for range 3 {
		expect(t, kernelmill.ErrNotFound, errorOf(f.module.Function("nothing")))
	}
	history := must(f.context.ErrorHistory())(t)
	equal(t, len(history), 1)
	equal(t, history[0].Count, 3)
	equal(t, history[0].Call, "km_module_function")
	equal(t, history[0].Status, kernelmill.ErrNotFound)
	counts := must(f.context.ErrorCounts())(t)
	equal(t, len(counts), 1)
	equal(t, counts[0].Count, 3)
	equal(t, must(f.context.NativeErr())(t), 0)
	ok(t, f.context.ClearErrorHistory())
	equal(t, len(must(f.context.ErrorHistory())(t)), 0)
	expect(t, kernelmill.ErrInvalidArgument, errorOf(f.context.Limit(99)))
}

func TestOccupancyAndPreparation(t *testing.T) {
	f := newFixture(t)
	scale := f.function("scale")
	ok(t, scale.Prepare(128))
	expect(t, kernelmill.ErrInvalidLaunch, scale.Prepare(1<<20))
	expect(t, kernelmill.ErrInvalidLaunch, scale.Prepare())
	occupancy := must(scale.Occupancy(256, 0))(t)
	if occupancy.ActiveBlocks == 0 || occupancy.Percent > 100 {
		t.Errorf("%+v", occupancy)
	}
	threads, blocks, err := scale.BestBlock(func(n uint32) uint64 { return uint64(n) * 4 }, 512)
	ok(t, err)
	if threads == 0 || threads > 512 || blocks == 0 {
		t.Errorf("%d threads, %d blocks", threads, blocks)
	}
	if must(scale.AvailableSharedBytes(1, 256))(t) == 0 {
		t.Error("no shared memory")
	}
	if must(scale.MaxActiveClusters(32, 0, 2))(t) == 0 {
		t.Error("no clusters")
	}
	equal(t, scale.Parameters()[1].SizeBytes, 4)
	expect(t, kernelmill.ErrInvalidArgument, errorOf(scale.Occupancy(-1, 0)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(scale.Occupancy(0, 0)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf2(scale.BestBlock(nil, -1)))
}

func TestSpecialLaunches(t *testing.T) {
	f := newFixture(t)
	out := keep(f, must(kernelmill.NewZeroedSlice[uint32](f.context, 4))(f))
	ok(t, f.stream.Launch(f.function("rank")).Grid(4).Cluster(2).Args(out).Submit())
	equal(t, must(out.ToHost(f.stream))(t)[3], 2)
	data := keep(f, must(kernelmill.SliceOf(f.stream, []float32{1, 2}))(f))
	launch := f.stream.Launch(f.function("scale")).Block(2).Cooperative()
	ok(t, launch.Args(data, float32(3), int32(2)).Submit())
	ok(t, launch.Submit())
	equal(t, must(data.ToHost(f.stream))(t)[1], 18)
	expect(t, kernelmill.ErrInvalidLaunch, f.stream.Launch(f.function("rank")).Grid(3).Cluster(2).
		Args(out).Submit())
	expect(t, kernelmill.ErrInvalidLaunch, f.stream.Launch(f.function("rank")).Cluster(-1).Submit())
	graph := keep(f, must(f.context.NewGraph())(f))
	expect(t, kernelmill.ErrNotSupported, errorOf(graph.AddKernel(launch)))
}

func TestKernelsPrintToAWriter(t *testing.T) {
	f := newFixture(t)
	var output bytes.Buffer
	ok(t, f.context.SetOutput(&output))
	ok(t, f.stream.Launch(f.function("speak")).Args(int32(7)).Submit())
	ok(t, f.stream.Synchronize())
	equal(t, output.String(), "value 7\n")
	ok(t, f.context.SetOutput(nil))
}

func TestFindingsComeToAFunction(t *testing.T) {
	f := newFixture(t)
	var found []kernelmill.Finding
	receive := func(finding kernelmill.Finding) { found = append(found, finding) }
	ok(t, f.context.SetCheck(kernelmill.ToolMemory, 0, receive))
	data := keep(f, must(kernelmill.SliceOf(f.stream, []float32{1, 2, 3}))(f))
	ok(t, f.stream.Launch(f.function("scale")).Block(4).Args(data, float32(3), int32(4)).Submit())
	ok(t, f.stream.Synchronize())
	if len(found) == 0 || found[0].Tool != kernelmill.ToolMemory ||
		found[0].Kind != "illegal-address" || found[0].Kernel != "scale" ||
		found[0].Place.Thread != [3]uint32{3} || found[0].Count != 1 || found[0].Other != nil {
		t.Errorf("%+v", found)
	}
	ok(t, f.context.SetCheck(kernelmill.ToolsOff, 0, nil))
	expect(t, kernelmill.ErrInvalidArgument, f.context.SetCheck(1<<20, 0, nil))
}

func TestObjectFilesNeedNoCompiler(t *testing.T) {
	f := newFixture(t)
	path := filepath.Join(t.TempDir(), "kernels.kmo")
	ok(t, f.module.SaveObject(path, [3]uint32{4, 1, 1}))
	module := keep(f, must(f.context.LoadObject(must(os.ReadFile(path))(t), "saved"))(f))
	found := 0
	for function, err := range module.Functions() {
		ok(t, err)
		ok(t, function.Close())
		found++
	}
	equal(t, found, len(must(f.module.FunctionNames())(t)))
	scale := keep(f, must(module.Function("scale"))(f))
	data := keep(f, must(kernelmill.SliceOf(f.stream, []float32{1, 2}))(f))
	ok(t, f.stream.Launch(scale).Block(4).Args(data, float32(3), int32(2)).Submit())
	equal(t, must(data.ToHost(f.stream))(t)[1], 6)
	expect(t, kernelmill.ErrInvalidArgument, errorOf(f.context.LoadObject(nil, "")))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(f.context.LoadObject([]byte("no object"), "")))
	expect(t, kernelmill.ErrIO, f.module.SaveObject("/nonexistent/folder/x"))
}

func TestTheLibraryDescribesItself(t *testing.T) {
	build := must(kernelmill.Build())(t)
	if build.Version[0] != 1 || build.BuildID == "" || build.Compiler == "" {
		t.Errorf("%+v", build)
	}
	equal(t, must(kernelmill.StatusFromCUDA(2))(t), kernelmill.ErrOutOfDeviceMemory)
	equal(t, must(kernelmill.ErrOutOfDeviceMemory.CUDAResult())(t), 2)
	equal(t, must(kernelmill.CUDAResultName(2))(t), "CUDA_ERROR_OUT_OF_MEMORY")
	expect(t, kernelmill.ErrInvalidArgument, errorOf(kernelmill.StatusFromCUDA(-5)))
	attributes := 0
	for attribute, err := range kernelmill.DeviceAttributes() {
		ok(t, err)
		attributes++
		if attribute.Name == "" || attribute.Unit == "" {
			t.Errorf("%+v", attribute)
		}
	}
	if attributes < 100 {
		t.Errorf("%d attributes", attributes)
	}
	chosen := ""
	for candidate, err := range kernelmill.AutoCandidates() {
		ok(t, err)
		if candidate.Outcome == kernelmill.AutoChosen {
			chosen = candidate.URI
		} else if candidate.Reason == "" {
			t.Errorf("%+v", candidate)
		}
	}
	if chosen == "" {
		t.Error("no candidate is chosen")
	}
	ok(t, kernelmill.SetAllocator(nil, nil, nil))
}

func TestTunersFindTheFastest(t *testing.T) {
	f := newFixture(t)
	device := keep(f, must(f.context.Device())(f))
	tuner := keep(f, must(device.NewTuner(kernels, "scale"))(f))
	shape := func(block uint32) kernelmill.Shape {
		return kernelmill.Shape{Grid: [3]uint32{1024 / block}, Block: [3]uint32{block}}
	}
	for _, block := range []uint32{1, 256} {
		must(tuner.AddCandidate(shape(block)))(t)
	}
	broken := must(tuner.AddCandidate(shape(256), "--no-such-option"))(t)
	ok(t, kernelmill.TuneOutput(tuner, make([]float32, 1024)))
	ok(t, kernelmill.TuneValue(tuner, float32(2)))
	ok(t, kernelmill.TuneValue(tuner, int32(1024)))
	var calls uint32
	ok(t, errors.Join(tuner.SetCheck(kernelmill.CheckExact, 0),
		tuner.SetBudget(100*time.Millisecond, 0),
		tuner.SetProgress(func(done, count uint32) { calls += count / 3 })))
	best := must(tuner.RunAgain("a thousand"))(t)
	if best < 0 || best == broken {
		t.Errorf("candidate %d", best)
	}
	equal(t, calls, 3)
	result := must(tuner.Result(best))(t)
	if result.Err != nil || result.Median <= 0 || result.SampleCount == 0 {
		t.Errorf("%+v", result)
	}
	if failed := must(tuner.Result(broken))(t); failed.Err == nil {
		t.Error("a candidate that does not compile was measured")
	}
	keep(f, must(tuner.Function(best, f.context))(f))
	must(tuner.Run("a thousand"))(t)
	expect(t, kernelmill.ErrInvalidArgument, errorOf(tuner.Result(99)))
	expect(t, kernelmill.ErrInvalidArgument, errorOf(tuner.Result(-1)))
	expect(t, kernelmill.ErrInvalidHandle, kernelmill.TuneInput(nil, []int8{1}))
	expect(t, kernelmill.ErrInvalidHandle, kernelmill.TuneValue(nil, int8(1)))
}

// TestPeers runs itself again with two devices.
func TestPeers(t *testing.T) {
	if os.Getenv("KM_CPU_DEVICES") != "2" {
		command := exec.Command(os.Args[0], "-test.run=^TestPeers$", "-test.v")
		command.Env = append(os.Environ(), "KM_CPU_DEVICES=2")
		if output, err := command.CombinedOutput(); err != nil ||
			!bytes.Contains(output, []byte("--- PASS: TestPeers")) {
			t.Errorf("with two devices: %v\n%s", err, output)
		}
		return
	}
	f := newFixture(t)
	second := keep(f, must(kernelmill.Open("cpu:1"))(f))
	stream := keep(f, must(second.NewStream())(f))
	here := keep(f, must(f.context.Device())(f))
	there := keep(f, must(second.Device())(f))
	equal(t, must(here.CanAccessPeer(there))(t), true)
	equal(t, must(here.CanAccessPeer(here))(t), false)
	remote := keep(f, must(kernelmill.SliceOf(stream, []float32{1, 2}))(f))
	ok(t, stream.Synchronize())
	local := keep(f, must(kernelmill.NewSlice[float32](f.context, 2))(f))
	ok(t, local.CopyFromPeer(f.stream, remote))
	equal(t, must(local.ToHost(f.stream))(t)[1], 2)
	scale := f.function("scale")
	launch := func() error {
		return f.stream.Launch(scale).Block(2).Args(remote, float32(2), int32(2)).Submit()
	}
	expect(t, kernelmill.ErrContextMismatch, launch())
	ok(t, f.context.EnablePeerAccess(second))
	ok(t, launch())
	ok(t, f.context.DisablePeerAccess(second))
	from, to := must(remote.Address())(t), must(local.Address())(t)
	ok(t, f.stream.CopyPeerAddress(f.context, to, second, from, 8))
	equal(t, must(local.ToHost(f.stream))(t)[1], 4)
	expect(t, kernelmill.ErrInvalidHandle, f.stream.CopyPeerAddress(nil, to, second, from, 8))
	expect(t, kernelmill.ErrInvalidHandle, f.stream.CopyPeerAddress(f.context, to, nil, from, 8))
	expect(t, kernelmill.ErrInvalidArgument, f.context.EnablePeerAccess(f.context))
	expect(t, kernelmill.ErrInvalidHandle, local.CopyFromPeer(f.stream, nil))
}
