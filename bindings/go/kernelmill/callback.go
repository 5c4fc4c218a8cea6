package kernelmill

import (
	"io"
	"runtime"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// hostFunction keeps a function callable that the library may call any number of times. It is
// forgotten with the last graph or launch that refers to it.
type hostFunction struct{ userData unsafe.Pointer }

func newHostFunction(op string, call func(error)) *hostFunction {
	function := &hostFunction{callback.New(withStatus(op, call))}
	runtime.AddCleanup(function, callback.Drop, function.userData)
	return function
}

// withStatus turns the status that the library gives a callback into an error.
func withStatus(op string, call func(error)) func(int32) {
	return func(status int32) {
		if status == raw.SUCCESS {
			call(nil)
		} else {
			call(&Error{Op: op, Status: Status(status)})
		}
	}
}

// AddCallback has a function called when the work queued so far is done, with nil or the error of
// the context: exactly once if there is no error here, on a thread of the library. Work queued
// later waits for it. In it, calls that may wait give [ErrNotPermitted]; a panic ends the process.
// In a stream that is being captured the function becomes a node of the graph, and is called each
// time that the graph runs.
func (s *Stream) AddCallback(done func(error)) error {
	const op = "Stream.AddCallback"
	if done == nil {
		return nilError(op, "the callback")
	}
	if isCaptured, err := s.isCaptured(op); err != nil {
		return err
	} else if isCaptured {
		function := newHostFunction(op, done)
		err := s.addCallback(op, function.userData)
		keepForCapture(function)
		return err
	}
	userData := callback.NewOnce(withStatus(op, done))
	err := s.addCallback(op, userData)
	if err != nil {
		callback.Drop(userData)
	}
	return err
}

func (s *Stream) addCallback(op string, userData unsafe.Pointer) error {
	return s.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_stream_add_callback(id, callback.Host, userData)
	})
}

// SetOutput has what kernels print, and the lines of failed assertions, written to a writer, on the
// goroutine that synchronises, one call at a time; nil means standard output and standard error, as
// at the start. What the writer returns is not looked at. The writer is kept until another one is
// set by the same Context.
func (c *Context) SetOutput(writer io.Writer) error {
	const op = "Context.SetOutput"
	var function, userData unsafe.Pointer
	if writer != nil {
		function = callback.Output
		userData = callback.New(func(text []byte) { _, _ = writer.Write(text) })
	}
	err := c.base().call(op, func(id uint64) *raw.Failure {
		return raw.Km_context_set_output(id, function, userData)
	})
	if err != nil {
		callback.Drop(userData)
		return err
	}
	callback.Drop(c.output.swap(userData))
	return nil
}
