package guda

import (
	"errors"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// DevicePtr is an address in device memory; 0 is none. On CPU devices it is the address of the host,
// too, so that debuggers show what lies there.
type DevicePtr uintptr

// allocation is memory that the runtime has given out.
type allocation struct {
	slice  *kernelmill.Slice[byte]
	device *Device
	size   int
	host   atomic.Pointer[byte] // the memory for the host, once it was asked for
}

// memory has every allocation by its address.
var memory sync.Map // of *allocation, by DevicePtr

// allocated finds the allocation that begins at an address.
func allocated(ptr DevicePtr) (*allocation, bool) {
	found, known := memory.Load(ptr)
	if !known {
		return nil, false
	}
	return found.(*allocation), true
}

// Malloc allocates device memory of so many bytes on the current device; 0 when there is none, or
// when the size is not positive: [GetLastError] says why.
func Malloc(size int) DevicePtr {
	device, err := currentDevice()
	if err != nil {
		return 0
	}
	return device.Malloc(size)
}

// Malloc is [Malloc] on this device.
func (d *Device) Malloc(size int) DevicePtr { return d.allocate(size, d.unaligned(size)) }

// unaligned makes memory of a size.
func (d *Device) unaligned(size int) func(*kernelmill.Context) (*kernelmill.Slice[byte], error) {
	return func(context *kernelmill.Context) (*kernelmill.Slice[byte], error) {
		return kernelmill.NewSlice[byte](context, size)
	}
}

// MallocAligned is Malloc with an address that is a multiple of a power of two.
func MallocAligned(size, alignment int) DevicePtr {
	device, err := currentDevice()
	if err != nil {
		return 0
	}
	return device.MallocAligned(size, alignment)
}

// MallocAligned is [MallocAligned] on this device.
func (d *Device) MallocAligned(size, alignment int) DevicePtr {
	return d.allocate(size, func(context *kernelmill.Context) (*kernelmill.Slice[byte], error) {
		if alignment <= 0 || bits.OnesCount(uint(alignment)) != 1 {
			return nil, invalid("the alignment %d is no power of two", alignment)
		}
		return kernelmill.NewAlignedSlice[byte](context, size, uint64(alignment))
	})
}

// allocate makes memory that Free frees; 0 when it cannot be had.
func (d *Device) allocate(size int,
	create func(*kernelmill.Context) (*kernelmill.Slice[byte], error)) DevicePtr {
	ptr, err := d.tryAllocate(size, create)
	if d != nil && err != nil {
		_ = d.done(err) // for GetLastError
	}
	return ptr
}

// tryAllocate is allocate with the error.
func (d *Device) tryAllocate(size int,
	create func(*kernelmill.Context) (*kernelmill.Slice[byte], error)) (DevicePtr, error) {
	opened, err := d.open()
	if err == nil && size <= 0 {
		err = invalid("an allocation of %d bytes: give 1 or more", size)
	}
	if err != nil {
		return 0, err
	}
	slice, err := create(opened)
	if err != nil {
		return 0, err
	}
	return d.publish(&allocation{slice: slice, device: d, size: size})
}

// publish makes an allocation known by its address.
func (d *Device) publish(a *allocation) (DevicePtr, error) {
	address, err := a.slice.Address()
	if err != nil {
		_ = a.slice.Close() // the first error is the one to know
		return 0, err
	}
	memory.Store(DevicePtr(address), a)
	return DevicePtr(address), nil
}

// Free waits until the work of the memory's device is done, as CUDA does, and frees the memory, which
// is there for others when it returns. It gives what failed in that work, too. Free(0) does nothing;
// memory that is not there, or not any more, is an error. A host kernel may not call it: the kernel is
// work of the device.
func Free(ptr DevicePtr) error {
	if ptr == 0 {
		return nil
	}
	found, known := memory.LoadAndDelete(ptr)
	if !known {
		return noteInvalid("%#x is no memory that Malloc gave, or was freed", uintptr(ptr))
	}
	a := found.(*allocation)
	err := a.device.settle()
	return errors.Join(err, a.drop())
}

// settle waits for the work of the device, if it was used.
func (d *Device) settle() error {
	opened := d.context.Load()
	if opened == nil {
		return nil
	}
	if err := opened.Synchronize(); err != nil {
		return d.done(err)
	}
	return nil
}

// drop lets an allocation go; its memory goes with the last work that uses it.
func (a *allocation) drop() error {
	if err := a.slice.Close(); err != nil {
		return a.device.done(err)
	}
	return nil
}

// noteInvalid is the error of a wrong value, noted for the current device.
func noteInvalid(format string, values ...any) error {
	device, err := currentDevice()
	if err != nil {
		return err
	}
	return device.done(invalid(format, values...))
}

// MemGetInfo is how many bytes of the current device's memory are free, and how many there are.
func MemGetInfo() (free, total int64, err error) {
	device, err := currentDevice()
	if err != nil {
		return 0, 0, err
	}
	return device.MemGetInfo()
}

// MemGetInfo is [MemGetInfo] of this device.
func (d *Device) MemGetInfo() (free, total int64, err error) {
	opened, err := d.open()
	if err != nil {
		return 0, 0, err
	}
	freeBytes, totalBytes, err := opened.MemoryInfo()
	if err != nil {
		return 0, 0, d.done(err)
	}
	return int64(freeBytes), int64(totalBytes), nil
}

// ownerOf is the device that has an address, the current one if none has.
func ownerOf(ptr DevicePtr) (*Device, error) {
	if a, known := allocated(ptr); known {
		return a.device, nil
	}
	current, err := currentDevice()
	if err != nil || len(process.devices) == 1 {
		return current, err
	}
	for _, device := range process.devices {
		if slice := device.find(ptr); slice != nil {
			_ = slice.Close() // only its being there counts
			return device, nil
		}
	}
	return current, nil
}

// find gives the allocation of the device that holds an address, to be closed; nil for none.
func (d *Device) find(ptr DevicePtr) *kernelmill.Slice[byte] {
	slice, _ := d.findAt(ptr)
	return slice
}

// findAt is find, with how far into the allocation the address lies.
func (d *Device) findAt(ptr DevicePtr) (*kernelmill.Slice[byte], uint64) {
	opened := d.context.Load()
	if opened == nil || ptr == 0 {
		return nil, 0
	}
	slice, offset, err := opened.FindSlice(uint64(ptr))
	if err != nil {
		_ = opened.TakeErr() // to look for an address is no failure
		return nil, 0
	}
	return slice, offset
}

// inDefault runs a call in the default stream of the device that has an address.
func inDefault(ptr DevicePtr, size int, call func(*streamState) error) error {
	device, err := ownerOf(ptr)
	if err != nil {
		return err
	}
	if size < 0 {
		return device.done(invalid("a size of %d bytes is negative", size))
	}
	state, err := device.defaultStream()
	if err == nil {
		err = call(state)
	}
	return device.done(err)
}

// Memset sets so many bytes of device memory to a value.
func Memset(ptr DevicePtr, value byte, size int) error {
	return inDefault(ptr, size, func(s *streamState) error {
		return kernelmill.FillAddress(s.stream, uint64(ptr), value, uint64(size))
	})
}

// MemsetAsync is Memset in the order of a stream.
func MemsetAsync(ptr DevicePtr, value byte, size int, stream Stream) error {
	return inStream(stream, size, func(s *streamState) error {
		return kernelmill.FillAddress(s.stream, uint64(ptr), value, uint64(size))
	})
}

// MemcpyHtoD copies bytes of the host to the device, and waits. That they lie there is the caller's
// business; that they fit the device's memory is checked.
func MemcpyHtoD(dst DevicePtr, src unsafe.Pointer, size int) error {
	return inDefault(dst, size, func(s *streamState) error {
		if err := s.stream.UploadPointer(uint64(dst), src, uint64(size)); err != nil {
			return err
		}
		return s.stream.Synchronize()
	})
}

// MemcpyDtoH copies bytes of the device to the host, and waits.
func MemcpyDtoH(dst unsafe.Pointer, src DevicePtr, size int) error {
	return inDefault(src, size, func(s *streamState) error {
		if err := s.stream.DownloadPointer(dst, uint64(src), uint64(size)); err != nil {
			return err
		}
		return s.stream.Synchronize()
	})
}

// MemcpyDtoD copies bytes within the device, or from one device to another, in the order of the
// default stream of the destination's device.
func MemcpyDtoD(dst, src DevicePtr, size int) error {
	return inDefault(dst, size, func(s *streamState) error { return s.copyWithin(dst, src, size) })
}

// copyWithin queues a copy between device addresses.
func (s *streamState) copyWithin(dst, src DevicePtr, size int) error {
	to, err := ownerOf(dst)
	if err != nil {
		return err
	}
	from, err := ownerOf(src)
	if err != nil {
		return err
	}
	if to == from {
		return s.stream.CopyAddress(uint64(dst), uint64(src), uint64(size))
	}
	if from.stream.Load() != nil { // what is queued there comes first
		if err := from.Synchronize(); err != nil {
			return err
		}
	}
	toContext, err := to.open()
	if err != nil {
		return err
	}
	fromContext, err := from.open()
	if err != nil {
		return err
	}
	return s.stream.CopyPeerAddress(toContext, uint64(dst), fromContext, uint64(src), uint64(size))
}

// MemcpyHtoDAsync copies bytes of the host to the device in the order of a stream. Memory of a
// [PinnedBuffer] must stay unchanged until the stream is there; any other has been read when it
// returns.
func MemcpyHtoDAsync(dst DevicePtr, src unsafe.Pointer, size int, stream Stream) error {
	return inStream(stream, size, func(s *streamState) error {
		return s.stream.UploadPointer(uint64(dst), src, uint64(size))
	})
}

// MemcpyDtoHAsync copies bytes of the device to the host in the order of a stream. Memory of a
// [PinnedBuffer] is written when the stream is there; any other has been written when it returns.
func MemcpyDtoHAsync(dst unsafe.Pointer, src DevicePtr, size int, stream Stream) error {
	return inStream(stream, size, func(s *streamState) error {
		return s.stream.DownloadPointer(dst, uint64(src), uint64(size))
	})
}

// MemcpyFloat32HtoD copies numbers to the device, and waits.
func MemcpyFloat32HtoD(dst DevicePtr, src []float32) error {
	return MemcpyHtoD(dst, unsafe.Pointer(unsafe.SliceData(src)), 4*len(src))
}

// MemcpyFloat32DtoH copies numbers from the device, as many as there is room for, and waits.
func MemcpyFloat32DtoH(dst []float32, src DevicePtr) error {
	return MemcpyDtoH(unsafe.Pointer(unsafe.SliceData(dst)), src, 4*len(dst))
}

// Place is somewhere in memory: of a device, or of the host.
type Place interface {
	DevicePtr | unsafe.Pointer | []float32 | []float64 | []int32 | []byte
}

// placeOf is the address of a place on the device, or of the host.
func placeOf[P Place](place P) (device DevicePtr, host unsafe.Pointer, length int) {
	switch p := any(place).(type) {
	case DevicePtr:
		return p, nil, -1
	case []float32:
		return 0, unsafe.Pointer(unsafe.SliceData(p)), 4 * len(p)
	case []float64:
		return 0, unsafe.Pointer(unsafe.SliceData(p)), 8 * len(p)
	case []int32:
		return 0, unsafe.Pointer(unsafe.SliceData(p)), 4 * len(p)
	case []byte:
		return 0, unsafe.Pointer(unsafe.SliceData(p)), len(p)
	case unsafe.Pointer:
		return 0, p, -1
	}
	return 0, nil, -1
}

// MemcpyAsync copies bytes in the order of a stream; the direction follows from the places. A copy
// from host to host is an error.
func MemcpyAsync[D, S Place](dst D, src S, size int, stream Stream) error {
	to, toHost, toLength := placeOf(dst)
	from, fromHost, fromLength := placeOf(src)
	return inStream(stream, size, func(s *streamState) error {
		switch {
		case toLength >= 0 && size > toLength || fromLength >= 0 && size > fromLength:
			return invalid("%d bytes, of a destination of %d and a source of %d", size, toLength,
				fromLength)
		case to != 0 && from != 0:
			return s.copyWithin(to, from, size)
		case to != 0:
			return s.stream.UploadPointer(uint64(to), fromHost, uint64(size))
		case from != 0:
			return s.stream.DownloadPointer(toHost, uint64(from), uint64(size))
		}
		return invalid("neither source nor destination is memory of a device")
	})
}

// MemcpyKind says in which direction [Memcpy] copies.
type MemcpyKind int

// The kinds of copies.
const (
	MemcpyHostToHost MemcpyKind = iota
	MemcpyHostToDevice
	MemcpyDeviceToHost
	MemcpyDeviceToDevice
	MemcpyDefault // the direction follows from the places
)

// fits says whether the kind is that of a copy between such places.
func (k MemcpyKind) fits(toDevice, fromDevice bool) bool {
	switch k {
	case MemcpyHostToHost:
		return !toDevice && !fromDevice
	case MemcpyHostToDevice:
		return toDevice && !fromDevice
	case MemcpyDeviceToHost:
		return !toDevice && fromDevice
	case MemcpyDeviceToDevice:
		return toDevice && fromDevice
	}
	return k == MemcpyDefault
}

// Memcpy is MemcpyAsync in the default stream, and waits. A kind may be given; it has to be that of the
// places.
func Memcpy[D, S Place](dst D, src S, size int, kind ...MemcpyKind) error {
	to, _, _ := placeOf(dst)
	from, _, _ := placeOf(src)
	for _, each := range kind {
		if !each.fits(to != 0, from != 0) {
			return noteInvalid("the kind %d is not that of a copy to %T from %T", each, dst, src)
		}
	}
	if err := MemcpyAsync(dst, src, size, Stream{}); err != nil {
		return err
	}
	return StreamSynchronize(Stream{})
}

// HostRegister makes numbers of the program device memory of the current device, without a copy,
// until [Free]. They stay where they are until then. Synchronize before they are touched.
func HostRegister(data []float32) (DevicePtr, error) {
	device, opened, err := openCurrent()
	if err != nil {
		return 0, err
	}
	slice, err := kernelmill.SliceOver(opened, bytesOf(data))
	if err != nil {
		return 0, device.done(err)
	}
	ptr, err := device.publish(&allocation{slice: slice, device: device, size: 4 * len(data)})
	if err != nil {
		return 0, device.done(err)
	}
	return ptr, nil
}

// bytesOf is the memory of numbers.
func bytesOf(data []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), 4*len(data))
}
