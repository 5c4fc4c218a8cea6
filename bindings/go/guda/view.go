package guda

import "unsafe"

// hostData is the memory of an allocation for the host, without a copy.
func (a *allocation) hostData() ([]byte, error) {
	if first := a.host.Load(); first != nil {
		return unsafe.Slice(first, a.size), nil
	}
	data, err := a.slice.HostData()
	if err != nil {
		return nil, err
	}
	a.host.Store(unsafe.SliceData(data))
	return data[:a.size], nil
}

// DeviceFloat32 is device memory as numbers of the host, without a copy, where device memory is host
// memory, as on CPU devices; the memory has to be what [Malloc] gave, and not be freed meanwhile.
// Synchronize before it is touched.
func DeviceFloat32(ptr DevicePtr, count int) ([]float32, error) {
	a, known := allocated(ptr)
	if !known {
		return nil, noteInvalid("%#x is no memory that Malloc gave, or was freed", uintptr(ptr))
	}
	if count < 0 || count > a.size/4 {
		return nil, a.device.done(invalid("%d numbers in %d bytes", count, a.size))
	}
	data, err := a.hostData()
	if err != nil {
		return nil, a.device.done(err)
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(data))), count), nil
}

// bytesFrom is the memory from an address to the end of its allocation for the host; nil where there
// is none, or where the host does not see it.
func (p DevicePtr) bytesFrom() ([]byte, error) {
	if a, known := allocated(p); known {
		return a.hostData()
	}
	device, err := ownerOf(p)
	if err != nil {
		return nil, err
	}
	slice, offset := device.findAt(p)
	if slice == nil {
		return nil, device.done(invalid("%#x is no memory of a device", uintptr(p)))
	}
	defer slice.Close()
	data, err := slice.HostData()
	if err != nil {
		return nil, device.done(err)
	}
	return data[offset:], nil
}

// viewOf is memory as elements.
func viewOf[T any](p DevicePtr) []T {
	data, err := p.bytesFrom()
	if err != nil || p == 0 {
		return nil
	}
	var element T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), len(data)/int(unsafe.Sizeof(element)))
}

// Byte is the memory from the address to the end of its allocation, without a copy, where device
// memory is host memory, as on CPU devices; else, and for a freed address, it is nil, and
// [GetLastError] says why. The view ends with [Free]. Synchronize before it is touched; host kernels
// touch it in the order of their stream.
func (p DevicePtr) Byte() []byte { return viewOf[byte](p) }

// Float32 is [DevicePtr.Byte] as numbers.
func (p DevicePtr) Float32() []float32 { return viewOf[float32](p) }

// Float64 is [DevicePtr.Byte] as numbers.
func (p DevicePtr) Float64() []float64 { return viewOf[float64](p) }

// Int32 is [DevicePtr.Byte] as numbers.
func (p DevicePtr) Int32() []int32 { return viewOf[int32](p) }

// Offset is the address so many bytes further.
func (p DevicePtr) Offset(bytes int) DevicePtr { return p + DevicePtr(bytes) }

// Size is how many bytes there are from the address to the end of its allocation; 0 for none.
func (p DevicePtr) Size() int {
	if a, known := allocated(p); known {
		return a.size
	}
	device, err := ownerOf(p)
	if err != nil {
		return 0
	}
	return device.sizeFrom(p)
}

// sizeFrom is how many bytes of the device's memory there are from an address on.
func (d *Device) sizeFrom(p DevicePtr) int {
	if a, known := allocated(p); known {
		return a.size
	}
	slice, offset := d.findAt(p)
	if slice == nil {
		return 0
	}
	defer slice.Close()
	return slice.Len() - int(offset)
}
