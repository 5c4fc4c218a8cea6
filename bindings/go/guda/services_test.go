package guda_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

func TestRuntimePoolsReuseBlocksOfTheirSize(t *testing.T) {
	pool := guda.NewRuntimeMemoryPool()
	ptr := pool.Malloc(1000)
	pool.Free(ptr, 1000)
	again := pool.Malloc(1000)
	equal(t, again, ptr)
	equal(t, pool.Reused(), 1)
	pool.Free(again, 1000)
	large := malloc(t, 1<<30)
	ok(t, guda.Free(large))
	var taken int64
	var block guda.DevicePtr
	for round := 0; round < 20; round++ {
		// Other programs take and free memory too, so that not every round shows it.
		before, _, err := guda.MemGetInfo()
		ok(t, err)
		block = pool.Malloc(513 << 20) // of a power of two it would be twice as much
		ok(t, guda.Memset(block, 1, 513<<20))
		after, _, err := guda.MemGetInfo()
		ok(t, err)
		pool.Free(block, 513<<20)
		pool.Trim()
		if taken = before - after; 300<<20 < taken && taken < 700<<20 {
			break
		}
	}
	if taken < 300<<20 || taken > 700<<20 {
		t.Errorf("a block of 513 MiB takes %d MiB", taken>>20)
	}
	pool.Free(block, 513<<20)
	expect(t, guda.ErrorInvalidValue, guda.GetLastError())
	pool.Free(0, 0)
	equal(t, pool.Malloc(0), 0)
	expect(t, guda.ErrorInvalidValue, guda.GetLastError())
}

func TestMemoryPoolsIgnoreUnknownPointers(t *testing.T) {
	pool := guda.NewMemoryPool()
	defer pool.Cleanup()
	other := malloc(t, 100)
	pool.Free(other)
	pool.Free(16)
	ok(t, guda.Memset(other, 0, 100))
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 200 {
				size := 1024 * (1 + (worker+i)%10)
				ptr := pool.Allocate(size)
				if err := guda.Memset(ptr, 1, size); err != nil {
					t.Error(err)
				}
				pool.Free(ptr)
			}
		}()
	}
	group.Wait()
	if pool.Reused() < 1000 {
		t.Errorf("%d of 1600 allocations were reused", pool.Reused())
	}
	ok(t, guda.DeviceReset())
	ptr := pool.Allocate(10) // of a new pool
	ok(t, guda.Memset(ptr, 0, 10))
	pool.Free(ptr)
}

func TestProfilesGoWhereTheyAreSaid(t *testing.T) {
	expect(t, guda.ErrorProfilerDisabled, guda.ProfilerStop())
	expect(t, guda.ErrorProfilerDisabled, guda.ProfilerRangeStart("none"))
	expect(t, guda.ErrorProfilerDisabled, guda.ProfilerRangeEnd("none"))
	_ = guda.GetLastError()
	var summary bytes.Buffer
	trace := filepath.Join(t.TempDir(), "trace.json")
	guda.ProfilerSetOutput(guda.ProfilerOutput{Trace: trace, Summary: &summary})
	ptr := malloc(t, 4000)
	ok(t, errors.Join(guda.ProfilerStart(), guda.ProfilerStart()))
	ok(t, errors.Join(guda.ProfilerRangeStart("outer"), guda.ProfilerRangeStart("inner"),
		guda.Memset(ptr, 0, 4000), guda.ProfilerRangeEnd("outer"), guda.ProfilerRangeEnd("inner")))
	expect(t, guda.ErrorInvalidValue, guda.ProfilerRangeEnd("inner"))
	_ = guda.GetLastError()
	ok(t, guda.ProfilerStop())
	text := string(must(os.ReadFile(trace))(t))
	for _, name := range []string{"outer", "inner"} {
		if !strings.Contains(summary.String(), name) || !strings.Contains(text, name) {
			t.Errorf("%s is not in summary and trace: %s", name, summary.String())
		}
	}
	guda.ProfilerSetOutput(guda.ProfilerOutput{Trace: "/nonexistent/folder/trace.json"})
	ok(t, guda.ProfilerStart())
	expect(t, guda.ErrorInvalidValue, guda.ProfilerStop())
	_ = guda.GetLastError()
}

