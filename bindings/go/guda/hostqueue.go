package guda

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// hostQueue has the host kernels of a stream run in its order. A callback of the stream starts a
// kernel on goroutines and returns, because callbacks of all streams share a thread; the stream waits
// for a number that the last goroutine has written.
type hostQueue struct {
	mutex    sync.Mutex
	ended    *kernelmill.Slice[uint32] // how many kernels have ended
	launched uint32                    // goes round
	blocks   bool                      // the device has no such waits: callbacks run the kernels
}

// open makes the number, at the first launch.
func (q *hostQueue) open(s *streamState) error {
	if q.ended != nil || q.blocks {
		return nil
	}
	context, err := s.device.open()
	if err != nil {
		return err
	}
	ended, err := kernelmill.NewZeroedSlice[uint32](context, 1)
	if err != nil {
		return err
	}
	err = kernelmill.WaitValue(s.stream, ended, 0, kernelmill.WaitGreaterEqual, 0)
	if q.blocks = errors.Is(err, kernelmill.ErrNotSupported); q.blocks {
		return ended.Close()
	}
	if err != nil {
		_ = ended.Close() // the first error is the one to know
		return err
	}
	q.ended = ended
	return nil
}

// launch queues a kernel.
func (q *hostQueue) launch(s *streamState, l *hostLaunch) error {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	if err := q.open(s); err != nil {
		return err
	}
	if q.blocks {
		return s.stream.AddCallback(func(err error) {
			done := make(chan struct{})
			go func() { // a kernel may end its goroutine, which has to be one of its own
				defer close(done)
				l.runIn(s, err)
			}()
			<-done
		})
	}
	number, ended := q.launched+1, q.ended
	err := s.stream.AddCallback(func(err error) {
		go func() {
			defer s.device.tell(ended, number)
			l.runIn(s, err)
		}()
	})
	if err != nil {
		return err
	}
	q.launched = number
	return kernelmill.WaitValue(s.stream, ended, 0, kernelmill.WaitGreaterEqual, number)
}

// tell has the stream that waits for a number go on.
func (d *Device) tell(ended *kernelmill.Slice[uint32], number uint32) {
	signals, err := d.signalStream()
	if err == nil {
		err = kernelmill.WriteValue(signals, ended, 0, number)
	}
	if err == nil || errors.Is(err, kernelmill.ErrContextLost) {
		return
	}
	// No memory was left to queue the write on the device: the host writes the number.
	if data, failed := ended.HostData(); failed == nil {
		atomic.StoreUint32(&data[0], number)
	}
}

// signalStream is a stream on which nothing waits.
func (d *Device) signalStream() (*kernelmill.Stream, error) {
	if stream := d.signals.Load(); stream != nil {
		return stream, nil
	}
	context, err := d.open()
	if err != nil {
		return nil, err
	}
	stream, err := context.NewStream()
	if err != nil {
		return nil, err
	}
	if !d.signals.CompareAndSwap(nil, stream) {
		_ = stream.Close() // another goroutine was first
	}
	return d.signals.Load(), nil
}

// runIn runs the kernel, unless something failed before it, and notes its panic.
func (l *hostLaunch) runIn(s *streamState, before error) {
	defer s.device.ended.Add(1)
	if before != nil || s.failed.Load() != nil {
		return
	}
	defer l.tellPanic(s)
	l.run()
}

// tellPanic makes the panic of the kernel, if there was one, the failure of its stream, and of the
// device unless that was reset since.
func (l *hostLaunch) tellPanic(s *streamState) {
	panicked := l.failed.Load()
	if panicked == nil {
		return
	}
	failure := &Error{Code: ErrorLaunchFailure, detail: panicked.Error(), cause: panicked}
	s.failed.CompareAndSwap(nil, failure)
	s.device.fail(s.resets, failure)
}
