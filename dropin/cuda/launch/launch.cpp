#include "dropin/cuda/launch/launch.h"
#include "base/assert.h"
#include "base/text.h"

#include <algorithm>
#include <cstring>

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
    return fail(CUDA_ERROR_INVALID_VALUE, "extra has %s; kernel '%s' takes %llu",
                counted(buffer_bytes, "byte").c_str(), function.info().name,
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
  KM_ASSERT(size_bytes_ <= std::max(sizeof inline_, more_.size()), "all arguments have room");
  if (params == nullptr && extra != nullptr) return read_buffer(function, extra);
  if (params != nullptr && extra != nullptr) {
    return fail(CUDA_ERROR_INVALID_VALUE, "both kernelParams and extra are given");
  }
  if (params == nullptr && info.param_count != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "kernel '%s' takes %s; none is given", info.name,
                counted(info.param_count, "parameter").c_str());
  }
  for (uint32_t i = 0; i < info.param_count; ++i) {
    const kmb_param& param = info.params[i];
    if (params[i] == nullptr) {
      return fail(CUDA_ERROR_INVALID_VALUE, "parameter %u of kernel '%s' is null", i, info.name);
    }
    KM_ASSERT(uint64_t{param.offset_bytes} + param.size_bytes <= size_bytes_,
              "a parameter lies among the arguments");
    std::memcpy(bytes_ + param.offset_bytes, params[i], param.size_bytes);
  }
  return CUDA_SUCCESS;
}

CUresult check_cluster(const km::Function& function, const LaunchShape& shape) {
  const auto& size = shape.cluster;
  if ((size[0] | size[1] | size[2]) == 0) return CUDA_SUCCESS;
  const uint64_t blocks = uint64_t{size[0]} * size[1] * size[2];
  CU_ASSIGN(const uint64_t most, max_cluster_blocks(function));
  if (blocks != 0 && blocks <= most) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_CLUSTER_SIZE, "clusters of %u x %u x %u blocks; 1 to %llu here",
              size[0], size[1], size[2], static_cast<unsigned long long>(most));
}

CUresult launch(const LaunchCall& call) {
  FunctionUse function;
  CU_TRY(function.get(call.function));
  CU_STREAM_FOR_WORK(stream, call.stream);
  if (&stream->context() != &function->context()) {
    return fail(CUDA_ERROR_INVALID_HANDLE, "kernel '%s' and the stream are of different contexts",
                function->info().name);
  }
  const km::Device& device = stream.core().context().device();
  if (!fits_device(device.info(), call.shape)) CU_CHECK(check_shape(device, call.shape));
  if (call.shape.is_cooperative) {
    const Status fits = check_cooperative(function->core(), call.shape);
    if (!fits) {
      return fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "%s", fits.error().message.c_str());
    }
  }
  CU_TRY(check_cluster(function->core(), call.shape));
  Arguments arguments;
  CU_TRY(arguments.read(*function, call.params, call.extra));
  CU_CHECK(submit_launch(
      stream.core(), {function->core(), call.shape, arguments.data(), arguments.size_bytes(), {}}));
  return CUDA_SUCCESS;
}

CUresult Occupancy::read(const Function& function) {
  CU_ASSIGN(limits, multiprocessor_limits(*function.context().device().device));
  CU_ASSIGN(needs, kernel_needs(function.core()));
  return CUDA_SUCCESS;
}

CUresult Occupancy::active_blocks(int block_size, uint64_t dynamic_bytes, int* out) const {
  if (block_size <= 0) return fail(CUDA_ERROR_INVALID_VALUE, "blockSize is %d", block_size);
  const km_occupancy found =
      compute_occupancy(limits, needs, static_cast<uint32_t>(block_size), dynamic_bytes);
  *out = static_cast<int>(found.active_blocks);
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
