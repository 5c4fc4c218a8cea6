#include "dropin/cuda/launch.h"

#include <algorithm>
#include <cstring>

#include "dropin/cuda/device_attributes.h"

namespace km::dropin {

CUresult Arguments::read_buffer(const Function& function, void** extra) {
  const void* buffer = nullptr;
  uint64_t buffer_bytes = 0;
  for (void** at = extra; reinterpret_cast<uintptr_t>(*at) != CU_LAUNCH_PARAM_END; at += 2) {
    switch (reinterpret_cast<uintptr_t>(*at)) {
      case CU_LAUNCH_PARAM_BUFFER_POINTER:
        buffer = at[1];
        break;
      case CU_LAUNCH_PARAM_BUFFER_SIZE:
        CU_REQUIRE(at[1]);
        std::memcpy(&buffer_bytes, at[1], sizeof buffer_bytes);
        break;
      default:
        return fail(CUDA_ERROR_INVALID_VALUE, "extra has the unknown key %p", *at);
    }
  }
  if (buffer_bytes < size_bytes_ || (buffer == nullptr && size_bytes_ != 0)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "extra has %llu bytes; kernel '%s' takes %llu",
                static_cast<unsigned long long>(buffer_bytes), function.info().name,
                static_cast<unsigned long long>(size_bytes_));
  }
  if (size_bytes_ != 0) std::memcpy(bytes_, buffer, size_bytes_);
  return CUDA_SUCCESS;
}

CUresult Arguments::read(const Function& function, void** params, void** extra) {
  const kmb_function_info& info = function.info();
  size_bytes_ = info.param_bytes;
  if (size_bytes_ > sizeof inline_) {
    more_.resize(size_bytes_);
    bytes_ = more_.data();
  }
  if (params == nullptr && extra != nullptr) return read_buffer(function, extra);
  if (params != nullptr && extra != nullptr) {
    return fail(CUDA_ERROR_INVALID_VALUE, "both kernelParams and extra are given");
  }
  if (params == nullptr && info.param_count != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "kernel '%s' takes %u parameters; none are given",
                info.name, info.param_count);
  }
  for (uint32_t i = 0; i < info.param_count; ++i) {
    const kmb_param& param = info.params[i];
    if (params[i] == nullptr) {
      return fail(CUDA_ERROR_INVALID_VALUE, "parameter %u of kernel '%s' is null", i, info.name);
    }
    std::memcpy(bytes_ + param.offset_bytes, params[i], param.size_bytes);
  }
  return CUDA_SUCCESS;
}

CUresult launch(const LaunchCall& call) {
  Ref<Function> function;
  CU_TRY(find_function(call.function, &function));
  CU_STREAM_FOR_WORK(stream, call.stream);
  if (&stream->context() != &function->context()) {
    return fail(CUDA_ERROR_INVALID_HANDLE, "kernel '%s' and the stream are of different contexts",
                function->info().name);
  }
  const km::Device& device = stream.core().context().device();
  if (!fits_device(device.info(), call.shape)) CU_CHECK(check_shape(device, call.shape));
  Arguments arguments;
  CU_TRY(arguments.read(*function, call.params, call.extra));
  CU_CHECK(submit_launch(
      stream.core(), {function->core(), call.shape, arguments.data(), arguments.size_bytes(), {}}));
  return CUDA_SUCCESS;
}

CUresult active_blocks(const Function& function, int block_size, uint64_t dynamic_bytes, int* out) {
  DeviceState& device = function.context().device();
  int threads = 0, shared = 0, blocks = 0, most = 0, own_shared = 0;
  const auto ask = [&](CUdevice_attribute attribute, int* value) {
    return device_attribute(device, attribute, value);
  };
  CU_TRY(ask(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &threads));
  CU_TRY(ask(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &shared));
  CU_TRY(ask(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &blocks));
  CU_TRY(function.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most));
  CU_TRY(function.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &own_shared));
  *out = 0;
  if (block_size <= 0) return fail(CUDA_ERROR_INVALID_VALUE, "blockSize is %d", block_size);
  if (block_size > most) return CUDA_SUCCESS;
  const int warps = (block_size + 31) / 32;
  blocks = std::min(blocks, std::max(1, threads / (warps * 32)));
  const uint64_t bytes = static_cast<uint64_t>(own_shared) + dynamic_bytes;
  if (bytes != 0) {
    blocks = static_cast<int>(std::min<uint64_t>(blocks, static_cast<uint64_t>(shared) / bytes));
  }
  *out = blocks;
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
