// Package core makes calls of BLAS on memory of the host.
package core

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// Engine makes calls in streams of a context, one for each goroutine that is in a call.
type Engine struct {
	context *kernelmill.Context
	mutex   sync.Mutex
	idle    []*worker
}

// worker has what a call needs.
type worker struct {
	stream *kernelmill.Stream
	blas   *kernelmill.BLAS
	single *kernelmill.Slice[float32] // results of reductions
	double *kernelmill.Slice[float64]
	index  *kernelmill.Slice[uint64]
	c64    *kernelmill.Slice[complex64]
	c128   *kernelmill.Slice[complex128]
}

// New makes an engine; its first worker shows whether there is BLAS at all.
func New(context *kernelmill.Context) (*Engine, error) {
	engine := &Engine{context: context}
	first, err := engine.newWorker()
	if err != nil {
		return nil, err
	}
	engine.give(first)
	return engine, nil
}

func (e *Engine) newWorker() (*worker, error) {
	stream, err := e.context.NewStream()
	if err != nil {
		return nil, err
	}
	w := &worker{stream: stream}
	var failed [6]error
	w.blas, failed[0] = stream.NewBLAS(kernelmill.RowMajor)
	w.single, failed[1] = kernelmill.NewZeroedSlice[float32](e.context, 1)
	w.double, failed[2] = kernelmill.NewZeroedSlice[float64](e.context, 1)
	w.index, failed[3] = kernelmill.NewZeroedSlice[uint64](e.context, 1)
	w.c64, failed[4] = kernelmill.NewZeroedSlice[complex64](e.context, 1)
	w.c128, failed[5] = kernelmill.NewZeroedSlice[complex128](e.context, 1)
	if err := errors.Join(failed[:]...); err != nil {
		_ = w.close() // the first error is the one to know
		return nil, err
	}
	return w, nil
}

func (w *worker) close() error {
	var failed []error
	for _, object := range []interface{ Close() error }{w.blas, w.single, w.double, w.index, w.c64,
		w.c128, w.stream} {
		failed = append(failed, object.Close())
	}
	return errors.Join(failed...)
}

func (e *Engine) take() (*worker, error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if last := len(e.idle) - 1; last >= 0 {
		w := e.idle[last]
		e.idle = e.idle[:last]
		return w, nil
	}
	return e.newWorker()
}

func (e *Engine) give(w *worker) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.idle = append(e.idle, w)
}

// Close lets go what calls have used.
func (e *Engine) Close() error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var failed []error
	for _, w := range e.idle {
		failed = append(failed, w.close())
	}
	e.idle = nil
	return errors.Join(failed...)
}

// operand is an array of a call.
type operand[T kernelmill.Number] struct {
	data    []T
	written bool
	slice   *kernelmill.Slice[T]
}

// covers says whether two arrays share memory.
func (o *operand[T]) covers(other *operand[T]) bool {
	if len(o.data) == 0 || len(other.data) == 0 {
		return false
	}
	size := unsafe.Sizeof(o.data[0])
	first, second := uintptr(unsafe.Pointer(&o.data[0])), uintptr(unsafe.Pointer(&other.data[0]))
	return first < second+size*uintptr(len(other.data)) && second < first+size*uintptr(len(o.data))
}

// share makes slices of the arrays. One that is only read and shares memory with another is copied.
func share[T kernelmill.Number](e *Engine, operands []*operand[T]) error {
	for i, o := range operands {
		for j, other := range operands {
			if i != j && o.covers(other) && !o.written && (other.written || j < i) {
				o.data = append([]T(nil), o.data...)
			}
		}
		if len(o.data) == 0 {
			o.data = make([]T, 1) // nothing of it is used
		}
		slice, err := kernelmill.SliceOver(e.context, o.data)
		if err != nil {
			return err
		}
		o.slice = slice
	}
	return nil
}

// call makes a call on arrays and waits for it; calls that share memory wait for each other. What
// fails is a panic, as in gonum's own BLAS.
func call[T kernelmill.Number](e *Engine, make func(*worker) error, operands ...*operand[T]) {
	mine := spansOf(operands)
	inUse.enter(mine)
	defer inUse.leave(mine)
	w, err := e.take()
	if err != nil {
		panic(err)
	}
	defer e.give(w)
	err = share(e, operands)
	if err == nil {
		err = make(w)
	}
	err = errors.Join(err, w.stream.Synchronize())
	for _, o := range operands {
		if o.slice != nil {
			err = errors.Join(err, o.slice.Close())
		}
	}
	if err != nil {
		panic(err)
	}
}

func in[T kernelmill.Number](data []T) *operand[T]  { return &operand[T]{data: data} }
func out[T kernelmill.Number](data []T) *operand[T] { return &operand[T]{data: data, written: true} }

func (o *operand[T]) vector(increment int) kernelmill.Vector[T] {
	return kernelmill.VectorOf(o.slice).Inc(increment)
}

func (o *operand[T]) matrix(leadingDimension int) kernelmill.Matrix[T] {
	return kernelmill.MatrixOf[T](o.slice, leadingDimension)
}

// result reads the result of a reduction.
func result[T kernelmill.Element](w *worker, slice *kernelmill.Slice[T]) (T, error) {
	var number [1]T
	err := slice.Download(w.stream, number[:])
	return number[0], err
}
