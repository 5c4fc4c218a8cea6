package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Version is that of the library in use.
func Version() (major, minor, patch uint32, err error) {
	var numbers [3]uint32
	err = check("Version", raw.Km_version(unsafe.Pointer(&numbers[0]), unsafe.Pointer(&numbers[1]),
		unsafe.Pointer(&numbers[2])))
	return numbers[0], numbers[1], numbers[2], err
}

// Backend is a way to run kernels, usable here or not.
type Backend struct {
	Name        string // "cpu"
	DeviceCount int
	Status      error  // nil: usable
	Reason      string // why it is not
}

// Backends lists all that the library knows.
func Backends() ([]Backend, error) {
	const op = "Backends"
	var count uint32
	if err := check(op, raw.Km_backend_count(unsafe.Pointer(&count))); err != nil {
		return nil, err
	}
	backends := make([]Backend, 0, count)
	for i := range count {
		info := raw.BackendInfo{StructSize: uint32(unsafe.Sizeof(raw.BackendInfo{}))}
		if err := check(op, raw.Km_backend_info_get(i, unsafe.Pointer(&info))); err != nil {
			return nil, err
		}
		backend := Backend{
			Name:        fixedText(info.Name[:]),
			DeviceCount: int(info.DeviceCount),
			Reason:      fixedText(info.Reason[:]),
		}
		if info.Status != raw.SUCCESS {
			backend.Status = Status(info.Status)
		}
		backends = append(backends, backend)
	}
	return backends, nil
}

// DeviceCount is how many devices the backend of this name has; "" means all backends.
func DeviceCount(backend string) (int, error) {
	const op = "DeviceCount"
	name, err := cStringOrNull(op, "the name of the backend", backend)
	if err != nil {
		return 0, err
	}
	var count uint32
	err = check(op, raw.Km_device_count(name, unsafe.Pointer(&count)))
	return int(count), err
}

// Device is one on which kernels run.
type Device struct{ object }

// OpenDevice opens a device by its URI: "cpu", "cpu:1", or "auto" for the best that works.
func OpenDevice(uri string) (*Device, error) {
	const op = "OpenDevice"
	text, err := cString(op, "the URI", uri)
	if err != nil {
		return nil, err
	}
	var id uint64
	if err := check(op, raw.Km_device_open(text, unsafe.Pointer(&id))); err != nil {
		return nil, err
	}
	return newDevice(id), nil
}

func newDevice(id uint64) *Device {
	device := &Device{}
	device.open(id, raw.Km_device_destroy)
	return device
}

func (d *Device) base() *object {
	if d == nil {
		return nil
	}
	return &d.object
}

// Close lets the device go. Its contexts keep it open.
func (d *Device) Close() error { return d.base().close("Device.Close") }

// NewContext opens a context on the device. Uses of its slices on different streams are ordered:
// see the package's page. While [CheckAccesses] is true, each access of its kernels is tested.
func (d *Device) NewContext() (*Context, error) {
	return d.newContext("Device.NewContext", raw.CONTEXT_ORDERED)
}

// NewUnorderedContext opens a context whose streams know nothing of each other: work on different
// streams that uses the same elements, if only one writes them, is to be ordered by events. While
// [CheckAccesses] is true, each access of its kernels is tested.
func (d *Device) NewUnorderedContext() (*Context, error) {
	return d.newContext("Device.NewUnorderedContext", raw.CONTEXT_DEFAULT)
}

func (d *Device) newContext(op string, flags uint32) (*Context, error) {
	if CheckAccesses {
		flags |= raw.CONTEXT_CHECKED
	}
	id, err := get[uint64](d.base(), op, func(id uint64, out unsafe.Pointer) *raw.Failure {
		return raw.Km_context_create_with_flags(id, flags, out)
	})
	if err != nil {
		return nil, err
	}
	return newContext(id), nil
}

// DeviceInfo says what a device is and what its limits are.
type DeviceInfo struct {
	URI                    string // "cpu:0"
	Backend                string
	Name                   string
	Ordinal                uint32
	TotalMemoryBytes       uint64
	ComputeCapability      [2]uint32 // major, minor
	MultiprocessorCount    uint32
	WarpSize               uint32
	MaxThreadsPerBlock     uint32
	MaxBlockDim            [3]uint32
	MaxGridDim             [3]uint32
	SharedBytesPerBlock    uint64
	SharedBytesPerBlockMax uint64
	ClockRateKHz           uint64 // 0: unknown
	MemoryClockRateKHz     uint64 // 0: unknown
	MemoryBusWidthBits     uint32 // 0: unknown
	Threads                uint32 // worker threads of a CPU device
	ISA                    string // "avx2", "sm_90"
}

