package guda

import (
	"sync"

	runtimes "github.com/kernelmill/kernelmill/bindings/go/guda"
)

// Context is the current device, for calls as methods. The nil one and the zero one are fine.
type Context struct{}

// NewContext gives a context of the current device.
func NewContext() *Context { return &Context{} }

// Destroy does nothing: [Reset] frees what there is.
func (c *Context) Destroy() {}

// Malloc is [Malloc].
func (c *Context) Malloc(size int) (DevicePtr, error) { return Malloc(size) }

// Free is [Free].
func (c *Context) Free(ptr DevicePtr) error { return Free(ptr) }

// Memcpy is [Memcpy].
func (c *Context) Memcpy(dst, src any, size int, kind MemcpyKind) error {
	return Memcpy(dst, src, size, kind)
}

// Synchronize is [Synchronize].
func (c *Context) Synchronize() error { return Synchronize() }

// Launch is [Launch].
func (c *Context) Launch(kernel Kernel, grid, block Dim3, args ...any) error {
	return Launch(kernel, grid, block, args...)
}

// LaunchFunc is [LaunchFunc].
func (c *Context) LaunchFunc(kernel KernelFunc, grid, block Dim3, args ...any) error {
	return LaunchFunc(kernel, grid, block, args...)
}

// LaunchKernel is [Launch].
func (c *Context) LaunchKernel(kernel Kernel, grid, block Dim3, args ...any) error {
	return Launch(kernel, grid, block, args...)
}

// LaunchStream queues a kernel in a stream.
func (c *Context) LaunchStream(
	kernel Kernel, grid, block Dim3, stream *Stream, args ...any,
) error {
	return runtimes.LaunchKernel(kernel, grid, block, 0, stream.resolve(), args...)
}

// LaunchFuncStream queues a function in a stream.
func (c *Context) LaunchFuncStream(
	kernel KernelFunc, grid, block Dim3, stream *Stream, args ...any,
) error {
	return runtimes.LaunchKernel(kernel, grid, block, 0, stream.resolve(), args...)
}

// CreateStream makes a stream; nil, which is the default stream, when it cannot be had.
func (c *Context) CreateStream() *Stream {
	stream, err := runtimes.StreamCreate()
	if err != nil {
		return nil
	}
	return &Stream{stream}
}

// Stream is an ordered queue of work; nil is the default stream.
type Stream struct{ stream runtimes.Stream }

func (s *Stream) resolve() runtimes.Stream {
	if s == nil {
		return runtimes.Stream{}
	}
	return s.stream
}

// Submit queues a function; its panic is an error of the stream. It may not wait for the stream.
func (s *Stream) Submit(task func()) {
	var kernel runtimes.ThreadFunc
	if task != nil {
		kernel = func(ThreadID) { task() }
	}
	// Its error is that of Synchronize.
	_ = runtimes.LaunchKernel(kernel, Dim3{X: 1}, Dim3{X: 1}, 0, s.resolve())
}

// Synchronize waits until the work of the stream is done; what failed is given by the function
// [Synchronize].
func (s *Stream) Synchronize() { _ = runtimes.StreamSynchronize(s.resolve()) }

// MemoryPool keeps device memory that is freed and gives it out again.
type MemoryPool struct {
	pool      runtimes.MemoryPool
	mutex     sync.Mutex
	sizes     map[DevicePtr]int64
	allocated int64
	peak      int64
}

// NewMemoryPool makes a pool.
func NewMemoryPool() *MemoryPool { return &MemoryPool{} }

// Allocate takes memory of the current device.
func (p *MemoryPool) Allocate(size int) (DevicePtr, error) {
	ptr := p.pool.Allocate(size)
	if ptr == 0 {
		return 0, runtimes.GetLastError()
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.sizes == nil {
		p.sizes = map[DevicePtr]int64{}
	}
	p.sizes[ptr] = int64(size)
	p.allocated += int64(size)
	p.peak = max(p.peak, p.allocated)
	return ptr, nil
}

// Free gives memory back to the pool; memory that is not of the pool is an error.
func (p *MemoryPool) Free(ptr DevicePtr) error {
	p.mutex.Lock()
	size, known := p.sizes[ptr]
	delete(p.sizes, ptr)
	p.allocated -= size
	p.mutex.Unlock()
	if !known {
		return runtimes.InvalidValue("%#x is no memory of the pool, or was freed", uintptr(ptr))
	}
	p.pool.Free(ptr)
	return nil
}

// GetStats is how many bytes are given out, and how many were at most.
func (p *MemoryPool) GetStats() (allocated, peak int64) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.allocated, p.peak
}
