package kernelmill

import (
	"fmt"
	"math"
	"reflect"
	"runtime"
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// LaunchBuilder puts one kernel call together, for one goroutine:
//
//	err := stream.Launch(function).Grid(64).Block(256).Args(x, y, float32(2)).Submit()
//
// The first thing that is wrong is what Submit returns.
type LaunchBuilder struct {
	stream    *Stream
	function  *Function
	config    *raw.LaunchConfig // apart, as are the next two: C may see no Go pointers
	arguments []byte
	operands  []raw.LaunchOperand
	kept      []*object // behind operands, until the call is made
	next      int       // parameter
	submitted bool
	err       error
}

// Launch begins a kernel call in the stream, of one block with one thread if nothing else is said.
func (s *Stream) Launch(function *Function) *LaunchBuilder {
	one := [3]uint32{1, 1, 1}
	l := &LaunchBuilder{stream: s, function: function}
	l.config = &raw.LaunchConfig{Grid: one, Block: one}
	if !l.isUsable() {
		return l
	}
	if count := len(function.parameters); count > 0 {
		last := function.parameters[count-1]
		l.arguments = make([]byte, last.OffsetBytes+last.SizeBytes)
	}
	return l
}

// Grid sets the number of blocks along x, and along y and z where given.
func (l *LaunchBuilder) Grid(blocks ...int) *LaunchBuilder {
	if l.isUsable() {
		l.dimensions("LaunchBuilder.Grid", &l.config.Grid, blocks)
	}
	return l
}

// Block sets the number of threads of a block along x, and along y and z where given.
func (l *LaunchBuilder) Block(threads ...int) *LaunchBuilder {
	if l.isUsable() {
		l.dimensions("LaunchBuilder.Block", &l.config.Block, threads)
	}
	return l
}

// SharedBytes sets the dynamic shared memory of each block.
func (l *LaunchBuilder) SharedBytes(size uint64) *LaunchBuilder {
	if l.isUsable() {
		l.config.SharedBytes = size
	}
	return l
}

// Args gives the next arguments: a *Slice, or [ReadOnly] of one that the kernel only reads, a number
// of a fixed size (int32, not int), a bool, or a structure or array of those. What is given after
// Submit begins anew with the first parameter.
func (l *LaunchBuilder) Args(arguments ...any) *LaunchBuilder {
	for _, argument := range arguments {
		if l.isUsable() {
			l.argument(argument)
		}
	}
	return l
}

// AddressArg gives a raw device address as the next argument. It is not checked.
func (l *LaunchBuilder) AddressArg(address uint64) *LaunchBuilder {
	if l.isUsable() {
		l.scalar(unsafe.Slice((*byte)(unsafe.Pointer(&address)), unsafe.Sizeof(address)))
	}
	return l
}

// Submit queues the kernel. It may be called again, to queue the same once more.
func (l *LaunchBuilder) Submit() error {
	const op = "LaunchBuilder.Submit"
	if l == nil {
		return nilError(op, "the launch")
	}
	if !l.isUsable() {
		return l.err
	}
	if l.next != len(l.function.parameters) {
		return fail(op, ErrInvalidLaunch, fmt.Sprintf("%s takes %s, %d given",
			l.function.name, counted(uint64(len(l.function.parameters)), "argument"), l.next))
	}
	l.submitted = true
	err := l.stream.base().callWith("LaunchBuilder.Submit", l.function.base(), "the function",
		func(stream, function uint64) *raw.Failure {
			return raw.Km_launch_kernel_operands(stream, function, unsafe.Pointer(l.config),
				unsafe.Pointer(unsafe.SliceData(l.arguments)), uint64(len(l.arguments)),
				unsafe.Pointer(unsafe.SliceData(l.operands)), uint64(len(l.operands)))
		})
	runtime.KeepAlive(l)
	return err
}

// isUsable says whether nothing was wrong so far.
func (l *LaunchBuilder) isUsable() bool {
	if l != nil && l.function == nil && l.err == nil {
		l.err = nilError("Stream.Launch", "the function")
	}
	return l != nil && l.err == nil
}

func (l *LaunchBuilder) dimensions(op string, to *[3]uint32, sizes []int) {
	if len(sizes) < 1 || len(sizes) > 3 {
		l.err = fail(op, ErrInvalidLaunch, fmt.Sprintf("%d dimensions: give 1 to 3", len(sizes)))
		return
	}
	*to = [3]uint32{1, 1, 1}
	for i, size := range sizes {
		if size < 0 || size > math.MaxUint32 {
			l.err = fail(op, ErrInvalidLaunch, fmt.Sprintf("%v: %d is no size", sizes, size))
			return
		}
		to[i] = uint32(size)
	}
}

// deviceMemory is a slice of any element type.
type deviceMemory interface {
	base() *object
	IsView() bool
}

// ReadOnlySlice is a slice that a kernel is given to read: see [ReadOnly].
type ReadOnlySlice struct{ memory deviceMemory }

// ReadOnly makes a slice an argument that the kernel only reads, so that the launch need not wait
// for others that read it on other streams, nor they for it. A kernel that writes it all the same
// races with them.
func ReadOnly[T Element](slice *Slice[T]) ReadOnlySlice { return ReadOnlySlice{slice} }

func (l *LaunchBuilder) argument(argument any) {
	switch value := argument.(type) {
	case deviceMemory:
		l.slice(value, raw.ACCESS_READ_WRITE)
	case ReadOnlySlice:
		l.slice(value.memory, raw.ACCESS_READ)
	case int32:
		l.scalar(unsafe.Slice((*byte)(unsafe.Pointer(&value)), 4))
	case uint32:
		l.scalar(unsafe.Slice((*byte)(unsafe.Pointer(&value)), 4))
	case float32:
		l.scalar(unsafe.Slice((*byte)(unsafe.Pointer(&value)), 4))
	default:
		l.reflected(argument)
	}
}

// reflected takes the values of all other types that have the same bytes in C.
func (l *LaunchBuilder) reflected(argument any) {
	kind := reflect.TypeOf(argument)
	if why := unfitForC(kind); why != "" {
		l.refuse(fmt.Sprintf("a %v: %s", kind, why))
		return
	}
	copied := reflect.New(kind)
	copied.Elem().Set(reflect.ValueOf(argument))
	l.scalar(unsafe.Slice((*byte)(copied.UnsafePointer()), kind.Size()))
}

// unfitForC says why values of a type cannot be arguments, if they cannot.
func unfitForC(kind reflect.Type) string {
	if kind == nil {
		return "nil is no value"
	}
	switch kind.Kind() {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return "its size is not fixed: use int32, uint64 ..."
	case reflect.Array:
		return unfitForC(kind.Elem())
	case reflect.Struct:
		for i := range kind.NumField() {
			if why := unfitForC(kind.Field(i).Type); why != "" {
				return "field " + kind.Field(i).Name + ": " + why
			}
		}
		return ""
	}
	if kind.Kind() > reflect.Invalid && kind.Kind() <= reflect.Complex128 {
		return ""
	}
	return "kernels take slices, numbers, and structures and arrays of numbers"
}

// parameter is the next one, if there is one.
func (l *LaunchBuilder) parameter() (*raw.ParamInfo, bool) {
	if l.submitted {
		l.next, l.operands, l.kept, l.submitted = 0, l.operands[:0], l.kept[:0], false
	}
	if l.next == len(l.function.parameters) {
		l.err = fail("LaunchBuilder.Args", ErrInvalidLaunch, fmt.Sprintf(
			"%s takes %d arguments, one more was given", l.function.name, l.next))
		return nil, false
	}
	l.next++
	return &l.function.parameters[l.next-1], true
}

func (l *LaunchBuilder) slice(memory deviceMemory, access int32) {
	parameter, ok := l.parameter()
	if !ok {
		return
	}
	var owner *object
	if memory != nil {
		owner = memory.base()
	}
	id, err := owner.useArgument("LaunchBuilder.Args", fmt.Sprintf("argument %d", l.next-1))
	if err != nil {
		l.err = err
		return
	}
	if parameter.SizeBytes != 8 {
		l.refuse(fmt.Sprintf("a slice, where the kernel takes %s",
			counted(parameter.SizeBytes, "byte")))
		return
	}
	operand := raw.LaunchOperand{Parameter: uint32(l.next - 1), Access: access, Slice: id}
	l.operands = append(l.operands, operand)
	l.kept = append(l.kept, owner)
}

func (l *LaunchBuilder) scalar(bytes []byte) {
	parameter, ok := l.parameter()
	if !ok {
		return
	}
	if parameter.SizeBytes != uint64(len(bytes)) {
		l.refuse(fmt.Sprintf("%s, where the kernel takes %d", counted(uint64(len(bytes)), "byte"),
			parameter.SizeBytes))
		return
	}
	copy(l.arguments[parameter.OffsetBytes:], bytes)
}

// refuse keeps what is wrong with the argument given last.
func (l *LaunchBuilder) refuse(what string) {
	l.err = fail("LaunchBuilder.Args", ErrInvalidLaunch,
		fmt.Sprintf("argument %d of %s is %s", max(l.next-1, 0), l.function.name, what))
}
