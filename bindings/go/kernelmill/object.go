package kernelmill

import (
	"runtime"
	"strings"
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

func nilError(op, name string) error { return fail(op, ErrInvalidHandle, name+" is nil") }

func closedError(op, name string) error {
	return &Error{Op: op, Status: ErrInvalidHandle, Message: name + " is closed", cause: ErrClosed}
}

// receiver is what "Stream.Query" is called on: "stream".
func receiver(op string) string {
	name, _, _ := strings.Cut(op, ".")
	return strings.ToLower(name)
}
