package guda

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// PinnedBuffer is page-locked memory of the host: copies from and to it are asynchronous, and
// [PinnedBuffer.DevicePtr] is valid in every call that takes device memory.
type PinnedBuffer struct {
	mutex  sync.Mutex
	memory *kernelmill.HostMemory[float32]
	data   []float32
	device DevicePtr
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
	buffer := &PinnedBuffer{memory: pinned}
	if buffer.data, err = pinned.Data(); err == nil {
		buffer.device, err = device.shareHost(opened, bytesOf(buffer.data))
	}
	if err != nil {
		_ = pinned.Close() // the first error is the one to know
		return nil, device.done(err)
	}
	return buffer, nil
}

// shareHost makes memory of the host device memory, too.
func (d *Device) shareHost(opened *kernelmill.Context, bytes []byte) (DevicePtr, error) {
	slice, err := kernelmill.SliceOver(opened, bytes)
	if err != nil {
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

// Close frees the memory after the last copy that uses it. Data is not to be touched from then on.
// Closing twice is fine.
func (b *PinnedBuffer) Close() error {
	if b == nil {
		return noteInvalid("the buffer is nil")
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.memory == nil {
		return nil
	}
	err := b.memory.Close()
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