func TestDatasetsAreReadWhereTheyLie(t *testing.T) {
	path := filepath.Join(t.TempDir(), "numbers")
	const count, batch = 100_000, 1 << 14
	var data bytes.Buffer
	for i := range count {
		ok(t, binary.Write(&data, binary.NativeEndian, float32(i)))
	}
	ok(t, os.WriteFile(path, append(data.Bytes(), 1, 2), 0o600))
	dataset := must(guda.OpenMappedDataset(path))(t)
	equal(t, dataset.Len(), count)
	buffer := malloc(t, batch*4)
	var sum float64
	for offset := 0; offset < dataset.Len(); offset += batch {
		part := dataset.GetBatch(offset, batch)
		ok(t, guda.MemcpyHtoD(buffer, pointer(part), 4*len(part)))
		ok(t, guda.Sscal(len(part), 2, buffer, 1))
		for _, number := range download(t, buffer, len(part)) {
			sum += float64(number)
		}
	}
	equal(t, sum, float64(count)*(count-1))
	equal(t, len(dataset.GetBatch(count-1, 10)), 1)
	equal(t, len(dataset.GetBatch(count+1, 10)), 0)
	equal(t, len(dataset.GetBatch(-5, math.MaxInt)), count)
	equal(t, len(dataset.GetBatch(0, -1)), 0)
	ok(t, errors.Join(dataset.Close(), dataset.Close()))
	equal(t, len(dataset.GetBatch(0, 1)), 0)
	ok(t, os.WriteFile(path, nil, 0o600))
	equal(t, must(guda.OpenMappedDataset(path))(t).Len(), 0)
	expect(t, guda.ErrorInvalidValue, errorOf(guda.OpenMappedDataset(path+"x")))
}

func TestTrackersFindLeaks(t *testing.T) {
	tracker := guda.NewMemoryTracker()
	kept, freed, elsewhere := tracker.Malloc(1000), tracker.Malloc(2000), tracker.Malloc(3000)
	tracker.Free(freed)
	ok(t, guda.Free(elsewhere))
	leaks := tracker.Leaks()
	if len(leaks) != 1 || leaks[0].Ptr != kept || leaks[0].Size != 1000 ||
		time.Since(leaks[0].Time) > time.Minute {
		t.Errorf("%+v", leaks)
	}
	var report bytes.Buffer
	tracker.WriteLeaks(&report)
	for _, text := range []string{"Leaked 1000 bytes", "services_test.go", "Total leaked memory: 1000"} {
		if !strings.Contains(report.String(), text) {
			t.Errorf("no %q in %s", text, report.String())
		}
	}
	tracker.Free(kept)
	report.Reset()
	tracker.WriteLeaks(&report)
	equal(t, report.String(), "No memory leaks detected\n")
	equal(t, tracker.Malloc(-1), 0)
	_ = guda.GetLastError()
}

func TestMemoryProfilesSeeDeviceMemory(t *testing.T) {
	profiler := guda.StartMemoryProfiling(100 * time.Microsecond)
	ok(t, profiler.Err())
	expect(t, guda.ErrorInvalidValue, guda.StartMemoryProfiling(time.Second).Err())
	ptr := malloc(t, 8<<20)
	for len(must(profiler.Samples())(t)) < 3 {
		time.Sleep(time.Millisecond)
	}
	ok(t, guda.Free(ptr))
	profiler.Stop()
	profiler.Stop()
	profile := must(profiler.Profile())(t)
	if profile.PeakBytes < 8<<20 || profile.MinimumBytes > profile.PeakBytes-8<<20 {
		t.Errorf("%+v", profile)
	}
	var report bytes.Buffer
	profiler.WriteReport(&report)
	if !strings.Contains(report.String(), "Peak memory usage: ") ||
		!strings.Contains(report.String(), "Samples collected: ") {
		t.Errorf("%s", report.String())
	}
	expect(t, guda.ErrorInvalidValue, guda.StartMemoryProfiling(0).Err())
	expect(t, guda.ErrorInvalidValue, (*guda.MemoryProfiler)(nil).Err())
	_ = guda.GetLastError()
}
