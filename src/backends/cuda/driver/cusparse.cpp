#include "backends/cuda/driver/cusparse.h"

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/library_files.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::cuda {
namespace {

const LibraryFile kFiles[] = {{"libcusparse.so.12", 12}};  // of CUDA 12 and 13

Error not_usable(const std::string& path, const std::string& why) {
  return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s %s", path.c_str(), why.c_str());
}

Result<Cusparse> find_and_load() {
  const std::string named = env(EnvVar::KM_CUSPARSE).value_or("");
  std::string failures;
  for (const std::string& path :
       library_candidates(kFiles, named, cuda_toolkits(), driver_version())) {
    Result<Cusparse> loaded = Cusparse::load(path);
    if (loaded) {
      log(LogLevel::kInfo, "sparse", "cuSPARSE %s at %s", loaded->version().c_str(),
          loaded->path().c_str());
      return loaded;
    }
    failures += "; " + loaded.error().message;
  }
  return make_error(
      KM_ERROR_BLAS_UNAVAILABLE,
      "cuSPARSE, which runs sparse calls on NVIDIA GPUs, was not found%s%s%s. Install that of the "
      "CUDA toolkit for the driver's CUDA %s or older, from 12 on (libcusparse.so.12; the Python "
      "package nvidia-cusparse has it too), or set KM_CUSPARSE to the library or to its folder",
      named.empty() ? " in the loader's folders" : " at KM_CUSPARSE=", named.c_str(),
      failures.c_str(), version_text(driver_version()).c_str());
}

/// The names of the statuses, by their numbers.
constexpr const char* kStatusNames[] = {"CUSPARSE_STATUS_SUCCESS",
                                        "CUSPARSE_STATUS_NOT_INITIALIZED",
                                        "CUSPARSE_STATUS_ALLOC_FAILED",
                                        "CUSPARSE_STATUS_INVALID_VALUE",
                                        "CUSPARSE_STATUS_ARCH_MISMATCH",
                                        "CUSPARSE_STATUS_MAPPING_ERROR",
                                        "CUSPARSE_STATUS_EXECUTION_FAILED",
                                        "CUSPARSE_STATUS_INTERNAL_ERROR",
                                        "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
                                        "CUSPARSE_STATUS_ZERO_PIVOT",
                                        "CUSPARSE_STATUS_NOT_SUPPORTED",
                                        "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"};

const char* status_name(cusparse_library::Status status) {
  const auto number = static_cast<unsigned>(status);
  return number < std::size(kStatusNames) ? kStatusNames[number] : "an unknown status";
}

struct Meaning {
  km_status status;
  const char* advice;
};
Meaning meaning_of(cusparse_library::Status status) {
  switch (status) {
    case cusparse_library::kNotInitialized:
      return {KM_ERROR_BLAS_UNAVAILABLE,
              ": it cannot start here; check that its version fits the driver"};
    case cusparse_library::kAllocFailed:
    case cusparse_library::kInsufficientResources:
      return {KM_ERROR_OUT_OF_DEVICE_MEMORY, ": free device memory"};
    case cusparse_library::kInvalidValue:
    case cusparse_library::kArchMismatch:
    case cusparse_library::kMatrixTypeNotSupported:
    case cusparse_library::kNotSupported:
      return {KM_ERROR_NOT_SUPPORTED, ": it cannot do that on this device; a newer version may"};
    default:
      return {KM_ERROR_INTERNAL, ""};
  }
}

}  // namespace

Result<Cusparse> Cusparse::load(const std::string& path) {
  Result<Dylib> library = Dylib::open(path);
  if (!library) {
    return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s", library.error().message.c_str());
  }
  Cusparse result;
  result.path_ = library->path().empty() ? path : library->path();
  std::string missing;
  const auto find = [&](const char* name) {
    void* found = library->symbol(name);
    if (found == nullptr && missing.empty()) missing = name;
    return found;
  };
#define KM_CUSPARSE_FUNCTION(name, ...) \
  result.name = reinterpret_cast<cusparse_library::name##_type>(find(#name));
#include "cuda/cusparse_functions.def"
#undef KM_CUSPARSE_FUNCTION
  if (!missing.empty()) return not_usable(result.path_, "is not cuSPARSE: it lacks " + missing);
  int major = 0, minor = 0;
  const bool is_known = result.cusparseGetProperty(cusparse_library::kMajorVersion, &major) ==
                            cusparse_library::kSuccess &&
                        result.cusparseGetProperty(cusparse_library::kMinorVersion, &minor) ==
                            cusparse_library::kSuccess;
  if (!is_known) return not_usable(result.path_, "does not report its version");
  result.version_ = std::to_string(major) + "." + std::to_string(minor);
  return result;
}

Result<const Cusparse*> Cusparse::instance() {
  static const Result<Cusparse> loaded = find_and_load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error sparse_error(const char* function, cusparse_library::Status status) {
  const Meaning meaning = meaning_of(status);
  Error error = make_error(meaning.status, "%s gave %s (%d)%s", function, status_name(status),
                           static_cast<int>(status), meaning.advice);
  error.native_code = status;
  return error;
}

void destroy_sparse_handle(cusparse_library::Handle handle) {
  // The library is loaded, because it created the handle.
  const Result<const Cusparse*> library = Cusparse::instance();
  const cusparse_library::Status status = (*library)->cusparseDestroy(handle);
  if (status == cusparse_library::kSuccess) return;
  log(LogLevel::kWarn, "cuda", "cusparseDestroy gave %s (%d)", status_name(status), status);
}

}  // namespace km::cuda
