#include "backends/cuda/driver/status.h"

#include "base/cuda/cuda_results.h"
#include "base/log.h"

namespace km::cuda {
namespace {

Error needs_newer_driver(Called called) {
  return {KM_ERROR_NOT_SUPPORTED,
          std::string("this needs ") + called.symbol->name +
              " of the NVIDIA driver, which came with CUDA " + version_text(called.symbol->since) +
              "; the driver here is for CUDA " + version_text(driver_version()) +
              ": install a newer one",
          called.result};
}

}  // namespace

bool is_fatal(cu::CUresult result) {
  switch (result) {
    case cu::CUDA_ERROR_DEINITIALIZED:
    case cu::CUDA_ERROR_ECC_UNCORRECTABLE:
    case cu::CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case cu::CUDA_ERROR_CONTAINED:
    case cu::CUDA_ERROR_ILLEGAL_ADDRESS:
    case cu::CUDA_ERROR_LAUNCH_TIMEOUT:
    case cu::CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case cu::CUDA_ERROR_ASSERT:
    case cu::CUDA_ERROR_HARDWARE_STACK_ERROR:
    case cu::CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case cu::CUDA_ERROR_MISALIGNED_ADDRESS:
    case cu::CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case cu::CUDA_ERROR_INVALID_PC:
    case cu::CUDA_ERROR_LAUNCH_FAILED:
    case cu::CUDA_ERROR_TENSOR_MEMORY_LEAK:
    case cu::CUDA_ERROR_MPS_CLIENT_TERMINATED:
    case cu::CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

std::string result_text(cu::CUresult result) {
  const char* name = cuda_result_name(result);
  return std::string(name != nullptr ? name : "an unknown result") + " (" + std::to_string(result) +
         ")";
}

Error driver_error(Called called) {
  if (called.result == cu::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER) return needs_newer_driver(called);
  std::string text = std::string(called.symbol->name) + " gave " + result_text(called.result);
  const char* said = nullptr;
  if (driver().cuGetErrorString(called.result, &said).ok() && said != nullptr) {
    text += std::string(": ") + said;
  }
  return {status_of_cuda(called.result).value_or(KM_ERROR_INTERNAL), std::move(text),
          called.result};
}

void check_destroyed(Called called) {
  if (called.ok()) return;
  log(LogLevel::kWarn, "cuda", "%s", driver_error(called).message.c_str());
}

}  // namespace km::cuda
