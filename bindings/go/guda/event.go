package guda

import (
	"context"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// Event marks a point in a stream.
type Event struct{ state *eventState }

type eventState struct {
	device *Device
	event  *kernelmill.Event
}

// EventFlag says what kind of event is made.
type EventFlag uint32

// The flags of events.
const (
	EventDefault       EventFlag = 0
	EventBlockingSync  EventFlag = 1 // waits sleep: they do so anyway
	EventDisableTiming EventFlag = 2
)

// EventCreate makes an event of the current device that takes the time at its mark.
func EventCreate() (Event, error) { return EventCreateWithFlags(EventDefault) }

// EventCreateWithFlags makes an event of the current device.
func EventCreateWithFlags(flags EventFlag) (Event, error) {
	device, err := currentDevice()
	if err != nil {
		return Event{}, err
	}
	return device.EventCreate(flags)
}

// EventCreate is [EventCreateWithFlags] of this device.
func (d *Device) EventCreate(flags EventFlag) (Event, error) {
	opened, err := d.open()
	if d == nil {
		return Event{}, err
	}
	if err == nil && flags&^(EventBlockingSync|EventDisableTiming) != 0 {
		err = invalid("the flags %#x of an event: there are 1 and 2", uint32(flags))
	}
	if err != nil {
		return Event{}, d.done(err)
	}
	create := opened.NewEvent
	if flags&EventDisableTiming != 0 {
		create = opened.NewUntimedEvent
	}
	event, err := create()
	if err != nil {
		return Event{}, d.done(err)
	}
	return Event{&eventState{d, event}}, nil
}

// with runs a call of the event.
func (e Event) with(call func(*kernelmill.Event) error) error {
	if e.state == nil {
		return noteInvalid("the event is none: EventCreate makes one")
	}
	return e.state.device.done(call(e.state.event))
}

// EventDestroy lets an event go. Streams that wait for it go on waiting.
func EventDestroy(event Event) error { return event.with((*kernelmill.Event).Close) }

// EventRecord marks the end of the work queued in a stream so far.
func EventRecord(event Event, stream Stream) error {
	return inStream(stream, 0, func(s *streamState) error {
		if event.state == nil {
			return invalid("the event is none: EventCreate makes one")
		}
		return event.state.event.Record(s.stream)
	})
}

// EventSynchronize waits until the marked work is done; one that was never recorded does not wait.
func EventSynchronize(event Event) error { return event.with((*kernelmill.Event).Synchronize) }

// EventWait is EventSynchronize that ends when ctx does, as [StreamWait].
func EventWait(ctx context.Context, event Event) error {
	return event.with(func(e *kernelmill.Event) error { return e.Wait(ctx) })
}

// EventQuery is nil when the marked work is done, and [ErrorNotReady] while some is left.
func EventQuery(event Event) error {
	return event.with(func(e *kernelmill.Event) error { return queried(e.Query()) })
}

// EventElapsedTime is the time from one mark to another in milliseconds, to the nanosecond on CPU
// devices; [ErrorNotReady] while one is not reached. Operations per millisecond divided by a million
// are GFLOPS.
func EventElapsedTime(start, end Event) (float32, error) {
	var milliseconds float32
	err := end.with(func(e *kernelmill.Event) error {
		if start.state == nil {
			return invalid("the start is no event")
		}
		elapsed, err := e.Elapsed(start.state.event)
		milliseconds = float32(float64(elapsed.Nanoseconds()) / 1e6)
		return err
	})
	if err != nil {
		return 0, err
	}
	return milliseconds, nil
}
