package guda

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kernelmill/kernelmill/bindings/go/internal/thread"
	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// Device is one device of the runtime. Its methods do what the functions of the same names do on the
// current device: for programs that pass devices on instead of having a current one. See
// [UseDevice].
type Device struct {
	ordinal int
	uri     string
	mutex   sync.Mutex // of opening and resetting
	context atomic.Pointer[kernelmill.Context]
	stream  atomic.Pointer[streamState]       // the default one
	signals atomic.Pointer[kernelmill.Stream] // on which the ends of host kernels are signalled
	last    atomic.Pointer[Error]             // of GetLastError
	failed  atomic.Pointer[Error]             // the first panic of a host kernel
	failing sync.Mutex                        // of failed and resets being written
	ended   atomic.Uint64                     // host kernels, for who waits to see what they wrote
	resets  atomic.Uint64                     // of the device
	own     ownKernels
}

// process is the one runtime of the process.
var process struct {
	once    sync.Once
	err     error
	devices []*Device
	initial atomic.Int64 // the device that is current at first
	chosen  atomic.Bool  // SetDevice was called
}

// devices are those of the backend that "auto" chooses: KM_DEVICE names another one.
func devices() ([]*Device, error) {
	process.once.Do(func() {
		if err := findDevices(); err != nil {
			process.err = mapped(err)
		}
	})
	return process.devices, process.err
}

func findDevices() error {
	uri := ""
	for candidate, err := range kernelmill.AutoCandidates() {
		if err != nil {
			return err
		}
		if candidate.Outcome == kernelmill.AutoChosen {
			uri = candidate.URI
		}
	}
	backend, ordinal, _ := strings.Cut(uri, ":")
	if backend == "" {
		return &Error{Code: ErrorInvalidDevice, detail: "no device works here"}
	}
	count, err := kernelmill.DeviceCount(backend)
	if err != nil {
		return err
	}
	for i := range count {
		process.devices = append(process.devices,
			&Device{ordinal: i, uri: fmt.Sprintf("%s:%d", backend, i)})
	}
	if first, err := strconv.Atoi(ordinal); err == nil && first < count {
		process.initial.Store(int64(first))
	}
	if count == 0 {
		return &Error{Code: ErrorInvalidDevice, detail: backend + " has no devices"}
	}
	return nil
}

// currentDevice is the device of the goroutine's thread: the first one, unless [SetDevice] was
// called on it.
func currentDevice() (*Device, error) {
	all, err := devices()
	if err != nil {
		return nil, err
	}
	if process.chosen.Load() {
		if number := thread.Number(); number > 0 {
			return all[number-1], nil
		}
	}
	return all[process.initial.Load()], nil
}

// openCurrent gives the current device and its context; what fails is noted as its last error.
func openCurrent() (*Device, *kernelmill.Context, error) {
	device, err := currentDevice()
	if err != nil {
		return nil, nil, err
	}
	opened, err := device.open()
	if err != nil {
		return nil, nil, device.done(err)
	}
	return device, opened, nil
}

// GetDeviceCount is how many devices there are: those of the backend that "auto" chooses, or that of
// the environment variable KM_DEVICE. KM_CPU_DEVICES makes several of the CPU.
func GetDeviceCount() (int, error) {
	all, err := devices()
	return len(all), err
}

// UseDevice gives a device to call methods of, without making it the current one.
func UseDevice(device int) (*Device, error) {
	all, err := devices()
	if err != nil {
		return nil, err
	}
	if device < 0 || device >= len(all) {
		return nil, &Error{Code: ErrorInvalidDevice,
			detail: fmt.Sprintf("device %d: there are %d, from 0", device, len(all))}
	}
	return all[device], nil
}

// SetDevice makes a device the current one of the goroutine. It locks the goroutine to its thread
// (runtime.LockOSThread), once, because that is what has a current device: goroutines move.
// [UnsetDevice] undoes both, and is the only thing that may unlock it. Programs with many goroutines pass a [Device] on instead.
func SetDevice(device int) error {
	found, err := UseDevice(device)
	if err != nil {
		if current, failed := currentDevice(); failed == nil {
			return current.done(err)
		}
		return err
	}
	runtime.LockOSThread()
	process.chosen.Store(true)
	if thread.Number() != 0 {
		runtime.UnlockOSThread() // it was locked before
	}
	thread.SetNumber(int64(found.ordinal) + 1)
	return nil
}

// UnsetDevice has the goroutine use the first device again, and unlocks it from its thread. It does
// nothing where SetDevice was not called.
func UnsetDevice() {
	if process.chosen.Load() && thread.Number() != 0 {
		thread.SetNumber(0)
		runtime.UnlockOSThread()
	}
}

// GetDevice is the number of the current device.
func GetDevice() (int, error) {
	device, err := currentDevice()
	if err != nil {
		return 0, err
	}
	return device.ordinal, nil
}

// Ordinal is the number of the device.
func (d *Device) Ordinal() int {
	if d == nil {
		return -1
	}
	return d.ordinal
}

