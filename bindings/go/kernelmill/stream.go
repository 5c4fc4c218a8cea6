package kernelmill

import (
	"runtime"
	"time"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Stream is an ordered queue of work that runs concurrently with other streams.
type Stream struct{ object }

// NewStream makes a stream of normal priority.
func (c *Context) NewStream() (*Stream, error) { return c.NewStreamWithPriority(0) }

// NewStreamWithPriority makes a stream; lower numbers go first, within the device's range.
func (c *Context) NewStreamWithPriority(priority int32) (*Stream, error) {
	id, err := get[uint64](c.base(), "Context.NewStream",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_stream_create(id, raw.STREAM_DEFAULT, priority, out)
		})
	if err != nil {
		return nil, err
	}
	return newStream(id), nil
}

func newStream(id uint64) *Stream {
	stream := &Stream{}
	stream.open(id, raw.Km_stream_destroy)
	return stream
}

func (s *Stream) base() *object {
	if s == nil {
		return nil
	}
	return &s.object
}

// Close lets the stream go. Its work goes on to its end.
func (s *Stream) Close() error { return s.base().close("Stream.Close") }

// Context is the stream's context, to be closed on its own.
func (s *Stream) Context() (*Context, error) {
	id, err := get[uint64](s.base(), "Stream.Context", raw.Km_stream_context)
	if err != nil {
		return nil, err
	}
	return newContext(id), nil
}

// Priority is the one that the stream was made with.
func (s *Stream) Priority() (int32, error) {
	return get[int32](s.base(), "Stream.Priority", raw.Km_stream_priority)
}

// Synchronize waits until the work queued so far is done.
func (s *Stream) Synchronize() error {
	return s.base().call("Stream.Synchronize", raw.Km_stream_synchronize)
}

// SynchronizeTimeout is Synchronize with a limit; [ErrTimeout] when it passes first.
func (s *Stream) SynchronizeTimeout(limit time.Duration) error {
	return s.base().call("Stream.SynchronizeTimeout", func(id uint64) *raw.Failure {
		return raw.Km_stream_synchronize_timeout(id, uint64(max(limit, 0)))
	})
}

// Query says whether the work queued so far is done.
func (s *Stream) Query() (bool, error) {
	return query(s.base(), "Stream.Query", raw.Km_stream_query)
}

// WaitEvent has work queued from now on wait for what the event marks.
func (s *Stream) WaitEvent(event *Event) error {
	return s.base().callWith("Stream.WaitEvent", event.base(), "the event",
		raw.Km_stream_wait_event)
}

// query makes a call that tells done from not ready.
func query(o *object, op string, call func(uint64) *raw.Failure) (bool, error) {
	id, err := o.use(op)
	if err != nil {
		return false, err
	}
	failure := call(id)
	runtime.KeepAlive(o)
	if failure != nil && failure.Status == raw.NOT_READY {
		return false, nil
	}
	return failure == nil, check(op, failure)
}
