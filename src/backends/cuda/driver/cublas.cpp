#include "backends/cuda/driver/cublas.h"

#include "backends/cuda/driver/library_symbols.h"

namespace km::cuda {
namespace {

struct RoutineNames {
  const char* of_type[4];  // f32, f64, c32, c64; "cublas0_v2": no such routine
};
constexpr RoutineNames kNames[] = {
#define KMB_BLAS(routine, s, d, c, z, cublas_s, cublas_d, cublas_c, cublas_z)     \
  {{"cublas" #cublas_s "_v2", "cublas" #cublas_d "_v2", "cublas" #cublas_c "_v2", \
    "cublas" #cublas_z "_v2"}},
#include "backend/blas.def"
#undef KMB_BLAS
};
constexpr const char* kBatchNames[] = {"cublasSgemmStridedBatched", "cublasDgemmStridedBatched",
                                       "cublasCgemmStridedBatched", "cublasZgemmStridedBatched"};

const LibraryFile kFiles[] = {
    {"libcublas.so.13", 13}, {"libcublas.so.12", 12}, {"libcublas.so.11", 11}};

const LibraryAbout kAbout{"cuBLAS",          "runs BLAS", "nvidia-cublas", "blas",
                          EnvVar::KM_CUBLAS, "KM_CUBLAS", kFiles};

const char* status_name(cublas::Status status) {
  switch (status) {
    case cublas::kSuccess:
      return "CUBLAS_STATUS_SUCCESS";
    case cublas::kNotInitialized:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case cublas::kAllocFailed:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case cublas::kInvalidValue:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case cublas::kArchMismatch:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case cublas::kMappingError:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case cublas::kExecutionFailed:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case cublas::kInternalError:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case cublas::kNotSupported:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case cublas::kLicenseError:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "an unknown status";
}

LibraryMeaning meaning_of(cublas::Status status) {
  switch (status) {
    case cublas::kNotInitialized:
    case cublas::kLicenseError:
      return {KM_ERROR_BLAS_UNAVAILABLE,
              ": it cannot start here; check that its version fits the driver"};
    case cublas::kAllocFailed:
      return {KM_ERROR_OUT_OF_DEVICE_MEMORY, ": free device memory"};
    case cublas::kInvalidValue:
      return {KM_ERROR_INVALID_ARGUMENT, ": it refuses these arguments"};
    case cublas::kArchMismatch:
    case cublas::kNotSupported:
      return {KM_ERROR_NOT_SUPPORTED, ": it cannot do that on this device; a newer version may"};
    default:
      return {KM_ERROR_INTERNAL, ""};
  }
}

}  // namespace

std::vector<std::string> cublas_candidates(const std::string& named,
                                           const std::vector<std::string>& toolkits,
                                           int driver_version) {
  return library_candidates(kFiles, named, toolkits, driver_version);
}

const char* cublas_name(kmb_blas_routine routine, km_data_type type) {
  return kNames[routine].of_type[type - KM_DATA_TYPE_F32];
}

Result<Cublas> Cublas::load(const std::string& path) {
  Result<LibrarySymbols> opened = LibrarySymbols::open(kAbout, path);
  if (!opened) return opened.error();
  LibrarySymbols& symbols = *opened;
  Cublas result;
  result.path_ = symbols.path();
  for (size_t routine = 0; routine < KMB_BLAS_ROUTINE_COUNT; ++routine) {
    for (int type = 0; type < 4; ++type) {
      const char* const name = kNames[routine].of_type[type];
      if (std::string(name) == "cublas0_v2") continue;
      result.routines_[routine][type] = symbols.address(name);
    }
  }
  for (int type = 0; type < 4; ++type) {
    result.batches_[type] =
        reinterpret_cast<cublas::GEMM_STRIDED_BATCHED>(symbols.address(kBatchNames[type]));
  }
#define KM_CUBLAS_FUNCTION(name, ...) \
  result.name = reinterpret_cast<cublas::name##_type>(symbols.address(#name));
#include "cuda/cublas_functions.def"
#undef KM_CUBLAS_FUNCTION
  KM_ASSIGN(result.version_, symbols.version(result.cublasGetProperty, cublas::kMajorVersion,
                                             cublas::kMinorVersion));
  return result;
}

Result<const Cublas*> Cublas::instance() {
  static const Result<Cublas> loaded = find_and_load<Cublas>(kAbout);
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error blas_error(BlasCalled called) {
  return library_failure(called.name, status_name(called.status), called.status,
                         meaning_of(called.status));
}

void destroy_blas_handle(BlasHandle handle) {
  // The library is loaded, because it created the handle.
  const Result<const Cublas*> library = Cublas::instance();
  const cublas::Status status = (*library)->cublasDestroy_v2(handle.handle);
  if (status == cublas::kSuccess) return;
  log(LogLevel::kWarn, "cuda", "cublasDestroy_v2 gave %s (%d)", status_name(status), status);
}

}  // namespace km::cuda
