package guda

import (
	"errors"
	"sync"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// blocks are the pools behind both kinds of pools: one for each device that was used.
type blocks struct {
	mutex sync.Mutex
	pools map[*Device]*kernelmill.Pool
	given map[DevicePtr]bool // what is in use
}

// allocate takes a block of the current device's pool.
func (b *blocks) allocate(size int) DevicePtr {
	if b == nil {
		_ = noteInvalid("the pool is nil") // for GetLastError
		return 0
	}
	device, err := currentDevice()
	if err != nil {
		return 0
	}
	pool, err := b.pool(device)
	if err != nil {
		_ = device.done(err) // for GetLastError
		return 0
	}
	state, err := device.defaultStream()
	if err != nil {
		_ = device.done(err)
		return 0
	}
	// In stream order: a block of whose uses some are still queued there is taken at once.
	ptr := device.allocate(size, func(*kernelmill.Context) (*kernelmill.Slice[byte], error) {
		return kernelmill.PoolSliceOn[byte](pool, state.stream, size)
	})
	if ptr != 0 {
		b.mutex.Lock()
		b.given[ptr] = true
		b.mutex.Unlock()
	}
	return ptr
}

// pool is that of a device, a new one after a reset.
func (b *blocks) pool(device *Device) (*kernelmill.Pool, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.pools == nil {
		b.pools, b.given = map[*Device]*kernelmill.Pool{}, map[DevicePtr]bool{}
	}
	if pool := b.pools[device]; pool != nil {
		if _, err := pool.Info(); !errors.Is(err, kernelmill.ErrContextLost) {
			return pool, nil
		}
		_ = pool.Close() // it is lost
	}
	opened, err := device.open()
	if err != nil {
		return nil, err
	}
	pool, err := opened.NewPool(0)
	if err == nil {
		b.pools[device] = pool
	}
	return pool, err
}

// free gives a block back, without waiting for work that uses it; one that is not of these pools is
// left alone.
func (b *blocks) free(ptr DevicePtr) bool {
	if b == nil {
		return false
	}
	b.mutex.Lock()
	isGiven := b.given[ptr]
	delete(b.given, ptr)
	b.mutex.Unlock()
	if !isGiven {
		return false
	}
	found, known := memory.LoadAndDelete(ptr)
	return known && found.(*allocation).drop() == nil
}

// trim gives all free blocks back to their devices, those of which uses are still queued when these
// are done.
func (b *blocks) trim() {
	if b == nil {
		return
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for device, pool := range b.pools {
		_ = device.settle() // for GetLastError
		if err := pool.Trim(0); err != nil && !errors.Is(err, kernelmill.ErrContextLost) {
			_ = device.done(err) // for GetLastError
		}
	}
}

// reused is how many allocations took a block that was there.
func (b *blocks) reused() uint64 {
	if b == nil {
		return 0
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	var count uint64
	for _, pool := range b.pools {
		if info, err := pool.Info(); err == nil {
			count += info.ReuseCount
		}
	}
	return count
}

// RuntimeMemoryPool keeps device memory that is freed and gives it out again. A block is at most an
// eighth larger than what was asked for. Many goroutines may use one.
type RuntimeMemoryPool struct{ blocks blocks }

// NewRuntimeMemoryPool makes a pool.
func NewRuntimeMemoryPool() *RuntimeMemoryPool { return &RuntimeMemoryPool{} }

// all is what the pool consists of; nil for nil.
func (p *RuntimeMemoryPool) all() *blocks {
	if p == nil {
		return nil
	}
	return &p.blocks
}

// Malloc takes memory of the current device; 0 when there is none: [GetLastError] says why.
func (p *RuntimeMemoryPool) Malloc(size int) DevicePtr { return p.all().allocate(size) }

// Free gives memory back to the pool. Its size follows from the pointer; memory that is not of the
// pool is left alone, and is an error of [GetLastError].
func (p *RuntimeMemoryPool) Free(ptr DevicePtr, size int) {
	if ptr != 0 && !p.all().free(ptr) {
		_ = noteInvalid("%#x, of %d bytes, is no memory of the pool, or was freed", uintptr(ptr), size)
	}
}

// Reused is how many allocations took memory that was there.
func (p *RuntimeMemoryPool) Reused() uint64 { return p.all().reused() }

// Trim waits until the work of the devices is done, and gives what is free back to them.
func (p *RuntimeMemoryPool) Trim() { p.all().trim() }

// MemoryPool is a pool that knows the sizes of what it gave out.
type MemoryPool struct{ blocks blocks }

// NewMemoryPool makes a pool.
func NewMemoryPool() *MemoryPool { return &MemoryPool{} }

// all is what the pool consists of; nil for nil.
func (p *MemoryPool) all() *blocks {
	if p == nil {
		return nil
	}
	return &p.blocks
}

// Allocate takes memory of the current device; 0 when there is none: [GetLastError] says why.
func (p *MemoryPool) Allocate(size int) DevicePtr { return p.all().allocate(size) }

// Free gives memory back to the pool. Memory that is not of the pool is ignored.
func (p *MemoryPool) Free(ptr DevicePtr) { p.all().free(ptr) }

// Reused is how many allocations took memory that was there.
func (p *MemoryPool) Reused() uint64 { return p.all().reused() }

// Cleanup waits until the work of the devices is done, and gives what is free back to them: it is
// there for others when it returns. What is in use stays, and the pool can be used on.
func (p *MemoryPool) Cleanup() { p.all().trim() }
