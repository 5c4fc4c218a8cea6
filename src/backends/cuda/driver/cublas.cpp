#include "backends/cuda/driver/cublas.h"

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/library_files.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::cuda {
namespace {

constexpr int kNewestMajor = 13, kOldestMajor = 11;

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

std::string file_name(int major) { return "libcublas.so." + std::to_string(major); }

Error not_usable(const std::string& path, const std::string& why) {
  return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s%s%s", path.c_str(), path.empty() ? "" : " ",
                    why.c_str());
}

Result<Cublas> find_and_load() {
  const std::string named = env(EnvVar::KM_CUBLAS).value_or("");
  std::string failures;
  for (const std::string& path : cublas_candidates(named, cuda_toolkits(), driver_version())) {
    Result<Cublas> loaded = Cublas::load(path);
    if (loaded) {
      log(LogLevel::kInfo, "blas", "cuBLAS %s at %s", loaded->version().c_str(),
          loaded->path().c_str());
      return loaded;
    }
    failures += "; " + loaded.error().message;
  }
  return make_error(
      KM_ERROR_BLAS_UNAVAILABLE,
      "cuBLAS, which runs BLAS on NVIDIA GPUs, was not found%s%s%s. Install that of the CUDA "
      "toolkit for the driver's CUDA %s or older, from 11 on (libcublas.so.%d; the Python package "
      "nvidia-cublas has it too), or set KM_CUBLAS to the library or to its folder",
      named.empty() ? " in the loader's folders" : " at KM_CUBLAS=", named.c_str(),
      failures.c_str(), version_text(driver_version()).c_str(), driver_version() / 1000);
}

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

struct Meaning {
  km_status status;
  const char* advice;
};
Meaning meaning_of(cublas::Status status) {
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
  std::vector<LibraryFile> files;
  for (int major = kNewestMajor; major >= kOldestMajor; --major) {
    files.push_back({file_name(major), major});
  }
  return library_candidates(files, named, toolkits, driver_version);
}

const char* cublas_name(kmb_blas_routine routine, km_data_type type) {
  return kNames[routine].of_type[type - KM_DATA_TYPE_F32];
}

Result<Cublas> Cublas::load(const std::string& path) {
  Result<Dylib> library = Dylib::open(path);
  if (!library) return not_usable("", library.error().message);
  Cublas result;
  result.path_ = library->path().empty() ? path : library->path();
  std::string missing;
  const auto find = [&](const char* name) {
    void* found = library->symbol(name);
    if (found == nullptr && missing.empty()) missing = name;
    return found;
  };
  for (size_t routine = 0; routine < KMB_BLAS_ROUTINE_COUNT; ++routine) {
    for (int type = 0; type < 4; ++type) {
      const char* const name = kNames[routine].of_type[type];
      if (std::string(name) != "cublas0_v2") result.routines_[routine][type] = find(name);
    }
  }
  for (int type = 0; type < 4; ++type) {
    result.batches_[type] = reinterpret_cast<cublas::GEMM_STRIDED_BATCHED>(find(kBatchNames[type]));
  }
#define KM_CUBLAS_FUNCTION(name, ...) \
  result.name = reinterpret_cast<cublas::name##_type>(find(#name));
#include "cuda/cublas_functions.def"
#undef KM_CUBLAS_FUNCTION
  if (!missing.empty()) return not_usable(result.path_, "is not cuBLAS: it lacks " + missing);
  int major = 0, minor = 0;
  if (result.cublasGetProperty(cublas::kMajorVersion, &major) != cublas::kSuccess ||
      result.cublasGetProperty(cublas::kMinorVersion, &minor) != cublas::kSuccess) {
    return not_usable(result.path_, "does not report its version");
  }
  result.version_ = std::to_string(major) + "." + std::to_string(minor);
  return result;
}

Result<const Cublas*> Cublas::instance() {
  static const Result<Cublas> loaded = find_and_load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error blas_error(BlasCalled called) {
  const Meaning meaning = meaning_of(called.status);
  Error error = make_error(meaning.status, "%s gave %s (%d)%s", called.name,
                           status_name(called.status), called.status, meaning.advice);
  error.native_code = called.status;
  return error;
}

void destroy_blas_handle(BlasHandle handle) {
  // The library is loaded, because it created the handle.
  const Result<const Cublas*> library = Cublas::instance();
  const cublas::Status status = (*library)->cublasDestroy_v2(handle.handle);
  if (status == cublas::kSuccess) return;
  log(LogLevel::kWarn, "cuda", "cublasDestroy_v2 gave %s (%d)", status_name(status), status);
}

}  // namespace km::cuda
