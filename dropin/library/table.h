// Services of Kernelmill's libcuda.so.1 for the other CUDA libraries (libcublas, libnvToolsExt)
// that the driver API has no functions for. cuGetExportTable returns the table for kLibraryTableId,
// which NVIDIA's driver does not know.
#pragma once

#include "backend/interface.h"
#include "cuda/driver.h"

namespace km::library {

/// The last two bytes are a version number of the table's layout.
inline constexpr cu::CUuuid kLibraryTableId = {
    {'k', 'e', 'r', 'n', 'e', 'l', 'm', 'i', 'l', 'l', '-', 'l', 'i', 'b', 0, 7}};

/// Memory that work of a library may access: an array, or a scalar in device memory.
struct BlasArray {
  const char* name;  // for messages
  uint64_t address;  // address of the first byte
  uint64_t lines, line_bytes, pitch_bytes;
  uint64_t batch_count, stride_bytes;
  bool is_written;
  bool is_scalar;
};

constexpr uint32_t kMostBlasArrays = 5;

/// A call of a routine in backend/blas.def with the memory that it may access. Matrices are
/// column-major.
struct BlasRequest {
  kmb_blas_call call;
  BlasArray arrays[kMostBlasArrays];
  uint32_t array_count;
};

/// km_plugin_copy_host of the CPU plugin; returns 0 if a part of the memory is not mapped.
using CopyHost = uint32_t (*)(void* destination, const void* source, uint64_t size_bytes);

/// Hears of each operation that ends, on any thread: the driver's context by its number, the device
/// by its ordinal.
using OperationListener = void (*)(uint64_t context_number, uint32_t device_ordinal,
                                   const kmb_profile_record& record);

struct LibraryTable {
  uint64_t size_bytes;
  /// Queues the routine in the stream, or captures it. CUDA_ERROR_INVALID_VALUE if an array is not
  /// inside one allocation; otherwise the result of km_blas.
  cu::CUresult (*submit_blas)(cu::CUstream stream, const BlasRequest* request);
  /// Opens a host range in the current context's trace; returns its id, or 0 if no trace is
  /// recorded.
  uint64_t (*start_range)(const char* name);
  /// Closes a range. Ids of ranges that are not open are ignored.
  void (*end_range)(uint64_t id);
  /// Checks that each array is inside one allocation that the stream's context may use. Otherwise
  /// returns CUDA_ERROR_INVALID_VALUE and logs the array's name.
  cu::CUresult (*check_arrays)(cu::CUstream stream, const BlasArray* arrays, uint32_t count);
  /// Copies host memory that may not be mapped; returns 0 if a part of it is not. Null if the
  /// plugin has no such function.
  CopyHost copy_host;
  /// Records that an id, which other libraries also accept, is live or has ended.
  void (*note_handle)(uint64_t id, bool is_live);
  /// True for an id that note_handle() last recorded as live.
  bool (*is_live_handle)(uint64_t id);
  /// True inside a host function or another callback that the driver makes on this thread. A
  /// library makes no calls there: a call could wait for work that waits for that function.
  bool (*is_in_callback)();
  /// Queues the task in the stream, or captures it. CUDA_ERROR_INVALID_VALUE if an array is not
  /// inside one allocation; the arrays' memory stays alive until the task has run.
  cu::CUresult (*submit_task)(cu::CUstream stream, const kmb_task* task, const BlasArray* arrays,
                              uint32_t count);
  /// Sets the listener of operations for all contexts, existing and new ones; null: none.
  cu::CUresult (*set_operation_listener)(OperationListener listener);
  /// The number that records have for the stream, or for a context (OperationListener). 0 if the
  /// handle is not live.
  uint64_t (*stream_key)(cu::CUstream stream);
  uint64_t (*context_number)(cu::CUcontext context);
  /// The kernel, of the stream's context, that calls a function of the program in the way of a
  /// cufftXtCallbackType; its parameter is a CallbackArguments. The function's address is what
  /// device code says it is.
  cu::CUresult (*callback_kernel)(cu::CUstream stream, uint64_t function, int type,
                                  cu::CUfunction* out);
};

}  // namespace km::library
