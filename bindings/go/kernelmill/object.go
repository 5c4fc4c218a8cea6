package kernelmill

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// destroyer is one of the library's km_..._destroy.
type destroyer func(uint64) *raw.Failure

// object is what all types begin with: a handle of the library, 0 once closed.
type object struct {
	id      atomic.Uint64
	destroy destroyer
	cleanup runtime.Cleanup
}

// open takes a handle over. What is not closed is destroyed when it has become garbage.
func (o *object) open(id uint64, destroy destroyer) {
	o.id.Store(id)
	o.destroy = destroy
	o.cleanup = runtime.AddCleanup(o, func(id uint64) { destroy(id) }, id)
}

// use gives the handle, or the error of a nil or closed object.
func (o *object) use(op string) (uint64, error) {
	if o == nil {
		return 0, nilError(op, "the "+receiver(op))
	}
	if id := o.id.Load(); id != 0 {
		return id, nil
	}
	return 0, closedError(op, "the "+receiver(op))
}

// useArgument is use for an object that is given to a call.
func (o *object) useArgument(op, name string) (uint64, error) {
	if o == nil {
		return 0, nilError(op, name)
	}
	if id := o.id.Load(); id != 0 {
		return id, nil
	}
	return 0, closedError(op, name)
}

// call makes a raw call of one handle.
func (o *object) call(op string, call func(uint64) *raw.Failure) error {
	id, err := o.use(op)
	if err != nil {
		return err
	}
	failure := call(id)
	runtime.KeepAlive(o)
	return check(op, failure)
}

// callWith makes a raw call of two handles, the second of which is the argument called name.
func (o *object) callWith(
	op string, other *object, name string, call func(id, other uint64) *raw.Failure,
) error {
	otherID, err := other.useArgument(op, name)
	if err != nil {
		return err
	}
	err = o.call(op, func(id uint64) *raw.Failure { return call(id, otherID) })
	runtime.KeepAlive(other)
	return err
}

// get makes a raw call that gives one value of T through its last parameter.
func get[T any](o *object, op string, call func(uint64, unsafe.Pointer) *raw.Failure) (T, error) {
	var out T
	err := o.call(op, func(id uint64) *raw.Failure { return call(id, unsafe.Pointer(&out)) })
	return out, err
}

// getFrom is get from an object that is given to a call.
func getFrom[T any](o *object, op, name string,
	call func(uint64, unsafe.Pointer) *raw.Failure) (T, error) {
	if _, err := o.useArgument(op, name); err != nil {
		var none T
		return none, err
	}
	return get[T](o, op, call)
}

// list reads a list by one of the library's calls that fill an array; first is its first entry,
// with its struct_size.
func list[T any](o *object, op string, first T,
	call func(id, capacity uint64, out, outCount unsafe.Pointer) *raw.Failure) ([]T, error) {
	for {
		count, err := get[uint64](o, op, func(id uint64, out unsafe.Pointer) *raw.Failure {
			return call(id, 0, nil, out)
		})
		if err != nil || count == 0 {
			return nil, err
		}
		entries := make([]T, count)
		entries[0] = first
		got := count
		failure := o.call(op, func(id uint64) *raw.Failure {
			return call(id, count, unsafe.Pointer(&entries[0]), unsafe.Pointer(&got))
		})
		if errors.Is(failure, ErrBufferTooSmall) || failure == nil && got > count {
			continue // it has grown since
		}
		return entries[:min(got, count)], failure
	}
}

// outlive leaves the handle to close alone: memory that the host sees would be gone while it is
// used, if its object were collected.
func (o *object) outlive() { o.cleanup.Stop() }

// close destroys the handle, once.
func (o *object) close(op string) error {
	if o == nil {
		return nilError(op, "the "+receiver(op))
	}
	id := o.id.Swap(0)
	if id == 0 {
		return closedError(op, "the "+receiver(op))
	}
	o.cleanup.Stop()
	return check(op, o.destroy(id))
}

func nilError(op, name string) error {
	return fail(op, ErrInvalidHandle, name+" is nil: see the error of the call that gave it")
}

func closedError(op, name string) error {
	message := name + " was closed already: close it once, after its last use"
	return &Error{Op: op, Status: ErrInvalidHandle, Message: message, cause: ErrClosed}
}

// receiver is what "Stream.Query" is called on: "stream".
func receiver(op string) string {
	name, _, _ := strings.Cut(op, ".")
	return strings.ToLower(name)
}

// token is the user_data of a callback that is set at most once at a time.
type token struct {
	mutex    sync.Mutex
	userData unsafe.Pointer
}

// swap puts another user_data in the place of the one there, which it gives.
func (t *token) swap(userData unsafe.Pointer) unsafe.Pointer {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	before := t.userData
	t.userData = userData
	return before
}
