// Initialisation, version, errors' names, the profiler's switches.
#include "base/cuda/cuda_results.h"
#include "base/process/dylib.h"
#include "dropin/cuda/context/context.h"
#include "dropin/cuda/frame/error_text.h"
#include "dropin/cuda/frame/failure_report.h"
#include "dropin/cuda/module/library_table.h"
#include "km_version.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

/// True if the code at the address is NVRTC's: some versions of it ask the driver, if there is one.
bool is_nvrtc(const void* code) {
  const std::string file = file_of_code(code);
  return file.substr(file.rfind('/') + 1).starts_with("libnvrtc");
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned int flags) {
  return guard_anywhere(__func__, [&]() -> CUresult {
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u; it must be 0", flags);
    return Driver::instance().initialize();
  });
}

CUresult cuDriverGetVersion(int* version) {
  return guard_anywhere(__func__, [&]() -> CUresult {
    CU_REQUIRE(version);
    *version = kDriverVersion;
    return CUDA_SUCCESS;
  });
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = cuda_result_name(error);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = error_text(error);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  const void* const caller = __builtin_return_address(0);
  return guard_anywhere(__func__, [&]() -> CUresult {
    CU_REQUIRE(table);
    *table = find_library_table(id);
    if (*table != nullptr) return CUDA_SUCCESS;
    if (is_nvrtc(caller)) {
      return fail(CUDA_ERROR_NOT_FOUND, "NVRTC asks for a private table, which it can do without");
    }
    constexpr const char* kHint =
        "the program holds NVIDIA's own CUDA runtime, which needs private tables of NVIDIA's "
        "driver: build it with `nvcc -cudart shared`, or link libcudart.so of "
        "lib/kernelmill-" KM_VERSION_STRING "/cuda/13 (12 for CUDA 12)";
    show_hint(kHint);
    return fail(CUDA_ERROR_NOT_FOUND, "%s", kHint);
  });
}

CUresult cuProfilerInitialize(const char*, const char*, CUoutput_mode) {
  return guard(__func__, [&]() -> CUresult {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "profiles are configured by KM_TRACE");
  });
}

CUresult cuProfilerStart() {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    CU_CHECK(context->core()->start_profiler());
    return CUDA_SUCCESS;
  });
}

CUresult cuProfilerStop() {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    CU_CHECK(context->core()->stop_profiler());
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
