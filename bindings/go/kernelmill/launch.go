package kernelmill

import (
	"errors"
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
	special   *special // of launches that say more than grid, block and shared memory
	err       error
}

// special is what the one call for all of a launch does not take.
type special struct {
	cluster     [3]uint32
	cooperative bool
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

// Renew makes the launch one of the same kernel in another stream and of another shape, without
// arguments, with the memory that it has: for launches that are made often. Sizes of 0 stay as they
// are, and are refused by Submit.
func (l *LaunchBuilder) Renew(
	stream *Stream, grid, block [3]uint32, sharedBytes uint64,
) *LaunchBuilder {
	if l == nil || l.config == nil {
		return l
	}
	*l.config = raw.LaunchConfig{Grid: grid, Block: block, SharedBytes: sharedBytes}
	l.Forget()
	l.stream = stream
	return l
}

// Forget lets stream and arguments of the launch go, so that it keeps nothing until Renew.
func (l *LaunchBuilder) Forget() {
	if l == nil {
		return
	}
	clear(l.kept)
	l.operands, l.kept = l.operands[:0], l.kept[:0]
	l.stream, l.next, l.special, l.submitted, l.err = nil, 0, nil, false, nil
}

// MemoryArg gives a slice from an offset on as the next argument.
func (l *LaunchBuilder) MemoryArg(memory Memory, offsetBytes uint64) *LaunchBuilder {
	if !l.isUsable() {
		return l
	}
	l.slice(memory, raw.ACCESS_READ_WRITE)
	if l.err == nil {
		l.operands[len(l.operands)-1].OffsetBytes = offsetBytes
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

// Cluster sets the number of blocks of a cluster along x, and along y and z where given: they use
// each other's shared memory and wait for each other.
func (l *LaunchBuilder) Cluster(blocks ...int) *LaunchBuilder {
	if l.isUsable() {
		l.dimensions("LaunchBuilder.Cluster", &l.specials().cluster, blocks)
	}
	return l
}

// Cooperative has all blocks of the grid be there at a time, so that they may wait for each other
// (grid.sync of cooperative groups). Where they do not fit the device, Submit fails.
func (l *LaunchBuilder) Cooperative() *LaunchBuilder {
	if l.isUsable() {
		l.specials().cooperative = true
	}
	return l
}

func (l *LaunchBuilder) specials() *special {
	if l.special == nil {
		l.special = &special{}
	}
	return l.special
}

func (l *LaunchBuilder) isSpecial() bool { return l.special != nil }

// Args gives the next arguments: a *Slice, or [ReadOnly] of one that the kernel only reads, a number
// of a fixed size (int32, not int), a bool, or a structure or array of those. What is given after
// Submit begins again with the first parameter.
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
		l.scalar(unsafe.Slice((*byte)(unsafe.Pointer(&address)), unsafe.Sizeof(address)),
			ElementPointer)
	}
	return l
}

// Submit queues the kernel. It may be called again, to queue the same once more.
func (l *LaunchBuilder) Submit() error {
	const op = "LaunchBuilder.Submit"
	if l == nil {
		return nilError(op, "the launch")
	}
	if err := l.complete(op); err != nil {
		return err
	}
	l.submitted = true
	if l.special != nil {
		return l.submitSpecial(op)
	}
	stream, err := l.stream.base().use("Stream.Launch")
	if err != nil {
		return renamed(op, err)
	}
	function, err := l.function.base().useArgument(op, "the function")
	if err != nil {
		return err
	}
	failure := raw.Km_launch_kernel_operands(stream, function, unsafe.Pointer(l.config),
		unsafe.Pointer(unsafe.SliceData(l.arguments)), uint64(len(l.arguments)),
		unsafe.Pointer(unsafe.SliceData(l.operands)), uint64(len(l.operands)))
	runtime.KeepAlive(l)
	return check(op, failure)
}

// complete gives what is wrong, or that there are too few arguments.
func (l *LaunchBuilder) complete(op string) error {
	if !l.isUsable() {
		return l.err
	}
	if l.next != len(l.function.parameters) {
		return fail(op, ErrInvalidLaunch, fmt.Sprintf("%s takes %s, %d given",
			l.function.name, counted(uint64(len(l.function.parameters)), "argument"), l.next))
	}
	return nil
}

// submitSpecial queues the kernel by a launch of the library, to which it gives the arguments one by one.
func (l *LaunchBuilder) submitSpecial(op string) error {
	function, err := l.function.base().useArgument(op, "the function")
	if err != nil {
		return err
	}
	launch, err := getFrom[uint64](l.stream.base(), op, "the stream",
		func(stream uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_launch_create(stream, function, out)
		})
	if err != nil {
		return err
	}
	grid, block, cluster := l.config.Grid, l.config.Block, l.special.cluster
	cooperative := uint32(0)
	if l.special.cooperative {
		cooperative = 1
	}
	failure := firstOf(
		func() *raw.Failure { return raw.Km_launch_set_grid(launch, grid[0], grid[1], grid[2]) },
		func() *raw.Failure { return raw.Km_launch_set_block(launch, block[0], block[1], block[2]) },
		func() *raw.Failure { return raw.Km_launch_set_shared_bytes(launch, l.config.SharedBytes) },
		func() *raw.Failure {
			return raw.Km_launch_set_cluster(launch, cluster[0], cluster[1], cluster[2])
		},
		func() *raw.Failure { return raw.Km_launch_set_cooperative(launch, cooperative) },
		func() *raw.Failure { return l.giveArguments(launch) },
		func() *raw.Failure { return raw.Km_launch_submit(launch) },
	)
	runtime.KeepAlive(l)
	return errors.Join(check(op, failure), check(op, raw.Km_launch_destroy(launch)))
}

// giveArguments gives a launch of the library the arguments one by one.
func (l *LaunchBuilder) giveArguments(launch uint64) *raw.Failure {
	operands := l.operands
	for i, parameter := range l.function.parameters {
		var failure *raw.Failure
		if len(operands) > 0 && operands[0].Parameter == uint32(i) {
			failure = raw.Km_launch_arg_slice_access(launch, operands[0].Slice,
				operands[0].OffsetBytes, operands[0].SizeBytes, operands[0].Access)
			operands = operands[1:]
		} else {
			failure = raw.Km_launch_arg_scalar(launch,
				unsafe.Pointer(&l.arguments[parameter.OffsetBytes]), parameter.SizeBytes)
		}
		if failure != nil {
			return failure
		}
	}
	return nil
}

// firstOf makes raw calls up to the first that fails.
func firstOf(calls ...func() *raw.Failure) *raw.Failure {
	for _, call := range calls {
		if failure := call(); failure != nil {
			return failure
		}
	}
	return nil
}

// isUsable says whether nothing was wrong so far.
func (l *LaunchBuilder) isUsable() bool {
	if l != nil && l.function == nil && l.err == nil {
		l.err = nilError("Stream.Launch", "the function")
	}
	return l != nil && l.err == nil
}

func (l *LaunchBuilder) dimensions(op string, to *[3]uint32, sizes []int) {
	size, err := dimensions(op, sizes)
	if err != nil {
		l.err = err
		return
	}
	*to = size
}

// dimensions are sizes along x, and along y and z where given, else 1.
func dimensions(op string, sizes []int) ([3]uint32, error) {
	to := [3]uint32{1, 1, 1}
	if len(sizes) < 1 || len(sizes) > 3 {
		return to, fail(op, ErrInvalidLaunch,
			fmt.Sprintf("%d dimensions: give 1 to 3", len(sizes)))
	}
	for i, size := range sizes {
		if size < 0 || size > math.MaxUint32 {
			return to, fail(op, ErrInvalidLaunch, fmt.Sprintf("%v: %d is no size", sizes, size))
		}
		to[i] = uint32(size)
	}
	return to, nil
}

// Memory is a slice of any element type: every *[Slice].
type Memory interface {
	base() *object
	sizeBytes() uint64
	Len() int
	IsView() bool
}

// baseOf is the object of a slice, nil for none.
func baseOf(memory Memory) *object {
	if memory == nil {
		return nil
	}
	return memory.base()
}

// ReadOnlySlice is a slice that a kernel is given to read: see [ReadOnly].
type ReadOnlySlice struct{ memory Memory }

// ReadOnly makes a slice an argument that the kernel only reads, so that the launch need not wait
// for others that read it on other streams, nor they for it. A kernel that writes it all the same
// races with them.
func ReadOnly[T Element](slice *Slice[T]) ReadOnlySlice { return ReadOnlySlice{slice} }

func (l *LaunchBuilder) argument(argument any) {
	switch value := argument.(type) {
	case Memory:
		l.slice(value, raw.ACCESS_READ_WRITE)
	case ReadOnlySlice:
		l.slice(value.memory, raw.ACCESS_READ)
	case int32:
		l.scalar(unsafe.Slice((*byte)(unsafe.Pointer(&value)), 4), ElementI32)
	case uint32:
		l.scalar(unsafe.Slice((*byte)(unsafe.Pointer(&value)), 4), ElementU32)
	case float32:
		l.scalar(unsafe.Slice((*byte)(unsafe.Pointer(&value)), 4), ElementF32)
	default:
		l.reflected(argument)
	}
}

// reflected takes the values of all other types that have the same bytes in C.
func (l *LaunchBuilder) reflected(argument any) {
	kind := reflect.TypeOf(argument)
	if why := unfitForC(kind); why != "" {
		if _, ok := l.parameter(); ok {
			l.refuse(fmt.Sprintf("of type %v: %s", kind, why))
		}
		return
	}
	copied := reflect.New(kind)
	copied.Elem().Set(reflect.ValueOf(argument))
	element := ElementUnknown
	if typed, is := argument.(TypedElement); is {
		element = typed.DeviceElement()
	} else if kind.Kind() < reflect.Kind(len(elementTypes)) {
		element = elementTypes[kind.Kind()]
	}
	l.scalar(unsafe.Slice((*byte)(copied.UnsafePointer()), kind.Size()), element)
}

// unfitForC says why values of a type cannot be arguments, if they cannot.
func unfitForC(kind reflect.Type) string {
	if kind == nil {
		return "nil is no value; give a slice or a number"
	}
	switch kind.Kind() {
	case reflect.Int, reflect.Uint, reflect.Uintptr:
		return "its size is not fixed; give an int32, a uint64 ..."
	case reflect.Array:
		return unfitForC(kind.Elem())
	case reflect.Slice:
		return "kernels do not see memory of Go; give a Slice: SliceOf copies this to the device"
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
	return "kernels take a Slice, numbers, and structures and arrays of numbers; give one of them"
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

func (l *LaunchBuilder) slice(memory Memory, access int32) {
	parameter, ok := l.parameter()
	if !ok {
		return
	}
	owner := baseOf(memory)
	id, err := owner.useArgument("LaunchBuilder.Args", fmt.Sprintf("argument %d", l.next-1))
	if err != nil {
		l.err = err
		return
	}
	if !isFit(parameter, 8, ElementPointer) {
		l.misfit(8, ElementPointer)
		return
	}
	operand := raw.LaunchOperand{Parameter: uint32(l.next - 1), Access: access, Slice: id}
	l.operands = append(l.operands, operand)
	l.kept = append(l.kept, owner)
}

func (l *LaunchBuilder) scalar(bytes []byte, element ElementType) {
	parameter, ok := l.parameter()
	if !ok {
		return
	}
	if !isFit(parameter, uint64(len(bytes)), element) {
		l.misfit(uint64(len(bytes)), element)
		return
	}
	copy(l.arguments[parameter.OffsetBytes:], bytes)
}

// isFit says whether a value has the size of a parameter and, as far as both are known, is a
// floating-point number if that is one. Half floats and vectors are not told apart.
func isFit(parameter *raw.ParamInfo, sizeBytes uint64, element ElementType) bool {
	if parameter.SizeBytes != sizeBytes {
		return false
	}
	isFloat := element == ElementF32 || element == ElementF64
	isOther := element == ElementPointer || element >= ElementI32 && element <= ElementU64
	takesFloat := parameter.ValueType == raw.PARAM_TYPE_FLOAT
	takesOther := parameter.ValueType == raw.PARAM_TYPE_INTEGER ||
		parameter.Kind == raw.PARAM_KIND_POINTER
	return !(isFloat && takesOther) && !(isOther && takesFloat)
}

// misfit keeps what is wrong with the argument given last, in the words of the library, which knows
// the types of the source.
func (l *LaunchBuilder) misfit(sizeBytes uint64, element ElementType) {
	lanes := uint32(1)
	if element == ElementUnknown {
		lanes = 0
	}
	index := uint32(max(l.next-1, 0))
	l.err = l.function.base().call("LaunchBuilder.Args", func(id uint64) *raw.Failure {
		return raw.Km_function_check_argument(id, index, int32(element), lanes, sizeBytes)
	})
	if l.err == nil {
		l.refuse(fmt.Sprintf("of %s, which do not fit", counted(sizeBytes, "byte")))
	}
}

// refuse keeps what is wrong with the argument given last.
func (l *LaunchBuilder) refuse(what string) {
	l.err = fail("LaunchBuilder.Args", ErrInvalidLaunch,
		fmt.Sprintf("argument %d of %s is %s", max(l.next-1, 0), l.function.name, what))
}
