package guda

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// Stream is an ordered queue of work that runs beside other streams. The zero value is the default
// stream of the device that is current where it is used.
type Stream struct{ state *streamState }

// streamState is what a stream consists of.
type streamState struct {
	device    *Device
	stream    *kernelmill.Stream
	isDefault bool
	resets    uint64                          // of the device, before the stream was made
	blas      atomic.Pointer[kernelmill.BLAS] // for matrices of rows, made by its first call
	mutex     sync.Mutex                      // of making it
	failed    atomic.Pointer[Error]           // the panic of a host kernel
	host      hostQueue
}

// resolve gives the stream itself.
func (s Stream) resolve() (*streamState, error) {
	if s.state != nil {
		return s.state, nil
	}
	device, err := currentDevice()
	if err != nil {
		return nil, err
	}
	state, err := device.defaultStream()
	if err != nil {
		return nil, device.done(err)
	}
	return state, nil
}

// inStream runs a call in a stream.
func inStream(stream Stream, size int, call func(*streamState) error) error {
	state, err := stream.resolve()
	if err != nil {
		return err
	}
	if size < 0 {
		return state.device.done(invalid("a size of %d bytes is negative", size))
	}
	return state.done(call(state))
}

// done is [Device.done], and a call that found nothing wrong fails with the panic of a host kernel
// before it in the stream.
func (s *streamState) done(err error) error {
	s.device.ended.Load() // as in Device.done
	if err == nil {
		if failed := s.failed.Load(); failed != nil {
			return failed
		}
		return nil
	}
	return s.device.done(err)
}

// StreamCreate makes a stream of the current device.
func StreamCreate() (Stream, error) {
	device, err := currentDevice()
	if err != nil {
		return Stream{}, err
	}
	return device.StreamCreate()
}

// StreamCreate is [StreamCreate] of this device.
func (d *Device) StreamCreate() (Stream, error) {
	opened, err := d.open()
	if d == nil {
		return Stream{}, err
	}
	if err != nil {
		return Stream{}, d.done(err)
	}
	resets := d.resets.Load()
	stream, err := opened.NewStream()
	if err != nil {
		return Stream{}, d.done(err)
	}
	return Stream{&streamState{device: d, stream: stream, resets: resets}}, nil
}

// StreamDestroy lets a stream go; its work goes on to its end. The default stream cannot be
// destroyed.
func StreamDestroy(stream Stream) error {
	state := stream.state
	if state == nil || state.isDefault {
		return noteInvalid("the default stream cannot be destroyed")
	}
	err := state.stream.Close()
	if blas := state.blas.Swap(nil); blas != nil {
		_ = blas.Close() // the stream's error is the one to know
	}
	if err != nil {
		return state.device.done(err)
	}
	return nil
}

// StreamSynchronize waits until the work of a stream is done, and gives what failed.
func StreamSynchronize(stream Stream) error {
	return inStream(stream, 0, func(s *streamState) error { return s.stream.Synchronize() })
}

// StreamWait is StreamSynchronize that ends when ctx does: with ctx.Err(), and the work goes on. No
// goroutine and no thread waits but the caller's.
func StreamWait(ctx context.Context, stream Stream) error {
	return inStream(stream, 0, func(s *streamState) error { return s.stream.Wait(ctx) })
}

// notReady is what queries give while work is left.
var notReady = &Error{Code: ErrorNotReady}

// StreamQuery is nil when the work of a stream is done, and [ErrorNotReady] while some is left.
func StreamQuery(stream Stream) error {
	return inStream(stream, 0, func(s *streamState) error { return queried(s.stream.Query()) })
}

func queried(done bool, err error) error {
	if err == nil && !done {
		return notReady
	}
	return err
}

// GetDefaultStream is the stream of the current device that calls without one use.
func GetDefaultStream() Stream {
	device, err := currentDevice()
	if err != nil {
		return Stream{}
	}
	return device.DefaultStream()
}

// DefaultStream is [GetDefaultStream] of this device.
func (d *Device) DefaultStream() Stream {
	state, err := d.defaultStream()
	if err != nil {
		return Stream{}
	}
	return Stream{state}
}

// StreamWaitEvent has work queued from now on wait for what an event marks, also of another device.
func StreamWaitEvent(stream Stream, event Event) error {
	return inStream(stream, 0, func(s *streamState) error {
		if event.state == nil {
			return invalid("the event is none: EventCreate makes one")
		}
		return s.stream.WaitEvent(event.state.event)
	})
}

// StreamAddCallback has a function called when the work queued so far is done, with nil or what
// failed. In it, calls that wait give an error.
func StreamAddCallback(stream Stream, done func(error)) error {
	return inStream(stream, 0, func(s *streamState) error {
		if done == nil {
			return invalid("the function is nil")
		}
		return s.stream.AddCallback(func(err error) {
			if err != nil {
				err = mapped(err)
			} else if failed := s.failed.Load(); failed != nil {
				err = failed
			}
			done(err)
		})
	})
}
