package guda

import (
	_ "embed"
	"sync"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// ownPTX has the kernels of this package's own functions on vectors; kernels.cu is their source.
//
//go:embed generated/kernels.ptx
var ownPTX string

// ownKernels are those kernels on a device.
type ownKernels struct {
	mutex     sync.Mutex
	module    *Module
	functions map[string]*Function
}

// forget drops them, for the device's reset.
func (k *ownKernels) forget() {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	k.module, k.functions = nil, nil
}

// ownKernel gives one of the kernels, which the first use loads.
func (d *Device) ownKernel(name string) (*Function, error) {
	d.own.mutex.Lock()
	defer d.own.mutex.Unlock()
	if function := d.own.functions[name]; function != nil {
		return function, nil
	}
	if d.own.module == nil {
		opened, err := d.open()
		if err != nil {
			return nil, err
		}
		module, err := opened.LoadPTX(ownPTX, "")
		if err != nil {
			return nil, err
		}
		d.own.module, d.own.functions = &Module{module, d}, map[string]*Function{}
	}
	function, err := d.own.module.GetFunction(name)
	if err == nil {
		d.own.functions[name] = function
	}
	return function, err
}

const (
	ownThreads = 256 // of a block, as kernels.cu has it
	ownBlocks  = 64  // at most
)

// run queues one of the kernels for n numbers in the stream.
func (s *streamState) run(name string, n int, args ...any) error {
	return s.runBlocks(name, min((n-1)/ownThreads+1, ownBlocks*ownThreads), args...)
}

func (s *streamState) runBlocks(name string, blocks int, args ...any) error {
	function, err := s.device.ownKernel(name)
	if err != nil {
		return err
	}
	return function.launch(s, Dim3{X: blocks}.sizes(), Dim3{X: ownThreads}.sizes(), 0, args)
}

// holds says whether there are so many numbers of f32 from an address on.
func (d *Device) holds(ptr DevicePtr, count int) error {
	size := d.sizeFrom(ptr)
	if count < 0 || count > size/4 {
		return invalid("%d numbers of f32 in the %d bytes at %#x", count, size, uintptr(ptr))
	}
	return nil
}

// vectorCall runs a call on vectors of n numbers each in the default stream of the device that has the
// first, unless n is 0.
func vectorCall(n int, call func(*streamState) error, vectors ...DevicePtr) error {
	return inDefault(vectors[0], n, func(s *streamState) error {
		for _, ptr := range vectors {
			if err := s.device.holds(ptr, n); err != nil {
				return err
			}
		}
		if n == 0 {
			return nil
		}
		return call(s)
	})
}

// partial runs a kernel whose blocks write a number each, and gives those.
func partial[T kernelmill.Element](
	s *streamState, name string, n int, give func(out *kernelmill.Slice[T]) []any,
) ([]T, error) {
	blocks := min((n-1)/(16*ownThreads)+1, ownBlocks)
	out, err := kernelmill.NewSliceOn[T](s.stream, blocks)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	if err := s.runBlocks(name, blocks, give(out)...); err != nil {
		return nil, err
	}
	return out.ToHost(s.stream)
}