// Info describes the device.
func (d *Device) Info() (DeviceInfo, error) {
	info := raw.DeviceInfo{StructSize: uint32(unsafe.Sizeof(raw.DeviceInfo{}))}
	err := d.base().call("Device.Info", func(id uint64) *raw.Failure {
		return raw.Km_device_info_get(id, unsafe.Pointer(&info))
	})
	if err != nil {
		return DeviceInfo{}, err
	}
	return DeviceInfo{
		URI:                    fixedText(info.Uri[:]),
		Backend:                fixedText(info.Backend[:]),
		Name:                   fixedText(info.Name[:]),
		Ordinal:                info.Ordinal,
		TotalMemoryBytes:       info.TotalMemoryBytes,
		ComputeCapability:      [2]uint32{info.ComputeCapabilityMajor, info.ComputeCapabilityMinor},
		MultiprocessorCount:    info.MultiprocessorCount,
		WarpSize:               info.WarpSize,
		MaxThreadsPerBlock:     info.MaxThreadsPerBlock,
		MaxBlockDim:            info.MaxBlockDim,
		MaxGridDim:             info.MaxGridDim,
		SharedBytesPerBlock:    info.SharedBytesPerBlock,
		SharedBytesPerBlockMax: info.SharedBytesPerBlockMax,
		ClockRateKHz:           info.ClockRateKhz,
		MemoryClockRateKHz:     info.MemoryClockRateKhz,
		MemoryBusWidthBits:     info.MemoryBusWidthBits,
		Threads:                info.Threads,
		ISA:                    fixedText(info.Isa[:]),
	}, nil
}

// DeviceAttribute names one property of a device.
type DeviceAttribute int32

// The attributes of devices.
const (
	DeviceWarpSize                    DeviceAttribute = raw.DEVICE_ATTRIBUTE_WARP_SIZE
	DeviceMaxThreadsPerBlock          DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK
	DeviceMaxBlockDimX                DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X
	DeviceMaxBlockDimY                DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y
	DeviceMaxBlockDimZ                DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z
	DeviceMaxGridDimX                 DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_GRID_DIM_X
	DeviceMaxGridDimY                 DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y
	DeviceMaxGridDimZ                 DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z
	DeviceSharedBytesPerBlock         DeviceAttribute = raw.DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK
	DeviceSharedBytesPerBlockMax      DeviceAttribute = raw.DEVICE_ATTRIBUTE_SHARED_BYTES_PER_BLOCK_MAX
	DeviceMultiprocessorCount         DeviceAttribute = raw.DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
	DeviceComputeCapabilityMajor      DeviceAttribute = raw.DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
	DeviceComputeCapabilityMinor      DeviceAttribute = raw.DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
	DeviceClockRateKhz                DeviceAttribute = raw.DEVICE_ATTRIBUTE_CLOCK_RATE_KHZ
	DeviceMemoryBusWidthBits          DeviceAttribute = raw.DEVICE_ATTRIBUTE_MEMORY_BUS_WIDTH_BITS
	DeviceUnifiedMemory               DeviceAttribute = raw.DEVICE_ATTRIBUTE_UNIFIED_MEMORY
	DeviceStreamPriorityLeast         DeviceAttribute = raw.DEVICE_ATTRIBUTE_STREAM_PRIORITY_LEAST
	DeviceStreamPriorityGreatest      DeviceAttribute = raw.DEVICE_ATTRIBUTE_STREAM_PRIORITY_GREATEST
	DeviceCooperativeLaunch           DeviceAttribute = raw.DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH
	DeviceMaxThreadsPerMultiprocessor DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR
	DeviceMaxRegistersPerBlock        DeviceAttribute = raw.DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK
	DeviceTotalConstantBytes          DeviceAttribute = raw.DEVICE_ATTRIBUTE_TOTAL_CONSTANT_BYTES
	DeviceL2CacheBytes                DeviceAttribute = raw.DEVICE_ATTRIBUTE_L2_CACHE_BYTES
	// DeviceCUDA + n is CUDA's CU_DEVICE_ATTRIBUTE of number n.
	DeviceCUDA DeviceAttribute = raw.DEVICE_ATTRIBUTE_CUDA
)

// Attribute is one property of the device as a number.
func (d *Device) Attribute(attribute DeviceAttribute) (int64, error) {
	return get[int64](d.base(), "Device.Attribute",
		func(id uint64, out unsafe.Pointer) *raw.Failure {
			return raw.Km_device_attribute_get(id, int32(attribute), out)
		})
}
