// Package guda is a runtime in the manner of CUDA's for Go: one for the process, with a current
// device, streams, events and memory by address, on NVIDIA GPUs and on any CPU. It is a facade over
// package kernelmill, which has the same and more with types for everything.
//
//	x := guda.Malloc(4 * n)
//	defer guda.Free(x)
//	err := guda.MemcpyFloat32HtoD(x, numbers)
//	err = guda.Sscal(n, 2, x, 1)
//	err = guda.MemcpyFloat32DtoH(numbers, x)
//
// # Kernels
//
// [LaunchKernel] queues kernels that were compiled from PTX or CUDA C++ ([ModuleLoad]) and kernels
// that are Go functions ([KernelFunc], [ThreadFunc], [BlockFunc]), in stream order. Those of Go run on
// the host, on all cores, and see slices of Go or memory that [DeviceFloat32] shows; their panics
// become errors.
//
// # Errors
//
// Nothing panics: every failure is an error, or 0 for a [DevicePtr], and [GetLastError] says why.
// Wrong addresses, sizes, streams and events are found; the memory of the host behind an
// unsafe.Pointer is the caller's business. A kernel that fails makes later calls on its device fail,
// until [DeviceReset]. The last error belongs to the device, not to the thread: goroutines move.
//
// # Devices
//
// [SetDevice] makes a device the current one of the goroutine, and locks that to its thread.
// [UseDevice] gives a [Device] whose methods do the same without a current device. Streams, events
// and memory know theirs.
//
// # Memory
//
// Device memory of CPU devices is memory of the host: [DeviceFloat32] and [HostRegister] use it
// without copies, and debuggers show what lies at a [DevicePtr]. Copies of Go memory borrow it for
// the call; those of a [PinnedBuffer] are asynchronous. Work on different streams that uses the same
// memory is ordered by the library, as docs/guide/ordering.md of Kernelmill says.
package guda
