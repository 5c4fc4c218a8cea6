// The functions of CUDA's device runtime, which kernels call to launch kernels. Wrappers in PTX
// (module/device_runtime.h) call km_device_call with a function's number and ten words.
#pragma once

#include <cstdint>

#include "simt/abi.h"

namespace km::cpu {

/// One call of one thread.
struct DeviceCallSite {
  uint64_t pc = 0;  // in the kernel's code
  uint32_t thread = 0;
};

enum class DeviceCall : uint32_t {
  get_parameter_buffer,     // alignment, size
  get_parameter_buffer_v2,  // kernel, grid (two words), block (two words), shared bytes
  launch,                   // kernel, buffer, grid, block, shared bytes, stream
  launch_v2,                // buffer, stream
  graph_launch,             // handle, stream
  node_update,              // node, field, then three words as in cudaGraphKernelNodeUpdate
  node_store,               // node, field, value of up to 8 bytes, offset, size
  get_last_error,
  peek_last_error,
  allocate,          // size
  release,           // address
  copy,              // destination, source, size, kind, stream
  copy_rows,         // destination, pitch, source, pitch, width, height, kind, stream
  copy_layers,       // destination, pitch, rows, source, pitch, rows, width, height, depth, stream
  fill,              // destination, value, size, stream
  fill_rows,         // destination, pitch, value, width, height, stream
  fill_layers,       // destination, pitch, rows, value, width, height, depth, stream
  stream_create,     // flags
  stream_destroy,    // stream
  stream_wait,       // stream, event, flags
  event_create,      // flags
  event_record,      // event, stream
  event_destroy,     // event
  device_attribute,  // number, device
  device_limit,      // cudaLimit
  device_count,
  device,
  runtime_version,
  cache_config,
  function_attribute,  // kernel, km_function_attribute
  occupancy,           // kernel, threads of a block, dynamic shared bytes, flags
};

/// A word that holds no error: the high half of a result that has one.
constexpr uint64_t kNoWord = 0xFFFFFFFF;

/// Values of cudaError.
enum class DeviceError : uint32_t {
  none = 0,
  invalid_value = 1,
  out_of_memory = 2,
  invalid_configuration = 9,
  invalid_pointer = 17,
  too_deep = 65,
  too_many_pending = 69,
  invalid_function = 98,
  invalid_device = 101,
  unsupported_limit = 215,
  invalid_handle = 400,
  out_of_resources = 701,
  unknown = 999,
};

/// Executes the calls of one grid's threads, concurrently.
class DeviceCalls {
 public:
  /// Executes one call of one thread. Errors are values of cudaError and are kept for the thread's
  /// cudaGetLastError. Functions with a result of 4 bytes return it in the low half and the error
  /// in the high half; functions with a result of 8 bytes return an error in the low half and
  /// kNoWord in the high half.
  virtual uint64_t call(const simt::LaunchRecord& record, const simt::BlockState& state,
                        DeviceCall function, const uint64_t* words, DeviceCallSite site) = 0;

 protected:
  ~DeviceCalls() = default;
};

}  // namespace km::cpu
