package guda

import (
	"errors"
	"runtime"
	"unsafe"

	runtimes "github.com/kernelmill/kernelmill/bindings/go/guda"
)

// The types that both packages have.
type (
	DevicePtr   = runtimes.DevicePtr   // an address; 0 is none
	Dim3        = runtimes.Dim3        // a size or a place
	ThreadID    = runtimes.ThreadID    // which thread a kernel is called for
	Kernel      = runtimes.Kernel      // what can be launched
	KernelFunc  = runtimes.KernelFunc  // a function as a kernel
	FusedKernel = runtimes.FusedKernel // operations in one pass
	MemcpyKind  = runtimes.MemcpyKind  // the direction of a copy
	GUDAError   = runtimes.Error       // the failure of a call
)

// The kinds of copies.
const (
	MemcpyHostToHost     = runtimes.MemcpyHostToHost
	MemcpyHostToDevice   = runtimes.MemcpyHostToDevice
	MemcpyDeviceToHost   = runtimes.MemcpyDeviceToHost
	MemcpyDeviceToDevice = runtimes.MemcpyDeviceToDevice
	MemcpyDefault        = runtimes.MemcpyDefault
)

// The sizes of blocks.
const (
	DefaultBlockSize   = 256
	MaxThreadsPerBlock = 1024
)

// The failures, to compare with errors.Is.
var (
	ErrOutOfMemory   error = runtimes.ErrorOutOfMemory
	ErrInvalidSize   error = runtimes.ErrorInvalidValue
	ErrNullPointer   error = runtimes.ErrorInvalidValue
	ErrDoubleFree    error = runtimes.ErrorInvalidValue
	ErrInvalidShape  error = runtimes.ErrorInvalidValue
	ErrInvalidDevice error = runtimes.ErrorInvalidDevice
	ErrNoDevice      error = runtimes.ErrorInsufficientDriver
	ErrKernelFailed  error = runtimes.ErrorLaunchFailure
	ErrNotSupported  error = runtimes.ErrorNotSupported
)

// IsMemoryError says whether memory could not be had.
func IsMemoryError(err error) bool { return errors.Is(err, runtimes.ErrorOutOfMemory) }

// IsInvalidArgError says whether a value was wrong.
func IsInvalidArgError(err error) bool {
	return errors.Is(err, runtimes.ErrorInvalidValue) ||
		errors.Is(err, runtimes.ErrorInvalidConfiguration)
}

// IsExecutionError says whether a kernel failed.
func IsExecutionError(err error) bool { return errors.Is(err, runtimes.ErrorLaunchFailure) }

// IsDeviceError says whether there is no such device, or no library that runs on one.
func IsDeviceError(err error) bool {
	return errors.Is(err, runtimes.ErrorInvalidDevice) ||
		errors.Is(err, runtimes.ErrorInsufficientDriver)
}

// IsNotImplementedError says whether the device cannot do it.
func IsNotImplementedError(err error) bool { return errors.Is(err, runtimes.ErrorNotSupported) }

// Init opens a device, and makes it the current one. It need not be called.
func Init(device int) error { return runtimes.Init(device) }

// Reset frees all memory of the device, and forgets its errors.
func Reset() error { return runtimes.Reset() }

// Synchronize waits until all work of the device is done, and gives what failed.
func Synchronize() error { return runtimes.Synchronize() }

// Malloc allocates device memory of so many bytes.
func Malloc(size int) (DevicePtr, error) { return runtimes.Allocate(size) }

// Free waits for the work of the device and frees memory; 0 does nothing.
func Free(ptr DevicePtr) error { return runtimes.Free(ptr) }

// Memcpy copies bytes between memory of the device (DevicePtr) and of the host (a slice of float32,
// float64, int32 or bytes, or an unsafe.Pointer) in the order of the default stream, and waits.
func Memcpy(dst, src any, size int, kind MemcpyKind) error {
	switch to := dst.(type) {
	case DevicePtr:
		return memcpyFrom(to, src, size, kind)
	case []float32:
		return memcpyFrom(to, src, size, kind)
	case []float64:
		return memcpyFrom(to, src, size, kind)
	case []int32:
		return memcpyFrom(to, src, size, kind)
	case []byte:
		return memcpyFrom(to, src, size, kind)
	case unsafe.Pointer:
		return memcpyFrom(to, src, size, kind)
	}
	return runtimes.InvalidValue("the destination is a %T: give a DevicePtr, an unsafe.Pointer or a slice"+
		" of float32, float64, int32 or bytes", dst)
}

func memcpyFrom[D runtimes.Place](to D, src any, size int, kind MemcpyKind) error {
	switch from := src.(type) {
	case DevicePtr:
		return runtimes.Memcpy(to, from, size, kind)
	case []float32:
		return runtimes.Memcpy(to, from, size, kind)
	case []float64:
		return runtimes.Memcpy(to, from, size, kind)
	case []int32:
		return runtimes.Memcpy(to, from, size, kind)
	case []byte:
		return runtimes.Memcpy(to, from, size, kind)
	case unsafe.Pointer:
		return runtimes.Memcpy(to, from, size, kind)
	}
	return runtimes.InvalidValue("the source is a %T: give a DevicePtr, an unsafe.Pointer or a slice of"+
		" float32, float64, int32 or bytes", src)
}

// Launch queues a kernel in the default stream, once for each thread of a grid of blocks.
func Launch(kernel Kernel, grid, block Dim3, args ...any) error {
	return runtimes.Launch(kernel, grid, block, args...)
}

// LaunchFunc is Launch of a function.
func LaunchFunc(kernel KernelFunc, grid, block Dim3, args ...any) error {
	return runtimes.Launch(kernel, grid, block, args...)
}

// Device says what a device is.
type Device struct {
	ID         int
	Name       string
	TotalMem   uint64 // bytes
	NumCores   int    // of the host
	MaxThreads int    // that run at a time
}

// GetDeviceCount is how many devices there are; 0 where there is no library.
func GetDeviceCount() int {
	count, err := runtimes.GetDeviceCount()
	if err != nil {
		return 0
	}
	return count
}

// SetDevice makes a device the current one of all goroutines: [Init].
func SetDevice(id int) error { return runtimes.Init(id) }

// GetDevice describes the current device; nil where there is none.
func GetDevice() *Device {
	current, err := runtimes.GetDevice()
	if err != nil {
		return nil
	}
	device, err := GetDeviceProperties(current)
	if err != nil {
		return nil
	}
	return device
}

// GetDeviceProperties describes a device.
func GetDeviceProperties(id int) (*Device, error) {
	properties, err := runtimes.GetDeviceProperties(id)
	if err != nil {
		return nil, err
	}
	return &Device{ID: id, Name: properties.Name, TotalMem: uint64(properties.TotalGlobalMem),
		NumCores: runtime.NumCPU(), MaxThreads: runtime.GOMAXPROCS(0)}, nil
}
