// Services of our libcuda.so.1 that the CUDA libraries beside it (libcublas, libnvToolsExt) use and
// the driver API has no names for. cuGetExportTable gives the table for kLibraryTableId; NVIDIA's
// driver does not know that id.
#pragma once

#include "backend/interface.h"
#include "cuda/driver.h"

namespace km::library {

/// Bytes: the last two count changes of the table's layout.
inline constexpr cu::CUuuid kLibraryTableId = {
    {'k', 'e', 'r', 'n', 'e', 'l', 'm', 'i', 'l', 'l', '-', 'l', 'i', 'b', 0, 4}};

/// Memory that a routine may touch: an array, or a scalar in device memory.
struct BlasArray {
  const char* name;  // for messages
  uint64_t address;  // of the first byte
  uint64_t lines, line_bytes, pitch_bytes;
  uint64_t batch_count, stride_bytes;
  bool is_written;
  bool is_scalar;
};

constexpr uint32_t kMostBlasArrays = 5;

/// One routine of backend/blas.def with the memory that it may touch. Matrices lie by columns.
struct BlasRequest {
  kmb_blas_call call;
  BlasArray arrays[kMostBlasArrays];
  uint32_t array_count;
};

/// km_plugin_copy_host of the CPU plugin: 0 when memory is not there.
using CopyHost = uint32_t (*)(void* destination, const void* source, uint64_t size_bytes);

struct LibraryTable {
  uint64_t size_bytes;
  /// Queues the routine in the stream, or has it captured. CUDA_ERROR_INVALID_VALUE when an array
  /// does not lie in one allocation; what km_blas returns else.
  cu::CUresult (*submit_blas)(cu::CUstream stream, const BlasRequest* request);
  /// A range of the host in the trace of the current context; its id, or 0 when nothing records.
  uint64_t (*start_range)(const char* name);
  /// Ids that name no open range are ignored.
  void (*end_range)(uint64_t id);
  /// CUDA_ERROR_INVALID_VALUE when an array does not lie in one allocation that the stream's
  /// context may use, with its name in the log.
  cu::CUresult (*check_arrays)(cu::CUstream stream, const BlasArray* arrays, uint32_t count);
  /// Copies between memory of the host's that may not be there; false when a part of it is not.
  /// Null: the plugin has no such copy.
  CopyHost copy_host;
  /// Notes that an id lives which other libraries take, too, or that it has ended.
  void (*note_handle)(uint64_t id, bool is_live);
  /// True for an id that note_handle() has made live.
  bool (*is_live_handle)(uint64_t id);
  /// True inside a host function, or another callback that the driver makes on this thread. A
  /// library makes no calls there: what they would wait for may wait for that function.
  bool (*is_in_callback)();
};

}  // namespace km::library
