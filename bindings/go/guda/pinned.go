package guda

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// PinnedBuffer is page-locked memory of the host: copies from and to it are asynchronous, and
// [PinnedBuffer.DevicePtr] is valid in every call that takes device memory.
type PinnedBuffer struct {
	mutex  sync.Mutex
	memory *pinnedMemory // nil after Close
	data   []float32
	device DevicePtr
}

// pinnedMemory is memory that a buffer and the device have in common: it goes with the later one.
type pinnedMemory struct {
	host   *kernelmill.HostMemory[float32]
	owners atomic.Int32
}

// drop ends what one of the owners has.
func (m *pinnedMemory) drop() error {
	if m.owners.Add(-1) > 0 {
		return nil
	}
	return m.host.Close()
}

// NewPinnedBuffer makes a buffer for a number of elements, for the current device.
func NewPinnedBuffer(elements int) (*PinnedBuffer, error) {
	device, opened, err := openCurrent()
	if err != nil {
		return nil, err
	}
	pinned, err := kernelmill.NewHostMemory[float32](opened, elements)
	if err != nil {
		return nil, device.done(err)
	}
	buffer := &PinnedBuffer{memory: &pinnedMemory{host: pinned}}
	buffer.memory.owners.Store(1)
	if buffer.data, err = pinned.Data(); err == nil {
		buffer.device, err = device.shareHost(opened, buffer.memory, bytesOf(buffer.data))
	}
	if err != nil {
		_ = buffer.memory.drop() // the first error is the one to know
		return nil, device.done(err)
	}
	return buffer, nil
}

// shareHost makes memory of the host device memory, too, which owns it until its last use.
func (d *Device) shareHost(
	opened *kernelmill.Context, memory *pinnedMemory, bytes []byte,
) (DevicePtr, error) {
	memory.owners.Add(1)
	slice, err := kernelmill.SliceOverWithRelease(opened, bytes, func() { _ = memory.drop() })
	if err != nil {
		memory.owners.Add(-1)
		return 0, err
	}
	return d.publish(&allocation{slice: slice, device: d, size: len(bytes)})
}

// Data is the memory, until Close; nil after it.
func (b *PinnedBuffer) Data() []float32 {
	if b == nil {
		return nil
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.data
}

// DevicePtr is the address of the memory for the device, on CPU devices that of the host; 0 after
// Close.
func (b *PinnedBuffer) DevicePtr() DevicePtr {
	if b == nil {
		return 0
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.device
}

// Close waits until the work of the device is done, as [Free] does, and frees the memory. Data is not
// to be touched from then on. Closing twice is fine.
func (b *PinnedBuffer) Close() error {
	if b == nil {
		return noteInvalid("the buffer is nil")
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.memory == nil {
		return nil
	}
	err := b.memory.drop()
	if _, known := allocated(b.device); known { // a reset of the device has freed it else
		err = errors.Join(err, Free(b.device))
	}
	b.memory, b.data, b.device = nil, nil, 0
	return err
}

// pinned are the buffers of AllocatePinnedMemory by their addresses.
var pinned sync.Map // of *PinnedBuffer, by unsafe.Pointer

// AllocatePinnedMemory allocates page-locked memory of so many bytes.
func AllocatePinnedMemory(size int) (unsafe.Pointer, error) {
	if size <= 0 {
		return nil, noteInvalid("an allocation of %d bytes: give 1 or more", size)
	}
	buffer, err := NewPinnedBuffer((size-1)/4 + 1)
	if err != nil {
		return nil, err
	}
	pointer := unsafe.Pointer(unsafe.SliceData(buffer.data))
	pinned.Store(pointer, buffer)
	return pointer, nil
}

// FreePinnedMemory frees what AllocatePinnedMemory gave; nil does nothing. The size is not needed.
func FreePinnedMemory(pointer unsafe.Pointer, _ int) error {
	if pointer == nil {
		return nil
	}
	buffer, known := pinned.LoadAndDelete(pointer)
	if !known {
		return noteInvalid("%p is no memory that AllocatePinnedMemory gave, or was freed", pointer)
	}
	return buffer.(*PinnedBuffer).Close()
}
