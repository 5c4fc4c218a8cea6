// Handles, their settings, versions and error texts.
#include <cstdio>
#include <string>

#include "base/thread/cancellation.h"
#include "dropin/cublas/frame/handle.h"
#include "dropin/cublas/version/version.h"

namespace km::cublas {

namespace {

cu::CUstream driver_stream(cudaStream_t stream) { return reinterpret_cast<cu::CUstream>(stream); }

}  // namespace

cublasStatus_t create_handle(cublasHandle_t* out) {
  LIB_REQUIRE(out);
  const Driver* const driver = library::driver();
  if (driver == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (driver->table == nullptr) {
    return frame::fail(CUBLAS_STATUS_NOT_INITIALIZED,
                       "libcublas works with Kernelmill's libcuda.so.1 only; another driver is "
                       "loaded");
  }
  LIB_CHECK(library::enter_context(*driver));
  auto handle = std::make_shared<Handle>();
  handle->driver = driver;
  LIB_CHECK(driver->cuCtxGetCurrent(&handle->context));
  const uint64_t tag =
      library::handle_tag(library::HandleKind::kCublas, static_cast<unsigned>(kVersion / 10000));
  const uint64_t id = library::handle_map<Handle>().add(std::move(handle), tag);
  const cublasStatus_t given = write_value("handle", out, reinterpret_cast<cublasHandle_t>(id));
  if (given == CUBLAS_STATUS_SUCCESS) {
    driver->table->note_handle(id, true);  // cublasLt accepts it too
  } else {
    library::handle_map<Handle>().remove(id);
  }
  return given;
}

cublasStatus_t destroy_handle(cublasHandle_t handle) {
  const auto id = reinterpret_cast<uint64_t>(handle);
  const auto removed = library::handle_map<Handle>().remove(id);
  if (removed == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  removed->driver->table->note_handle(id, false);
  return CUBLAS_STATUS_SUCCESS;
}

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return call(__func__, [&] { return create_handle(handle); });
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  return call(__func__, [&] { return destroy_handle(handle); });
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  return call(__func__, [&] { return write_value("version", version, int{kVersion}); });
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  return call(__func__, [&]() -> cublasStatus_t {
    const int parts[] = {kVersion / 10000, kVersion / 100 % 100, kVersion % 100};
    const int which = static_cast<int>(type);
    if (which < 0 || which > 2) return invalid("type is %d, which is not a property", which);
    return write_value("value", value, parts[which]);
  });
}

size_t cublasGetCudartVersion() { return static_cast<size_t>(kCudartVersion); }

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void* workspace, size_t size_bytes) {
  // Kernels allocate from the stream's memory, so the workspace is only validated.
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
  return call(__func__, handle, [&](Handle& h) {
    return write_value("streamId", stream, reinterpret_cast<cudaStream_t>(h.stream.load()));
  });
}

/// Setter and getter of a setting with values from 0 to `most`.
#define KM_SETTING(Name, Type, member, is_value)                                                  \
  cublasStatus_t cublasSet##Name(cublasHandle_t handle, Type value) {                             \
    return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {                              \
      const int number = static_cast<int>(value);                                                 \
      if (!(is_value)) return invalid("the value is %d, which is not a value of " #Type, number); \
      h.member = number;                                                                          \
      return CUBLAS_STATUS_SUCCESS;                                                               \
    });                                                                                           \
  }                                                                                               \
  cublasStatus_t cublasGet##Name(cublasHandle_t handle, Type* value) {                            \
    return call(__func__, handle, [&](Handle& h) {                                                \
      return write_value("the place of the setting", value, static_cast<Type>(h.member.load()));  \
    });                                                                                           \
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

/// Writes -1 to the count now: nothing is emulated, so no later call would update it.
cublasStatus_t cublasSetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t handle,
                                                                   int* count) {
  return call(__func__, handle, [&](Handle& h) -> cublasStatus_t {
    if (count != nullptr) {
      LIB_CHECK(h.driver->cuMemsetD8Async(reinterpret_cast<uint64_t>(count), 0xff, sizeof *count,
                                          h.stream.load()));
    }
    h.mantissa_bit_count = count;
    return CUBLAS_STATUS_SUCCESS;
  });
}
cublasStatus_t cublasGetFixedPointEmulationMantissaBitCountPointer(cublasHandle_t handle,
                                                                   int** count) {
  return call(__func__, handle, [&](Handle& h) {
    return write_value("mantissaBitCount", count, h.mantissa_bit_count.load());
  });
}

void cublasXerbla(const char* name, int parameter) {
  call(__func__, [&] {
    const NoCancellation postponed;
    constexpr size_t kMostBytes = 64;
    std::string text;
    if (!library::read_host_text(name, kMostBytes, &text)) text.assign(1, '?');
    std::fprintf(stderr, " ** On entry to %-6s parameter number %2d had an illegal value\n",
                 text.c_str(), parameter);
    return CUBLAS_STATUS_SUCCESS;
  });
}

const char* cublasGetStatusName(cublasStatus_t status) { return status_name(status); }

const char* cublasGetStatusString(cublasStatus_t status) { return status_text(status); }

}  // extern "C"

}  // namespace km::cublas
