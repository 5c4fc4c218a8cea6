package kernelmill

import (
	"fmt"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Status says how a call of the library ended. It is an error, to compare with errors.Is.
type Status int32

// These two are no failures of the library: what was asked for or waited for is not there yet.
const (
	ErrNotReady Status = raw.NOT_READY
	ErrTimeout  Status = raw.TIMEOUT
)

// What can go wrong.
const (
	ErrInternal          Status = raw.ERROR_INTERNAL
	ErrInvalidArgument   Status = raw.ERROR_INVALID_ARGUMENT
	ErrInvalidHandle     Status = raw.ERROR_INVALID_HANDLE
	ErrOutOfHostMemory   Status = raw.ERROR_OUT_OF_HOST_MEMORY
	ErrOutOfDeviceMemory Status = raw.ERROR_OUT_OF_DEVICE_MEMORY
	// offset or size beyond the allocation
	ErrOutOfBounds Status = raw.ERROR_OUT_OF_BOUNDS
	// no such kernel, symbol, file ...
	ErrNotFound     Status = raw.ERROR_NOT_FOUND
	ErrNotSupported Status = raw.ERROR_NOT_SUPPORTED
	// for example a blocking call in a host callback
	ErrNotPermitted   Status = raw.ERROR_NOT_PERMITTED
	ErrBufferTooSmall Status = raw.ERROR_BUFFER_TOO_SMALL
	ErrIO             Status = raw.ERROR_IO
	// objects of different contexts or devices together
	ErrContextMismatch Status = raw.ERROR_CONTEXT_MISMATCH
	// a child handle of a context that was reset
	ErrContextLost Status = raw.ERROR_CONTEXT_LOST
	// only a new process helps
	ErrProcessLost Status = raw.ERROR_PROCESS_LOST
	// the process was forked after the library was used
	ErrForked Status = raw.ERROR_FORKED
	// a call that cannot be captured; the capture is invalid
	ErrCaptureUnsupported Status = raw.ERROR_CAPTURE_UNSUPPORTED
	// by an earlier call: end the capture and begin again
	ErrCaptureInvalidated Status = raw.ERROR_CAPTURE_INVALIDATED
	// the capture ended with work that nothing waits for
	ErrCaptureUnjoined Status = raw.ERROR_CAPTURE_UNJOINED
	// an update changes more than parameters
	ErrGraphMismatch Status = raw.ERROR_GRAPH_MISMATCH
	// of a candidate of a tuning: not what the first one left
	ErrResultMismatch     Status = raw.ERROR_RESULT_MISMATCH
	ErrBackendUnavailable Status = raw.ERROR_BACKEND_UNAVAILABLE
	ErrNoDevice           Status = raw.ERROR_NO_DEVICE
	// library and plugin come from different builds
	ErrBuildMismatch    Status = raw.ERROR_BUILD_MISMATCH
	ErrNVRTCUnavailable Status = raw.ERROR_NVRTC_UNAVAILABLE
	ErrBLASUnavailable  Status = raw.ERROR_BLAS_UNAVAILABLE
	// known, and no build for this platform has it
	ErrUnsupportedBackend Status = raw.ERROR_UNSUPPORTED_BACKEND
	ErrInvalidPTX         Status = raw.ERROR_INVALID_PTX
	// valid PTX that this device cannot run
	ErrUnsupportedPTX Status = raw.ERROR_UNSUPPORTED_PTX
	// CUDA C++ with errors; the log says which
	ErrCompilationFailed Status = raw.ERROR_COMPILATION_FAILED
	// the code generator failed
	ErrCompiler Status = raw.ERROR_COMPILER
	// dimensions, shared memory or arguments
	ErrInvalidLaunch Status = raw.ERROR_INVALID_LAUNCH
	// from here on: faults of kernels, sticky
	ErrIllegalAddress     Status = raw.ERROR_ILLEGAL_ADDRESS
	ErrMisalignedAddress  Status = raw.ERROR_MISALIGNED_ADDRESS
	ErrTrap               Status = raw.ERROR_TRAP
	ErrAssert             Status = raw.ERROR_ASSERT
	ErrStackOverflow      Status = raw.ERROR_STACK_OVERFLOW
	ErrIllegalInstruction Status = raw.ERROR_ILLEGAL_INSTRUCTION
	// KM_KERNEL_TIMEOUT_MS passed
	ErrLaunchTimeout Status = raw.ERROR_LAUNCH_TIMEOUT
	ErrLaunchFailed  Status = raw.ERROR_LAUNCH_FAILED
)

// String is the status as the C header spells it, "KM_ERROR_NOT_FOUND".
func (s Status) String() string {
	if name := statusText(raw.Km_status_name, s); name != "" {
		return name
	}
	if s == ErrBackendUnavailable {
		return "KM_ERROR_BACKEND_UNAVAILABLE" // also where there is no library to say it
	}
	return fmt.Sprintf("status %d", int32(s))
}

// Error is one sentence on what the status means.
func (s Status) Error() string {
	if text := statusText(raw.Km_status_description, s); text != "" {
		return text
	}
	return s.String()
}

// Category is the kind of failure.
func (s Status) Category() Category {
	var category int32
	if raw.Km_status_category(int32(s), unsafe.Pointer(&category)) != nil {
		if s == ErrBackendUnavailable {
			return CategoryEnvironment // also where there is no library to say it
		}
		return CategoryNone
	}
	return Category(category)
}

// Category groups statuses by whose business they are.
type Category int32

// The categories.
const (
	CategoryNone        Category = raw.ERROR_CATEGORY_NONE
	CategoryUsage       Category = raw.ERROR_CATEGORY_USAGE
	CategoryResource    Category = raw.ERROR_CATEGORY_RESOURCE
	CategoryEnvironment Category = raw.ERROR_CATEGORY_ENVIRONMENT
	CategoryProgram     Category = raw.ERROR_CATEGORY_PROGRAM
	CategoryKernelFault Category = raw.ERROR_CATEGORY_KERNEL_FAULT
	CategoryInternal    Category = raw.ERROR_CATEGORY_INTERNAL
)

var categoryNames = [...]string{
	"none", "usage", "resource", "environment", "program", "kernel fault", "internal",
}

func (c Category) String() string {
	if c < 0 || int(c) >= len(categoryNames) {
		return fmt.Sprintf("category %d", int32(c))
	}
	return categoryNames[c]
}
