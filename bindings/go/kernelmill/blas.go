package kernelmill

import (
	"fmt"
	"runtime"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Number is what BLAS computes with: f32, f64, and complex numbers of two of those.
type Number interface {
	float32 | float64 | complex64 | complex128
}

// Half is a number of 16 bits, IEEE's or bfloat16 by the type that is given: of matrix products.
type Half uint16

// Layout says how matrices lie in memory.
type Layout int32

// The layouts.
const (
	RowMajor    Layout = raw.BLAS_LAYOUT_ROWS
	ColumnMajor Layout = raw.BLAS_LAYOUT_COLUMNS
)

// Operation says how a matrix is used.
type Operation int32

// The operations.
const (
	NoTranspose        Operation = raw.BLAS_OPERATION_NONE
	Transpose          Operation = raw.BLAS_OPERATION_TRANSPOSE
	ConjugateTranspose Operation = raw.BLAS_OPERATION_CONJUGATE_TRANSPOSE
)

// Triangle says which half of a matrix is read.
type Triangle int32

// The triangles.
const (
	Lower Triangle = raw.BLAS_TRIANGLE_LOWER
	Upper Triangle = raw.BLAS_TRIANGLE_UPPER
)

// Diagonal says whether the diagonal of a triangular matrix is read.
type Diagonal int32

// The kinds of diagonals.
const (
	StoredDiagonal Diagonal = raw.BLAS_DIAGONAL_STORED
	UnitDiagonal   Diagonal = raw.BLAS_DIAGONAL_UNIT // all ones, and not read
)

// Side says on which side of the other matrix a special one stands.
type Side int32

// The sides.
const (
	Left  Side = raw.BLAS_SIDE_LEFT
	Right Side = raw.BLAS_SIDE_RIGHT
)

// BLAS is the BLAS of level 1 to 3 in a stream. Its calls are queued, like kernels; results of
// reductions go to device memory. Negative increments begin at the end of a vector. A beta of 0
// overwrites and does not read what was there. Functions of this package take it first: [Gemm],
// [Axpy] ...; without a BLAS library they give [ErrBLASUnavailable].
type BLAS struct{ object }

// NewBLAS makes BLAS for a stream; the layout is that of all matrices.
func (s *Stream) NewBLAS(layout Layout) (*BLAS, error) {
	id, err := get[uint64](s.base(), "Stream.NewBLAS",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_blas_create(id, int32(layout), out)
		})
	if err != nil {
		return nil, err
	}
	blas := &BLAS{}
	blas.open(id, raw.Km_blas_destroy)
	return blas, nil
}

func (b *BLAS) base() *object {
	if b == nil {
		return nil
	}
	return &b.object
}

// Close lets the object go. Calls that are queued go on.
func (b *BLAS) Close() error { return b.base().close("BLAS.Close") }

// Vector is where a vector lies: in a slice from an element on, or at a device address.
type Vector[T Number] struct {
	slice     Memory
	address   uint64
	offset    uint64
	increment int64
}

// VectorOf is a vector of consecutive elements from the beginning of a slice.
func VectorOf[T Number](slice *Slice[T]) Vector[T] { return Vector[T]{slice: slice, increment: 1} }

// VectorAt is a vector at a device address.
func VectorAt[T Number](address uint64) Vector[T] {
	return Vector[T]{address: address, increment: 1}
}

// From is the vector with its first element in memory at an offset in elements.
func (v Vector[T]) From(offset int) Vector[T] {
	v.offset = uint64(int64(offset))
	return v
}

// Inc is the vector with so many elements from one to the next; negative: from its end.
func (v Vector[T]) Inc(increment int) Vector[T] {
	v.increment = int64(increment)
	return v
}

// Matrix is where a matrix lies: in a slice from an element on, or at a device address.
type Matrix[T Number | Half] struct {
	slice            Memory
	address          uint64
	offset           uint64
	leadingDimension uint64
	stride           uint64
}

