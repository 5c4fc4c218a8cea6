package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// BuildInfo says which build of the library is in use.
type BuildInfo struct {
	Version  [3]uint32 // major, minor, patch
	BuildID  string    // equal for library and plugins of one build
	Compiler string
}

// Build gives version, build and compiler of the library in use.
func Build() (BuildInfo, error) {
	info := raw.BuildInfo{StructSize: uint32(unsafe.Sizeof(raw.BuildInfo{}))}
	err := check("Build", raw.Km_build_info_get(unsafe.Pointer(&info)))
	return BuildInfo{[3]uint32{info.VersionMajor, info.VersionMinor, info.VersionPatch},
		fixedText(info.BuildId[:]), fixedText(info.Compiler[:])}, err
}

// StatusFromCUDA is the status for a result of the CUDA driver (CUresult). The mapping never
// changes.
func StatusFromCUDA(result int32) (Status, error) {
	var status int32
	err := check("StatusFromCUDA", raw.Km_status_from_cuda(result, unsafe.Pointer(&status)))
	return Status(status), err
}

// CUDAResult is the result (CUresult) that the CUDA driver gives where this library gives the
// status.
func (s Status) CUDAResult() (int32, error) {
	var result int32
	err := check("Status.CUDAResult", raw.Km_status_to_cuda(int32(s), unsafe.Pointer(&result)))
	return result, err
}

// CUDAResultName is the name of a result of the CUDA driver: "CUDA_ERROR_INVALID_VALUE".
func CUDAResultName(result int32) (string, error) {
	var text unsafe.Pointer
	err := check("CUDAResultName", raw.Km_cuda_result_name(result, unsafe.Pointer(&text)))
	return staticText(text), err
}

// SetAllocator has the library take its own host memory (objects, queues, texts; not device memory)
// from C functions from now on: void *(*)(void *user_data, uint64_t size_bytes, uint32_t flags) and
// void (*)(void *user_data, void *pointer); nil for both means malloc again. They are called on any
// thread, may make no call of the library, and have to work until the process ends. Functions of Go
// are not fit for that: they may be called while Go waits for the library.
func SetAllocator(allocate, release, userData unsafe.Pointer) error {
	return check("SetAllocator", raw.Km_set_allocator(allocate, release, userData))
}
