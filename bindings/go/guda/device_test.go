package guda_test

import (
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

func TestDevicesAreCounted(t *testing.T) {
	count := must(guda.GetDeviceCount())(t)
	if count < 1 {
		t.Errorf("%d devices", count)
	}
	expect(t, guda.ErrorInvalidDevice, errorOf(guda.UseDevice(count)))
	expect(t, guda.ErrorInvalidDevice, errorOf(guda.UseDevice(-1)))
	expect(t, guda.ErrorInvalidDevice, guda.SetDevice(count))
	expect(t, guda.ErrorInvalidDevice, errorOf(guda.GetDeviceProperties(count)))
	expect(t, guda.ErrorInvalidDevice, guda.GetLastError())
	var none *guda.Device
	expect(t, guda.ErrorInvalidValue, none.Synchronize())
	expect(t, guda.ErrorInvalidValue, none.Reset())
	expect(t, guda.ErrorInvalidValue, errorOf(none.StreamCreate()))
	equal(t, none.Malloc(4), 0)
	equal(t, none.Ordinal(), -1)
}

func TestPropertiesAreReal(t *testing.T) {
	properties := must(guda.GetDeviceProperties(0))(t)
	_, total, err := guda.MemGetInfo()
	ok(t, err)
	if properties.Name == "" || properties.WarpSize != 32 || properties.MaxThreadsPerBlock < 512 ||
		properties.MaxGridSize[2] < 1 || properties.TotalGlobalMem != total ||
		properties.ClockRate < 0 || properties.MemoryBusWidth < 0 {
		t.Errorf("%+v", properties)
	}
}

func TestTheCurrentDeviceBelongsToTheGoroutine(t *testing.T) {
	if !withTwoDevices(t) {
		return
	}
	equal(t, must(guda.GetDeviceCount())(t), 2)
	equal(t, must(guda.GetDevice())(t), 0)
	var group sync.WaitGroup
	for worker := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			device := worker % 2
			for range 100 {
				err := guda.SetDevice(device)
				runtime.Gosched()
				if got, failed := guda.GetDevice(); got != device || err != nil || failed != nil {
					t.Errorf("device %d is current after SetDevice(%d)", got, device)
				}
			}
			guda.UnsetDevice()
			if got, _ := guda.GetDevice(); got != 0 {
				t.Errorf("device %d is current after UnsetDevice", got)
			}
		}()
	}
	group.Wait()
	equal(t, must(guda.GetDevice())(t), 0)
	other := must(guda.UseDevice(1))(t)
	ptr := other.Malloc(8)
	on := must(other.StreamCreate())(t)
	ok(t, guda.MemsetAsync(ptr, 0, 8, on))
	ok(t, guda.MemcpyFloat32HtoD(ptr, []float32{1, 2})) // the memory knows its device
	mine := malloc(t, 8)
	ok(t, guda.MemcpyDtoD(mine, ptr, 8))
	equal(t, download(t, mine, 2)[1], 2)
	expect(t, guda.ErrorInvalidValue, guda.Memset(ptr+1<<20, 0, 8))
	ok(t, errors.Join(other.Synchronize(), guda.StreamDestroy(on), guda.Free(ptr)))
}

