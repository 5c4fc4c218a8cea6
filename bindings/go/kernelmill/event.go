package kernelmill

import (
	"time"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Event marks a point in a stream.
type Event struct{ object }

// NewEvent makes an event that takes the time at its mark.
func (c *Context) NewEvent() (*Event, error) { return c.newEvent(raw.EVENT_DEFAULT) }

// NewUntimedEvent makes an event that only marks.
func (c *Context) NewUntimedEvent() (*Event, error) { return c.newEvent(raw.EVENT_DISABLE_TIMING) }

func (c *Context) newEvent(flags uint32) (*Event, error) {
	id, err := get[uint64](c.base(), "Context.NewEvent",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_event_create(id, flags, out)
		})
	if err != nil {
		return nil, err
	}
	event := &Event{}
	event.open(id, raw.Km_event_destroy)
	return event, nil
}

func (e *Event) base() *object {
	if e == nil {
		return nil
	}
	return &e.object
}

// Close lets the event go. Streams that wait for it go on waiting.
func (e *Event) Close() error { return e.base().close("Event.Close") }

// Context is the event's context, to be closed on its own.
func (e *Event) Context() (*Context, error) {
	id, err := get[uint64](e.base(), "Event.Context", raw.Km_event_context)
	if err != nil {
		return nil, err
	}
	return newContext(id), nil
}

// Record marks the end of the work queued in the stream so far.
func (e *Event) Record(stream *Stream) error {
	return e.base().callWith("Event.Record", stream.base(), "the stream", raw.Km_event_record)
}

// Query says whether the marked work is done; so it is for an event that was never recorded.
func (e *Event) Query() (bool, error) { return query(e.base(), "Event.Query", raw.Km_event_query) }

// Synchronize waits until the marked work is done.
func (e *Event) Synchronize() error {
	return e.base().call("Event.Synchronize", raw.Km_event_synchronize)
}

// SynchronizeTimeout is Synchronize with a limit; [ErrTimeout] when it passes first.
func (e *Event) SynchronizeTimeout(limit time.Duration) error {
	return e.base().call("Event.SynchronizeTimeout", func(id uint64) *raw.Failure {
		return raw.Km_event_synchronize_timeout(id, uint64(max(limit, 0)))
	})
}

// Elapsed is the time from the mark of start to this one; negative when this one came first.
func (e *Event) Elapsed(start *Event) (time.Duration, error) {
	var elapsed int64
	err := e.base().callWith("Event.Elapsed", start.base(), "the start",
		func(end, start uint64) *raw.Failure {
			return raw.Km_event_elapsed_ns(start, end, unsafe.Pointer(&elapsed))
		})
	return time.Duration(elapsed), err
}
