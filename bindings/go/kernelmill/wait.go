package kernelmill

import (
	"context"
	"errors"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/internal/callback"
	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Wait waits until the work queued so far is done, or until ctx is: then the error is ctx.Err() too,
// with [ErrTimeout] or [ErrNotReady], and the work goes on. No thread waits, and no goroutine but
// the caller's.
func (s *Stream) Wait(ctx context.Context) error {
	const op = "Stream.Wait"
	id, err := s.base().use(op)
	if err != nil {
		return err
	}
	if err := contextError(op, ctx); err != nil {
		return err
	}
	if done, err := s.Query(); err != nil || done {
		return renamed(op, errors.Join(err, s.flush(err)))
	}
	failed, err := waitFor(ctx, op, id)
	if err != nil {
		return err
	}
	return renamed(op, errors.Join(s.flush(nil), failed))
}

// flush writes what the kernels of work that is done have printed, and gives the context's error.
func (s *Stream) flush(before error) error {
	if before != nil {
		return nil
	}
	if err := s.SynchronizeTimeout(0); err != nil && !errors.Is(err, ErrTimeout) {
		return err
	}
	return nil
}

// Wait waits until the marked work is done, or until ctx is, as [Stream.Wait] does.
func (e *Event) Wait(ctx context.Context) error {
	const op = "Event.Wait"
	if _, err := e.base().use(op); err != nil {
		return err
	}
	if err := contextError(op, ctx); err != nil {
		return err
	}
	if done, err := e.Query(); err != nil || done {
		return renamed(op, err)
	}
	helper, err := e.follower(op)
	if err != nil {
		return err
	}
	failed, err := waitFor(ctx, op, helper.id.Load())
	if closing := helper.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	if failed != nil {
		if _, err := e.Query(); err != nil {
			return renamed(op, err) // the same with its text
		}
	}
	return failed
}

// follower is a stream of its own, which waits for the event.
func (e *Event) follower(op string) (*Stream, error) {
	owner, err := get[uint64](e.base(), op, raw.Km_event_context)
	if err != nil {
		return nil, err
	}
	context := newContext(owner)
	stream, err := context.NewStream()
	if err = errors.Join(err, context.Close()); err != nil {
		return nil, renamed(op, err)
	}
	if err := stream.WaitEvent(e); err != nil {
		_ = stream.Close() // the first error is the one to know
		return nil, renamed(op, err)
	}
	return stream, nil
}

// waitFor waits for the work of a stream, or for ctx; failed is the error of the work.
func waitFor(ctx context.Context, op string, stream uint64) (failed, err error) {
	done := make(chan int32, 1) // nobody may read it
	userData := callback.NewOnce(func(status int32) { done <- status })
	if err := check(op, addHostCallback(stream, userData)); err != nil {
		callback.Drop(userData)
		return nil, err
	}
	select {
	case status := <-done:
		if status != raw.SUCCESS {
			failed = &Error{Op: op, Status: Status(status)}
		}
		return failed, nil
	case <-ctx.Done():
		return nil, contextError(op, ctx)
	}
}

func addHostCallback(stream uint64, userData unsafe.Pointer) *raw.Failure {
	return raw.Km_stream_add_callback(stream, callback.Host, userData)
}

// contextError is the error of a wait whose ctx is done or nil.
func contextError(op string, ctx context.Context) error {
	if ctx == nil {
		return fail(op, ErrInvalidArgument, "the context.Context is nil: give context.Background()")
	}
	cause := ctx.Err()
	if cause == nil {
		return nil
	}
	status := ErrNotReady
	if errors.Is(cause, context.DeadlineExceeded) {
		status = ErrTimeout
	}
	return &Error{Op: op, Status: status, cause: cause,
		Message: "the wait was given up (" + cause.Error() + "); the work goes on"}
}

// renamed is an error of a call that another one made.
func renamed(op string, err error) error {
	var failure *Error
	if errors.As(err, &failure) {
		failure.Op = op
		return failure
	}
	return err
}
