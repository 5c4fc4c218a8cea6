package kernelmill

import (
	"errors"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Context is a device opened, with memory, streams and modules of its own.
type Context struct {
	object
	output token // of SetOutput
	check  token // of SetCheck
}

// Open opens a device by its URI ("cpu", "auto" ...) and a context on it.
func Open(uri string) (*Context, error) {
	device, err := OpenDevice(uri)
	if err != nil {
		return nil, err
	}
	context, err := device.NewContext()
	return context, errors.Join(err, device.Close())
}

func newContext(id uint64) *Context {
	context := &Context{}
	context.open(id, raw.Km_context_destroy)
	return context
}

func (c *Context) base() *object {
	if c == nil {
		return nil
	}
	return &c.object
}

// Close lets the context go. Its children keep it, and queued work goes on.
func (c *Context) Close() error { return c.base().close("Context.Close") }

// Device is the device of the context, to be closed on its own.
func (c *Context) Device() (*Device, error) {
	id, err := get[uint64](c.base(), "Context.Device", raw.Km_context_device)
	if err != nil {
		return nil, err
	}
	return newDevice(id), nil
}

// another is the context by a handle of its own.
func (c *Context) another() (*Context, error) {
	stream, err := c.DefaultStream()
	if err != nil {
		return nil, err
	}
	context, err := stream.Context()
	return context, errors.Join(err, stream.Close())
}

// IsOrdered says whether uses of the context's slices on different streams are ordered.
func (c *Context) IsOrdered() (bool, error) {
	flags, err := get[uint32](c.base(), "Context.IsOrdered", raw.Km_context_flags_get)
	return flags&raw.CONTEXT_ORDERED != 0, err
}

// IsChecked says whether each access of the context's kernels is tested: see [CheckAccesses].
func (c *Context) IsChecked() (bool, error) {
	flags, err := get[uint32](c.base(), "Context.IsChecked", raw.Km_context_flags_get)
	return flags&raw.CONTEXT_CHECKED != 0, err
}

// DefaultStream is the context's own stream, to be closed like any other.
func (c *Context) DefaultStream() (*Stream, error) {
	id, err := get[uint64](c.base(), "Context.DefaultStream", raw.Km_context_default_stream)
	if err != nil {
		return nil, err
	}
	return newStream(id), nil
}

// Synchronize waits until the work of all streams of the context is done.
func (c *Context) Synchronize() error {
	return c.base().call("Context.Synchronize", raw.Km_context_synchronize)
}

// MemoryInfo is how much memory of the device is free, and how much there is, in bytes.
func (c *Context) MemoryInfo() (free, total uint64, err error) {
	var bytes [2]uint64
	err = c.base().call("Context.MemoryInfo", func(id uint64) *raw.Failure {
		return raw.Km_context_memory_info(id, unsafe.Pointer(&bytes[0]), unsafe.Pointer(&bytes[1]))
	})
	return bytes[0], bytes[1], err
}

// Reset stops running kernels, drops queued work and clears the error of a failed kernel. What was
// made from the context before gives [ErrContextLost] and is only to be closed.
func (c *Context) Reset() error { return c.base().call("Context.Reset", raw.Km_context_reset) }

// Err is the context's error: that of a failed kernel, else that of the last call that failed,
// else nil.
func (c *Context) Err() error {
	const op = "Context.Err"
	status, err := get[int32](c.base(), op, raw.Km_context_error)
	if err != nil || status == raw.SUCCESS {
		return err
	}
	text, err := textOf(c.base(), op, raw.Km_context_error_message)
	if err != nil {
		return err
	}
	return fail(op, Status(status), withOwnNames(text))
}

// NativeErr is the backend's own code of the error that Err gives (CUresult, errno ...), or 0.
func (c *Context) NativeErr() (int64, error) {
	return get[int64](c.base(), "Context.NativeErr", raw.Km_context_error_native_code)
}

// TakeErr is Err, and forgets the error unless it is that of a failed kernel.
func (c *Context) TakeErr() error {
	const op = "Context.TakeErr"
	text, err := textOf(c.base(), op, raw.Km_context_error_message)
	if err != nil {
		return err
	}
	status, err := get[int32](c.base(), op, raw.Km_context_take_error)
	if err != nil || status == raw.SUCCESS {
		return err
	}
	return fail(op, Status(status), withOwnNames(text))
}
