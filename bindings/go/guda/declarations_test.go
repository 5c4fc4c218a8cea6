package guda_test

import (
	"time"
	"unsafe"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// Every declaration of the chapters has the type that they give it.
var (
	_ func(size int) guda.DevicePtr                                                = guda.Malloc
	_ func(ptr guda.DevicePtr) error                                               = guda.Free
	_ func(size, alignment int) guda.DevicePtr                                     = guda.MallocAligned
	_ func() (free, total int64, err error)                                        = guda.MemGetInfo
	_ func(ptr guda.DevicePtr, value byte, size int) error                         = guda.Memset
	_ func(dst guda.DevicePtr, src unsafe.Pointer, size int) error                 = guda.MemcpyHtoD
	_ func(dst unsafe.Pointer, src guda.DevicePtr, size int) error                 = guda.MemcpyDtoH
	_ func(dst, src guda.DevicePtr, size int) error                                = guda.MemcpyDtoD
	_ func(guda.DevicePtr, unsafe.Pointer, int, guda.Stream) error                 = guda.MemcpyHtoDAsync
	_ func(unsafe.Pointer, guda.DevicePtr, int, guda.Stream) error                 = guda.MemcpyDtoHAsync
	_ func(dst guda.DevicePtr, src []float32) error                                = guda.MemcpyFloat32HtoD
	_ func(dst []float32, src guda.DevicePtr) error                                = guda.MemcpyFloat32DtoH
	_ func() (guda.Stream, error)                                                  = guda.StreamCreate
	_ func(guda.Stream) error                                                      = guda.StreamDestroy
	_ func(guda.Stream) error                                                      = guda.StreamSynchronize
	_ func(guda.Stream) error                                                      = guda.StreamQuery
	_ func() guda.Stream                                                           = guda.GetDefaultStream
	_ func() (guda.Event, error)                                                   = guda.EventCreate
	_ func(guda.EventFlag) (guda.Event, error)                                     = guda.EventCreateWithFlags
	_ func(guda.Event) error                                                       = guda.EventDestroy
	_ func(guda.Event, guda.Stream) error                                          = guda.EventRecord
	_ func(guda.Event) error                                                       = guda.EventSynchronize
	_ func(guda.Event) error                                                       = guda.EventQuery
	_ func(start, end guda.Event) (float32, error)                                 = guda.EventElapsedTime
	_ func(guda.Stream, guda.Event) error                                          = guda.StreamWaitEvent
	_ func() (int, error)                                                          = guda.GetDeviceCount
	_ func(device int) error                                                       = guda.SetDevice
	_ func() (int, error)                                                          = guda.GetDevice
	_ func(device int) (guda.DeviceProperties, error)                              = guda.GetDeviceProperties
	_ func() error                                                                 = guda.DeviceSynchronize
	_ func() error                                                                 = guda.DeviceReset
	_ func() error                                                                 = guda.GetLastError
	_ func() error                                                                 = guda.PeekAtLastError
	_ func(guda.GudaError) string                                                  = guda.GetErrorString
	_ func() *guda.RuntimeMemoryPool                                               = guda.NewRuntimeMemoryPool
	_ func(*guda.RuntimeMemoryPool, int) guda.DevicePtr                            = (*guda.RuntimeMemoryPool).Malloc
	_ func(*guda.RuntimeMemoryPool, guda.DevicePtr, int)                           = (*guda.RuntimeMemoryPool).Free
	_ func() error                                                                 = guda.ProfilerStart
	_ func() error                                                                 = guda.ProfilerStop
	_ func(name string) error                                                      = guda.ProfilerRangeStart
	_ func(name string) error                                                      = guda.ProfilerRangeEnd
	_ func() *guda.MemoryPool                                                      = guda.NewMemoryPool
	_ func(*guda.MemoryPool, int) guda.DevicePtr                                   = (*guda.MemoryPool).Allocate
	_ func(*guda.MemoryPool, guda.DevicePtr)                                       = (*guda.MemoryPool).Free
	_ func(*guda.MemoryPool)                                                       = (*guda.MemoryPool).Cleanup
	_ func(elements int) (*guda.PinnedBuffer, error)                               = guda.NewPinnedBuffer
	_ func(*guda.PinnedBuffer) []float32                                           = (*guda.PinnedBuffer).Data
	_ func(*guda.PinnedBuffer) guda.DevicePtr                                      = (*guda.PinnedBuffer).DevicePtr
	_ func(*guda.PinnedBuffer) error                                               = (*guda.PinnedBuffer).Close
	_ func(filename string) (*guda.MappedDataset, error)                           = guda.OpenMappedDataset
	_ func(*guda.MappedDataset, int, int) []float32                                = (*guda.MappedDataset).GetBatch
	_ func(*guda.MappedDataset) error                                              = (*guda.MappedDataset).Close
	_ func() *guda.MemoryTracker                                                   = guda.NewMemoryTracker
	_ func(*guda.MemoryTracker, int) guda.DevicePtr                                = (*guda.MemoryTracker).Malloc
	_ func(*guda.MemoryTracker, guda.DevicePtr)                                    = (*guda.MemoryTracker).Free
	_ func(*guda.MemoryTracker)                                                    = (*guda.MemoryTracker).ReportLeaks
	_ func(time.Duration) *guda.MemoryProfiler                                     = guda.StartMemoryProfiling
	_ func(*guda.MemoryProfiler)                                                   = (*guda.MemoryProfiler).Stop
	_ func(*guda.MemoryProfiler)                                                   = (*guda.MemoryProfiler).GenerateReport
	_ func(int, float32, guda.DevicePtr, int) error                                = guda.Sscal
	_ func(int, float32, unsafe.Pointer, int) error                                = guda.Sscal
	_ func(int, float32, []float32, int) error                                     = guda.Sscal
	_ func(int, float32, []float32, int, []float32, int) error                     = guda.Saxpy
	_ func(n int, alpha float32, ptr guda.DevicePtr, inc int, s guda.Stream) error = guda.SscalAsync
	_ uintptr                                                                      = uintptr(guda.DevicePtr(0))
)