// open gives the context of the device, which the first call opens.
func (d *Device) open() (*kernelmill.Context, error) {
	if d == nil {
		return nil, invalid("the device is nil: use UseDevice")
	}
	if context := d.context.Load(); context != nil {
		return context, nil
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if context := d.context.Load(); context != nil {
		return context, nil
	}
	context, err := kernelmill.Open(d.uri)
	if err != nil {
		return nil, err
	}
	d.context.Store(context)
	return context, nil
}

// defaultStream is the stream that calls without one use.
func (d *Device) defaultStream() (*streamState, error) {
	if d == nil {
		return nil, invalid("the device is nil: use UseDevice")
	}
	if state := d.stream.Load(); state != nil {
		return state, nil
	}
	context, err := d.open()
	if err != nil {
		return nil, err
	}
	resets := d.resets.Load()
	stream, err := context.DefaultStream()
	if err != nil {
		return nil, err
	}
	state := &streamState{device: d, stream: stream, isDefault: true, resets: resets}
	if !d.stream.CompareAndSwap(nil, state) {
		_ = stream.Close() // another goroutine was first
	}
	return d.stream.Load(), nil
}

// DeviceProperties says what a device is. Numbers that a machine does not tell are 0.
type DeviceProperties struct {
	Name               string
	TotalGlobalMem     int64 // bytes
	MaxThreadsPerBlock int
	MaxGridSize        [3]int
	WarpSize           int
	ClockRate          int // kHz
	MemoryBusWidth     int // bits
}

// GetDeviceProperties describes a device.
func GetDeviceProperties(device int) (DeviceProperties, error) {
	found, err := UseDevice(device)
	if err != nil {
		return DeviceProperties{}, err
	}
	return found.Properties()
}

// Properties is [GetDeviceProperties] of this device.
func (d *Device) Properties() (DeviceProperties, error) {
	if d == nil {
		return DeviceProperties{}, invalid("the device is nil: use UseDevice")
	}
	device, err := kernelmill.OpenDevice(d.uri)
	if err != nil {
		return DeviceProperties{}, d.done(err)
	}
	defer device.Close()
	info, err := device.Info()
	if err != nil {
		return DeviceProperties{}, d.done(err)
	}
	properties := DeviceProperties{
		Name: info.Name, TotalGlobalMem: int64(info.TotalMemoryBytes),
		MaxThreadsPerBlock: int(info.MaxThreadsPerBlock), WarpSize: int(info.WarpSize),
		ClockRate: int(info.ClockRateKHz), MemoryBusWidth: int(info.MemoryBusWidthBits),
	}
	for i, size := range info.MaxGridDim {
		properties.MaxGridSize[i] = int(size)
	}
	return properties, nil
}

// DeviceSynchronize waits until all work of the current device is done, and gives what failed.
func DeviceSynchronize() error {
	device, err := currentDevice()
	if err != nil {
		return err
	}
	return device.Synchronize()
}

// Synchronize is [DeviceSynchronize] of this device.
func (d *Device) Synchronize() error {
	opened, err := d.open()
	if d == nil {
		return err
	}
	if err == nil {
		err = opened.Synchronize()
	}
	return d.done(err)
}

// Wait is Synchronize of the default stream, or until ctx is done: see [StreamWait].
func (d *Device) Wait(ctx context.Context) error {
	state, err := d.defaultStream()
	if err != nil {
		return err
	}
	return StreamWait(ctx, Stream{state})
}

// DeviceReset stops what runs on the current device, drops what is queued, frees all of its memory,
// and forgets its errors. Streams, events and modules of it are gone.
func DeviceReset() error {
	device, err := currentDevice()
	if err != nil {
		return err
	}
	return device.Reset()
}

// Reset is [DeviceReset] of this device.
func (d *Device) Reset() error {
	opened, err := d.open()
	if err != nil {
		return err
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if err := opened.Reset(); err != nil {
		return d.done(err)
	}
	if state := d.stream.Swap(nil); state != nil {
		_ = state.stream.Close() // it is lost
	}
	if signals := d.signals.Swap(nil); signals != nil {
		_ = signals.Close() // it is lost
	}
	d.own.forget()
	memory.Range(func(key, value any) bool {
		if value.(*allocation).device == d && memory.CompareAndDelete(key, value) {
			_ = value.(*allocation).slice.Close() // it is lost
		}
		return true
	})
	d.forget()
	_ = opened.TakeErr() // there is none any more
	return nil
}

// forget drops the errors of the device, for its reset. Those of host kernels that still run do not
// count any more.
func (d *Device) forget() {
	d.failing.Lock()
	defer d.failing.Unlock()
	d.resets.Add(1)
	d.failed.Store(nil)
	d.last.Store(nil)
}

// fail makes the panic of a host kernel the failure of the device, if that was not reset since.
func (d *Device) fail(resets uint64, failure *Error) {
	d.failing.Lock()
	defer d.failing.Unlock()
	if d.resets.Load() == resets {
		d.failed.CompareAndSwap(nil, failure)
	}
}
