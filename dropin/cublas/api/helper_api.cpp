// Handles, their settings, versions, texts of errors.
#include <cstdio>
#include <cstring>

#include "base/log.h"
#include "dropin/cublas/frame/handle.h"
#include "dropin/cublas/version.h"

namespace km::cublas {

namespace {

cu::CUstream driver_stream(cudaStream_t stream) { return reinterpret_cast<cu::CUstream>(stream); }

cublasStatus_t create(cublasHandle_t* out) {
  BLAS_REQUIRE(out);
  const Driver* const driver = library::driver();
  if (driver == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (driver->table == nullptr) {
    log(LogLevel::kInfo, "cuda",
        "this libcublas works with Kernelmill's libcuda.so.1 only; another driver is loaded");
    return CUBLAS_STATUS_NOT_INITIALIZED;
  }
  BLAS_CHECK(library::enter_context(*driver));
  auto handle = std::make_shared<Handle>();
  handle->driver = driver;
  BLAS_CHECK(driver->cuCtxGetCurrent(&handle->context));
  constexpr uint64_t kTag = 1;
  const uint64_t id = library::handle_map<Handle>().add(std::move(handle), kTag);
  *out = reinterpret_cast<cublasHandle_t>(id);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return frame(__func__, [&] { return create(handle); });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return frame(__func__, [&]() -> cublasStatus_t {
    const auto removed = library::handle_map<Handle>().remove(reinterpret_cast<uint64_t>(handle));
    return removed != nullptr ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
  });
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_REQUIRE(version);
    *version = kVersion;
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return frame(__func__, [&]() -> cublasStatus_t {
    BLAS_REQUIRE(value);
    switch (static_cast<int>(type)) {
      case 0:
        *value = kVersion / 10000;
        return CUBLAS_STATUS_SUCCESS;
      case 1:
        *value = kVersion / 100 % 100;
        return CUBLAS_STATUS_SUCCESS;
      case 2:
        *value = kVersion % 100;
        return CUBLAS_STATUS_SUCCESS;
      default:
        return invalid("type is %d, which is no property", static_cast<int>(type));
    }
  });
}

size_t cublasGetCudartVersion() { return static_cast<size_t>(kCudartVersion); }

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t size_bytes) {
  // Kernels take memory of the stream, so the place is checked and not kept.
  return call(__func__, handle, [&](Handle&) -> cublasStatus_t {
    if (workspace == nullptr && size_bytes != 0) return invalid("workspace is null");
    if (reinterpret_cast<uint64_t>(workspace) % 256 != 0) {
      return invalid("workspace is not aligned to 256 bytes");
    }
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return call(__func__, handle, [&](Handle& h) {
    h.stream = driver_stream(stream);
    return CUBLAS_STATUS_SUCCESS;
  });
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {
    BLAS_REQUIRE(stream);
    *stream = reinterpret_cast<cudaStream_t>(h.stream.load());
    return CUBLAS_STATUS_SUCCESS;
  });
}

/// A setting with values from 0 to `most`.
#define KM_SETTING(Name, Type, member, is_value)                                           \
  cublasStatus_t cublasSet##Name(cublasHandle_t handle, Type value) {                      \
    return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {                       \
      const int number = static_cast<int>(value);                                          \
      if (!(is_value)) return invalid("the value is %d, which is none of " #Type, number); \
      h.member = number;                                                                   \
      return CUBLAS_STATUS_SUCCESS;                                                        \
    });                                                                                    \
  }                                                                                        \
  cublasStatus_t cublasGet##Name(cublasHandle_t handle, Type* value) {                     \
    return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {                       \
      BLAS_REQUIRE(value);                                                                 \
      *value = static_cast<Type>(h.member.load());                                         \
      return CUBLAS_STATUS_SUCCESS;                                                        \
    });                                                                                    \
  }
KM_SETTING(PointerMode_v2, cublasPointerMode_t, pointer_mode, number == 0 || number == 1)
KM_SETTING(AtomicsMode, cublasAtomicsMode_t, atomics_mode, number == 0 || number == 1)
KM_SETTING(MathMode, cublasMath_t, math_mode, number >= 0 && number < 32)
KM_SETTING(SmCountTarget, int, sm_count_target, number >= 0)
KM_SETTING(EmulationStrategy, cublasEmulationStrategy_t, emulation_strategy,
           number >= 0 && number <= 2)
KM_SETTING(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special_values,
           number >= 0 && number <= CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT)
KM_SETTING(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa_control,
           number == 0 || number == 1)
KM_SETTING(FixedPointEmulationMaxMantissaBitCount, int, most_mantissa_bits, number >= 0)
KM_SETTING(FixedPointEmulationMantissaBitOffset, int, mantissa_bit_offset, true)

/// The count is -1 from now on, which says that nothing is emulated.
cublasStatus_t cublasSetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t handle,
                                                                   int* count) {
  return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {
    if (count != nullptr) {
      BLAS_CHECK(h.driver->cuMemsetD8Async(reinterpret_cast<uint64_t>(count), 0xff, sizeof *count,
                                           h.stream.load()));
    }
    h.mantissa_bit_count = count;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasGetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t handle,
                                                                   int** count) {
  return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {
    BLAS_REQUIRE(count);
    *count = h.mantissa_bit_count;
    return CUBLAS_STATUS_SUCCESS;
  });
}

void cublasXerbla(const char* name, int parameter) {
  std::fprintf(stderr, " ** On entry to %-6s parameter number %2d had an illegal value\n",
               name != nullptr ? name : "", parameter);
}

const char* cublasGetStatusName(cublasStatus_t status) { return status_name(status); }

const char* cublasGetStatusString(cublasStatus_t status) { return status_text(status); }

}  // extern "C"

}  // namespace km::cublas
