#include "dropin/library/kernels.h"
#include "base/log.h"

namespace km::library {

cu::CUresult KernelModule::load(const Driver& driver) {
  if (library_.load(std::memory_order_acquire) != nullptr) return cu::CUDA_SUCCESS;
  cu::CUlibrary library = nullptr;
  const cu::CUresult loaded =
      driver.cuLibraryLoadData(&library, ptx_, nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (loaded != cu::CUDA_SUCCESS) {
    log(LogLevel::kInfo, "cuda", "the library's kernels cannot be loaded: error %d",
        static_cast<int>(loaded));
    return loaded;
  }
  cu::CUlibrary none = nullptr;
  // Another thread, or a callback of CUPTI within the loading, may have been faster.
  if (!library_.compare_exchange_strong(none, library, std::memory_order_acq_rel)) {
    driver.cuLibraryUnload(library);
  }
  return cu::CUDA_SUCCESS;
}

cu::CUresult KernelModule::launch_bytes(const Driver& driver, cu::CUstream stream,
                                        const char* kernel, const unsigned (&grid)[3],
                                        unsigned block, void* parameters) {
  if (const cu::CUresult loaded = load(driver); loaded != cu::CUDA_SUCCESS) return loaded;
  cu::CUkernel found = nullptr;
  const cu::CUresult got =
      driver.cuLibraryGetKernel(&found, library_.load(std::memory_order_acquire), kernel);
  if (got != cu::CUDA_SUCCESS) {
    log(LogLevel::kInfo, "cuda", "the library has no kernel %s", kernel);
    return got;
  }
  void* arguments[] = {parameters};
  return driver.cuLaunchKernel(reinterpret_cast<cu::CUfunction>(found), grid[0], grid[1], grid[2],
                               block, 1, 1, 0, stream, arguments, nullptr);
}

}  // namespace km::library
