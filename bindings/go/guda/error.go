package guda

import (
	"errors"
	"fmt"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// GudaError says how a call ended. It is an error, to compare with errors.Is.
type GudaError int

// The codes of the runtime. Those up to ErrorUnsupportedLimit are GUDA's own.
const (
	Success GudaError = iota
	ErrorInvalidValue
	ErrorOutOfMemory
	ErrorNotInitialized
	ErrorDeinitialized    // the device was reset after the object was made
	ErrorProfilerDisabled // the profiler was not started
	ErrorInvalidConfiguration
	ErrorInvalidDevice
	ErrorInvalidKernelImage
	ErrorNoKernelImageForDevice
	ErrorInsufficientDriver // a part that the library finds at run time is missing
	ErrorUnsupportedLimit
	ErrorNotReady      // no failure: work is left
	ErrorLaunchFailure // a kernel failed; [DeviceReset] helps
	ErrorNotSupported
	ErrorUnknown
)

var errorTexts = [...]string{
	"no error", "invalid value", "out of memory", "not initialized", "deinitialized",
	"profiler disabled", "invalid configuration", "invalid device", "invalid kernel image",
	"no kernel image for device", "insufficient driver", "unsupported limit", "not ready",
	"launch failure", "not supported", "unknown error",
}

// GetErrorString is a code in words.
func GetErrorString(err GudaError) string {
	if err < 0 || int(err) >= len(errorTexts) {
		return fmt.Sprintf("unrecognized error code %d", int(err))
	}
	return errorTexts[err]
}

// Error is the code in words.
func (e GudaError) Error() string { return GetErrorString(e) }

// Error is the failure of a call. errors.Is compares it with a [GudaError] and with the status of
// package kernelmill; errors.As gives the *kernelmill.Error, which has all of the text.
type Error struct {
	Code   GudaError
	detail string
	cause  error
}

// Error is the text of the failure; that of memory which cannot be had is exactly "out of memory".
func (e *Error) Error() string {
	if e.Code == ErrorOutOfMemory || e.detail == "" {
		return e.Code.Error()
	}
	return e.Code.Error() + ": " + e.detail
}

// Unwrap gives the code, and what the failure comes from.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.cause}
}

// codes are the codes of statuses that do not follow from their category.
var codes = map[kernelmill.Status]GudaError{
	kernelmill.ErrNotReady:           ErrorNotReady,
	kernelmill.ErrTimeout:            ErrorNotReady,
	kernelmill.ErrNotSupported:       ErrorNotSupported,
	kernelmill.ErrCaptureUnsupported: ErrorNotSupported,
	kernelmill.ErrContextLost:        ErrorDeinitialized,
	kernelmill.ErrProcessLost:        ErrorDeinitialized,
	kernelmill.ErrForked:             ErrorNotInitialized,
	kernelmill.ErrNoDevice:           ErrorInvalidDevice,
	kernelmill.ErrOutOfHostMemory:    ErrorOutOfMemory,
	kernelmill.ErrOutOfDeviceMemory:  ErrorOutOfMemory,
	kernelmill.ErrInvalidPTX:         ErrorInvalidKernelImage,
	kernelmill.ErrCompilationFailed:  ErrorInvalidKernelImage,
	kernelmill.ErrCompiler:           ErrorInvalidKernelImage,
	kernelmill.ErrUnsupportedPTX:     ErrorNoKernelImageForDevice,
	kernelmill.ErrInvalidLaunch:      ErrorInvalidConfiguration,
	kernelmill.ErrIO:                 ErrorInvalidValue,
	kernelmill.ErrInternal:           ErrorUnknown,
}

// categories are the codes of all other statuses.
var categories = map[kernelmill.Category]GudaError{
	kernelmill.CategoryUsage:       ErrorInvalidValue,
	kernelmill.CategoryEnvironment: ErrorInsufficientDriver,
	kernelmill.CategoryKernelFault: ErrorLaunchFailure,
}

// codeOf is the code of a status.
func codeOf(status kernelmill.Status) GudaError {
	if code, known := codes[status]; known {
		return code
	}
	if code, known := categories[status.Category()]; known {
		return code
	}
	return ErrorUnknown
}

// mapped is an error of package kernelmill as one of the runtime.
func mapped(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var failure *kernelmill.Error
	if errors.As(err, &failure) {
		return &Error{Code: codeOf(failure.Status), detail: failure.Error(), cause: err}
	}
	return &Error{Code: ErrorUnknown, detail: err.Error(), cause: err}
}

// invalid is the error of a value that a call cannot use.
func invalid(format string, values ...any) *Error {
	return &Error{Code: ErrorInvalidValue, detail: fmt.Sprintf(format, values...)}
}

// GetLastError gives the last error of the current device, and forgets it. That of a kernel that
// failed stays until [DeviceReset].
func GetLastError() error {
	device, err := currentDevice()
	if err != nil {
		return err
	}
	return device.GetLastError()
}

// PeekAtLastError gives the last error of the current device, and keeps it: one check for many calls.
func PeekAtLastError() error {
	device, err := currentDevice()
	if err != nil {
		return err
	}
	return device.PeekAtLastError()
}

// GetLastError is [GetLastError] of this device.
func (d *Device) GetLastError() error {
	if d == nil {
		return invalid("the device is nil")
	}
	last := d.last.Swap(nil)
	if context := d.context.Load(); context != nil {
		if err := context.TakeErr(); err != nil && last == nil {
			last = mapped(err)
		}
	}
	return d.errorOr(last)
}

// PeekAtLastError is [PeekAtLastError] of this device.
func (d *Device) PeekAtLastError() error {
	if d == nil {
		return invalid("the device is nil")
	}
	last := d.last.Load()
	if context := d.context.Load(); context != nil && last == nil {
		if err := context.Err(); err != nil {
			last = mapped(err)
		}
	}
	return d.errorOr(last)
}

// errorOr is the panic of a host kernel, which stays, or another error, or nil.
func (d *Device) errorOr(err *Error) error {
	if failed := d.failed.Load(); failed != nil {
		return failed
	}
	if err == nil {
		return nil
	}
	return err
}

// done notes the failure of a call for [GetLastError], and gives it as one of the runtime. A call
// that found nothing wrong fails with the panic of a host kernel before it.
func (d *Device) done(err error) error {
	d.ended.Load() // what host kernels wrote is seen by who has waited for them
	if err == nil {
		if d.failed.Load() == nil {
			return nil
		}
		return d.failed.Load()
	}
	failure := mapped(err)
	if failure.Code != ErrorNotReady {
		d.last.Store(failure)
	}
	return failure
}

// InvalidValue is the error of a value that a call cannot use, noted for [GetLastError]: for facades of
// this package.
func InvalidValue(format string, values ...any) error { return noteInvalid(format, values...) }