func TestWorkIsDistributedOverDevices(t *testing.T) {
	if !withTwoDevices(t) {
		return
	}
	const perDevice = 1000
	results := make([][]float32, 2)
	var group sync.WaitGroup
	for device := range 2 {
		group.Add(1)
		go func() {
			defer group.Done()
			if err := guda.SetDevice(device); err != nil {
				t.Error(err)
				return
			}
			numbers := make([]float32, perDevice)
			for i := range numbers {
				numbers[i] = 1
			}
			buffer := guda.Malloc(4 * perDevice)
			results[device] = make([]float32, perDevice)
			if err := errors.Join(guda.MemcpyFloat32HtoD(buffer, numbers),
				guda.Sscal(perDevice, float32(device+1), buffer, 1),
				guda.MemcpyFloat32DtoH(results[device], buffer), guda.Free(buffer)); err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
	for device := range results {
		equal(t, results[device][perDevice-1], float32(device+1))
	}
}

func TestLastErrorsBelongToDevices(t *testing.T) {
	if !withTwoDevices(t) {
		return
	}
	other := must(guda.UseDevice(1))(t)
	equal(t, other.Malloc(-1), 0)
	equal(t, guda.GetLastError(), nil)
	expect(t, guda.ErrorInvalidValue, other.PeekAtLastError())
	expect(t, guda.ErrorInvalidValue, other.GetLastError())
	equal(t, other.GetLastError(), nil)
	// The devices are asked one after the other whose memory an address lies in.
	first := malloc(t, 64)
	ptr := other.Malloc(64)
	ok(t, guda.Memset(ptr+4, 1, 8))
	ok(t, guda.Launch(function(t, "empty_with"), guda.Dim3{X: 1}, guda.Dim3{X: 1}, ptr+4, first+4))
	equal(t, guda.GetLastError(), nil)
	equal(t, other.GetLastError(), nil)
	ok(t, guda.Free(ptr))
}

func TestDeviceSynchronizeWaitsForAllStreams(t *testing.T) {
	first, second := stream(t), stream(t)
	open := gate(t, first)
	ptr := upload(t, 1)
	ok(t, guda.SscalAsync(1, 5, ptr, 1, second))
	done := make(chan error)
	go func() { done <- guda.DeviceSynchronize() }()
	select {
	case <-done:
		t.Error("it did not wait")
	default:
	}
	open()
	ok(t, <-done)
	ok(t, guda.StreamQuery(first))
	ok(t, guda.StreamQuery(second))
}

func TestResetGivesAFreshDevice(t *testing.T) {
	ptr, on := malloc(t, 64), stream(t)
	open := gate(t, on)
	ok(t, guda.LaunchKernel(function(t, "crash"), guda.Dim3{X: 1}, guda.Dim3{X: 1}, 0, on,
		guda.DevicePtr(16)))
	open()
	err := guda.StreamSynchronize(on)
	expect(t, guda.ErrorLaunchFailure, err)
	equal(t, errors.Is(err, kernelmill.ErrIllegalAddress), true)
	expect(t, guda.ErrorLaunchFailure, guda.GetLastError())
	expect(t, guda.ErrorLaunchFailure, guda.GetLastError()) // it stays
	equal(t, guda.Malloc(4), 0)
	ok(t, guda.DeviceReset())
	equal(t, guda.GetLastError(), nil)
	expect(t, guda.ErrorDeinitialized, guda.StreamSynchronize(on))
	expect(t, guda.ErrorInvalidValue, guda.Free(ptr))
	ok(t, guda.Sscal(1, 2, upload(t, 1), 1))
	ok(t, guda.DeviceSynchronize())
	ok(t, guda.DeviceReset())
}

func TestErrorsHaveCodesAndTexts(t *testing.T) {
	for code, text := range map[guda.GudaError]string{
		0: "no error", 1: "invalid value", 2: "out of memory", 3: "not initialized",
		4: "deinitialized", 5: "profiler disabled", 6: "invalid configuration", 7: "invalid device",
		8: "invalid kernel image", 9: "no kernel image for device", 10: "insufficient driver",
		11: "unsupported limit",
	} {
		equal(t, guda.GetErrorString(code), text)
		equal(t, code.Error(), text)
	}
	equal(t, guda.ErrorUnsupportedLimit, 11)
	equal(t, guda.Success, 0)
	if guda.GetErrorString(-1) == "" || guda.GetErrorString(99) == "" {
		t.Error("a code that is none has no text")
	}
	expect(t, guda.ErrorInvalidKernelImage, errorOf(guda.ModuleLoadSource("nonsense")))
	expect(t, guda.ErrorInvalidKernelImage, errorOf(guda.ModuleLoadData("nonsense")))
	expect(t, guda.ErrorInvalidConfiguration,
		guda.Launch(function(t, "empty"), guda.Dim3{X: 1}, guda.Dim3{X: 1 << 20}))
	_ = guda.GetLastError()
}

func TestErrorsArePeekedAndTaken(t *testing.T) {
	_ = guda.GetLastError()
	equal(t, guda.PeekAtLastError(), nil)
	ptr := malloc(t, 4)
	ok(t, guda.Memset(ptr, 0, 4))
	equal(t, guda.PeekAtLastError(), nil)
	_ = guda.Memset(ptr, 0, 1<<30)
	ok(t, guda.Memset(ptr, 0, 4))
	expect(t, guda.ErrorInvalidValue, guda.PeekAtLastError()) // one check for all
	expect(t, guda.ErrorInvalidValue, guda.PeekAtLastError())
	expect(t, guda.ErrorInvalidValue, guda.GetLastError())
	equal(t, guda.GetLastError(), nil)
}
