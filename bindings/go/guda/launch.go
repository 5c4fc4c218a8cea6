package guda

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// Module is compiled PTX or CUDA C++ of a device.
type Module struct {
	module *kernelmill.Module
	device *Device
}

// ModuleLoad loads a file of PTX or CUDA C++ for the current device.
func ModuleLoad(path string) (*Module, error) {
	return loadModule(func(c *kernelmill.Context) (*kernelmill.Module, error) {
		return c.LoadFile(path)
	})
}

// ModuleLoadData loads PTX text for the current device.
func ModuleLoadData(ptx string) (*Module, error) {
	return loadModule(func(c *kernelmill.Context) (*kernelmill.Module, error) {
		return c.LoadPTX(ptx, "")
	})
}

// ModuleLoadSource compiles CUDA C++ for the current device.
func ModuleLoadSource(source string) (*Module, error) {
	return loadModule(func(c *kernelmill.Context) (*kernelmill.Module, error) {
		return c.LoadSource(source, "")
	})
}

func loadModule(load func(*kernelmill.Context) (*kernelmill.Module, error)) (*Module, error) {
	device, opened, err := openCurrent()
	if err != nil {
		return nil, err
	}
	module, err := load(opened)
	if err != nil {
		return nil, device.done(err)
	}
	return &Module{module, device}, nil
}

// ModuleUnload lets a module go. Its functions keep it.
func ModuleUnload(module *Module) error {
	if module == nil || module.device == nil {
		return noteInvalid("the module is none: ModuleLoad makes one")
	}
	return module.device.done(module.module.Close())
}

// Function is a compiled kernel.
type Function struct {
	function *kernelmill.Function
	device   *Device
	idle     atomic.Pointer[kernelmill.LaunchBuilder] // of a launch before
}

// GetFunction finds a kernel by its name in the PTX.
func (m *Module) GetFunction(name string) (*Function, error) {
	if m == nil || m.device == nil {
		return nil, noteInvalid("the module is none: ModuleLoad makes one")
	}
	function, err := m.module.Function(name)
	if err != nil {
		return nil, m.device.done(err)
	}
	return &Function{function: function, device: m.device}, nil
}

// Close lets the function go. Launches under way go on.
func (f *Function) Close() error {
	if f == nil || f.device == nil {
		return noteInvalid("the function is none: GetFunction gives one")
	}
	return f.device.done(f.function.Close())
}

// Execute is what makes a Function a [Kernel]; it is compiled code, which only [LaunchKernel] runs.
func (f *Function) Execute(ThreadID, ...any) {
	panic("guda: a compiled kernel is launched by LaunchKernel")
}

// LaunchKernel queues a kernel in a stream, once for each thread of a grid of blocks; sharedBytes is
// the dynamic shared memory of each block. Arguments of a compiled kernel are a [DevicePtr], numbers
// of a fixed size (int32, not int), a bool, or structures and arrays of those; their number and size
// are checked. Host kernels get the arguments as they are, and run on all cores; the panic of one
// becomes the error of the stream, with a [*PanicError] in it, and so does a call of runtime.Goexit,
// as in the Fatal of tests; what host kernels are queued after it do not run. It stays until
// [DeviceReset], or until the stream is gone. A host kernel may not wait for its own stream, as
// [Memcpy] in the default stream does: neither would ever end.
func LaunchKernel(
	kernel Kernel, grid, block Dim3, sharedBytes int, stream Stream, args ...any,
) error {
	state, err := stream.resolve()
	if err != nil {
		return err
	}
	grid, block = grid.sizes(), block.sizes()
	if function, isCompiled := kernel.(*Function); isCompiled {
		return state.done(function.launch(state, grid, block, sharedBytes, args))
	}
	return state.done(launchHost(state, kernel, grid, block, sharedBytes, args))
}

