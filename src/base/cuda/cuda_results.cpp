#include "base/cuda/cuda_results.h"

namespace km {
namespace {

enum CudaResult : int32_t {
#define KM_CUDA_RESULT(number, name, status) name = number,
#define KM_CUDA_STATUS(status, result)
#include "base/cuda/cuda_results.def"
#undef KM_CUDA_STATUS
#undef KM_CUDA_RESULT
};

}  // namespace

std::optional<km_status> status_of_cuda(int32_t cuda_result) {
  switch (cuda_result) {
#define KM_CUDA_RESULT(number, name, status) \
  case number:                               \
    return status;
#define KM_CUDA_STATUS(status, result)
#include "base/cuda/cuda_results.def"
#undef KM_CUDA_STATUS
#undef KM_CUDA_RESULT
    default:
      return std::nullopt;
  }
}

std::optional<int32_t> cuda_of_status(km_status status) {
  switch (status) {
#define KM_CUDA_RESULT(number, name, status)
#define KM_CUDA_STATUS(status, result) \
  case status:                         \
    return result;
#include "base/cuda/cuda_results.def"
#undef KM_CUDA_STATUS
#undef KM_CUDA_RESULT
    default:
      return std::nullopt;
  }
}

const char* cuda_result_name(int32_t cuda_result) {
  switch (cuda_result) {
#define KM_CUDA_RESULT(number, name, status) \
  case number:                               \
    return #name;
#define KM_CUDA_STATUS(status, result)
#include "base/cuda/cuda_results.def"
#undef KM_CUDA_STATUS
#undef KM_CUDA_RESULT
    default:
      return nullptr;
  }
}

}  // namespace km