// MatrixOf is a matrix from the beginning of a slice. The leading dimension is the number of elements
// from line to line, 0 for packed matrices.
func MatrixOf[T Number | Half](slice Memory, leadingDimension int) Matrix[T] {
	return Matrix[T]{slice: slice, leadingDimension: uint64(int64(leadingDimension))}
}

// MatrixAt is a matrix at a device address.
func MatrixAt[T Number | Half](address uint64, leadingDimension int) Matrix[T] {
	return Matrix[T]{address: address, leadingDimension: uint64(int64(leadingDimension))}
}

// From is the matrix with its first element at an offset in elements.
func (m Matrix[T]) From(offset int) Matrix[T] {
	m.offset = uint64(int64(offset))
	return m
}

// Stride is the matrix as the first of a batch, each so many elements after the one before.
func (m Matrix[T]) Stride(elements int) Matrix[T] {
	m.stride = uint64(int64(elements))
	return m
}

// blasCall puts a call together. The first thing that is wrong is what it gives.
type blasCall struct {
	op     string
	id     uint64
	owner  *object
	kept   []*object
	failed error
}

func beginBLAS(blas *BLAS, op string) *blasCall {
	return beginCall(blas.base(), op, "the BLAS object")
}

// beginCall begins a call of an object, which a message names.
func beginCall(owner *object, op, name string) *blasCall {
	id, err := owner.useArgument(op, name)
	return &blasCall{op: op, id: id, owner: owner, failed: err}
}

// size is a number of elements.
func (c *blasCall) size(name string, count int) uint64 {
	if count < 0 && c.failed == nil {
		c.failed = fail(c.op, ErrInvalidArgument, fmt.Sprintf("%s is %d: it is negative", name, count))
	}
	return uint64(int64(count))
}

// sliceOf is the handle of an array, which is kept until the call is made.
func (c *blasCall) sliceOf(name string, slice Memory, address uint64) uint64 {
	if c.failed != nil || slice == nil && address != 0 {
		return 0
	}
	owner := baseOf(slice)
	id, err := owner.useArgument(c.op, name)
	c.failed = err
	c.kept = append(c.kept, owner)
	return id
}

func vectorIn[T Number](c *blasCall, name string, v Vector[T]) unsafe.Pointer {
	return unsafe.Pointer(&raw.BlasVector{Slice: c.sliceOf(name, v.slice, v.address),
		Address: v.address, Offset: v.offset, Increment: v.increment})
}

func matrixIn[T Number | Half](c *blasCall, name string, m Matrix[T]) unsafe.Pointer {
	return unsafe.Pointer(&raw.BlasMatrix{Slice: c.sliceOf(name, m.slice, m.address),
		Address: m.address, Offset: m.offset, LeadingDimension: m.leadingDimension,
		Stride: m.stride})
}

// resultIn is where a reduction puts its result: the first element of a slice.
func resultIn(c *blasCall, slice Memory) unsafe.Pointer {
	return unsafe.Pointer(&raw.BlasVector{Slice: c.sliceOf("the result", slice, 0), Increment: 1})
}

// end makes the call, if nothing is wrong.
func (c *blasCall) end(call func(id uint64) *raw.Failure) error {
	if c.failed != nil {
		return c.failed
	}
	failure := call(c.id)
	runtime.KeepAlive(c.owner)
	runtime.KeepAlive(c.kept)
	return check(c.op, failure)
}

// typeOf is the library's name of a type.
func typeOf[T Number]() int32 {
	var number T
	switch any(number).(type) {
	case float32:
		return raw.DATA_TYPE_F32
	case float64:
		return raw.DATA_TYPE_F64
	case complex64:
		return raw.DATA_TYPE_C32
	}
	return raw.DATA_TYPE_C64
}

// place is where the library reads a scalar.
func place[T any](scalar T) unsafe.Pointer { return unsafe.Pointer(&scalar) }

// realPlace is a real scalar, of the precision of T.
func realPlace[T Number](scalar float64) unsafe.Pointer {
	if kind := typeOf[T](); kind == raw.DATA_TYPE_F32 || kind == raw.DATA_TYPE_C32 {
		return place(float32(scalar))
	}
	return place(scalar)
}
