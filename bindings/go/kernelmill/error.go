package kernelmill

import (
	"errors"
	"strings"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/internal/library"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// ErrClosed is in the error of every call on an object that was closed.
var ErrClosed = errors.New("already closed")

// Error is the failure of one call.
type Error struct {
	Op         string // "Stream.Synchronize"
	Status     Status
	Message    string // what was wrong, with which values, and what to do
	NativeCode int64  // the backend's own code, or 0
	Log        string // what the compiler said, for a source with errors
	cause      error
}

func (e *Error) Error() string {
	text := "kernelmill: " + e.Op + ": "
	if e.Message == "" {
		return text + e.Status.Error()
	}
	return text + e.Message
}

// Unwrap gives the status, so that errors.Is(err, kernelmill.ErrNotFound) holds.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Status, e.cause}
	}
	return []error{e.Status}
}

// Category is the kind of failure.
func (e *Error) Category() Category { return e.Status.Category() }

// Suggestion is one sentence on what to do about failures of this status.
func (e *Error) Suggestion() string {
	if e.Status == ErrBackendUnavailable && raw.IsAbsent() {
		return library.Advice
	}
	return withOwnNames(statusText(raw.Km_status_recovery, e.Status))
}

// check turns the outcome of a raw call into an error.
func check(op string, failure *raw.Failure) error {
	if failure == nil {
		return nil
	}
	return &Error{
		Op:         op,
		Status:     Status(failure.Status),
		Message:    withOwnNames(strings.TrimSpace(failure.Text)),
		NativeCode: failure.NativeCode,
	}
}

// fail is an error that this package finds itself.
func fail(op string, status Status, message string) error {
	return &Error{Op: op, Status: status, Message: message}
}

// statusText reads one of the static texts that the library has for a status.
func statusText(call func(int32, unsafe.Pointer) *raw.Failure, status Status) string {
	var text unsafe.Pointer
	if call(int32(status), unsafe.Pointer(&text)) != nil {
		return ""
	}
	return staticText(text)
}

// staticText copies a text of the library's that ends with a zero; "" for null.
func staticText(text unsafe.Pointer) string {
	if text == nil {
		return ""
	}
	length := 0
	for *(*byte)(unsafe.Add(text, length)) != 0 {
		length++
	}
	return string(unsafe.Slice((*byte)(text), length))
}