// Launch is LaunchKernel in the default stream of the current device, without shared memory.
func Launch(kernel Kernel, grid, block Dim3, args ...any) error {
	return LaunchKernel(kernel, grid, block, 0, Stream{}, args...)
}

// launch queues a compiled kernel.
func (f *Function) launch(s *streamState, grid, block Dim3, sharedBytes int, args []any) error {
	if f == nil {
		return invalid("the function is nil")
	}
	if sharedBytes < 0 {
		return &Error{Code: ErrorInvalidConfiguration,
			detail: fmt.Sprintf("%d bytes of shared memory", sharedBytes)}
	}
	gridSize, fits := grid.native()
	blockSize, blockFits := block.native()
	if !fits || !blockFits {
		return &Error{Code: ErrorInvalidConfiguration,
			detail: fmt.Sprintf("a grid of %v blocks of %v threads", grid, block)}
	}
	builder := f.idle.Swap(nil)
	if builder == nil { // another goroutine has it
		builder = s.stream.Launch(f.function)
	}
	builder.Renew(s.stream, gridSize, blockSize, uint64(sharedBytes))
	var within []*kernelmill.Slice[byte] // allocations that arguments point into
	for _, arg := range args {
		if slice := f.give(builder, arg); slice != nil {
			within = append(within, slice)
		}
	}
	err := builder.Submit()
	builder.Forget()
	f.idle.Store(builder)
	for _, slice := range within {
		if failed := slice.CloseOn(s.stream); failed != nil { // or else it is kept until here
			_ = slice.Close()
		}
	}
	return err
}

// native is the size as the library takes it.
func (d Dim3) native() (size [3]uint32, fits bool) {
	size = [3]uint32{uint32(d.X), uint32(d.Y), uint32(d.Z)}
	return size, int(size[0]) == d.X && int(size[1]) == d.Y && int(size[2]) == d.Z
}

// give gives a launch its next argument. An address within an allocation comes with that, to be closed
// after the launch, which is ordered by it.
func (f *Function) give(builder *kernelmill.LaunchBuilder, arg any) *kernelmill.Slice[byte] {
	ptr, isDevice := arg.(DevicePtr)
	if !isDevice {
		builder.Args(arg)
		return nil
	}
	if a, known := allocated(ptr); known {
		builder.MemoryArg(a.slice, 0) // which is kept until the kernel is done
		return nil
	}
	slice, offset := f.device.findAt(ptr)
	if slice == nil {
		builder.AddressArg(uint64(ptr))
	} else {
		builder.MemoryArg(slice, offset)
	}
	return slice
}

// launchHost queues a host kernel.
func launchHost(
	s *streamState, kernel Kernel, grid, block Dim3, sharedBytes int, args []any,
) error {
	if isNil(kernel) {
		return invalid("the kernel is nil")
	}
	for _, size := range [...]int{grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z} {
		if size < 1 || size > math.MaxInt32 {
			return &Error{Code: ErrorInvalidConfiguration,
				detail: fmt.Sprintf("a grid of %v blocks of %v threads", grid, block)}
		}
	}
	if grid.X > math.MaxInt64/grid.Y/grid.Z/(block.X*block.Y)/block.Z {
		return &Error{Code: ErrorInvalidConfiguration,
			detail: fmt.Sprintf("a grid of %v blocks of %v threads", grid, block)}
	}
	if sharedBytes != 0 {
		return &Error{Code: ErrorInvalidConfiguration, detail: "host kernels have no shared memory"}
	}
	launch := &hostLaunch{kernel: kernel, args: args, blocks: grid.Size(),
		shape: Shape{GridDim: grid, BlockDim: block}}
	return s.host.launch(s, launch)
}

// isNil says whether there is no kernel, or a function that is nil.
func isNil(kernel Kernel) bool {
	switch k := kernel.(type) {
	case nil:
		return true
	case KernelFunc:
		return k == nil
	case ThreadFunc:
		return k == nil
	case BlockFunc:
		return k == nil
	}
	return false
}
