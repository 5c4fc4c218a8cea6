#include "backends/cuda/driver/cusolver.h"

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/library_files.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::cuda {
namespace {

const LibraryFile kFiles[] = {{"libcusolver.so.12", 13}, {"libcusolver.so.11", 11}};

Error not_usable(const std::string& path, const std::string& why) {
  return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s %s", path.c_str(), why.c_str());
}

Result<Cusolver> find_and_load() {
  const std::string named = env(EnvVar::KM_CUSOLVER).value_or("");
  std::string failures;
  for (const std::string& path :
       library_candidates(kFiles, named, cuda_toolkits(), driver_version())) {
    Result<Cusolver> loaded = Cusolver::load(path);
    if (loaded) {
      log(LogLevel::kInfo, "solve", "cuSOLVER %s at %s", loaded->version().c_str(),
          loaded->path().c_str());
      return loaded;
    }
    failures += "; " + loaded.error().message;
  }
  return make_error(
      KM_ERROR_BLAS_UNAVAILABLE,
      "cuSOLVER, which runs km_solve on NVIDIA GPUs, was not found%s%s%s. Install that of the CUDA "
      "toolkit for the driver's CUDA %s or older (libcusolver.so; the Python package "
      "nvidia-cusolver has it too), or set KM_CUSOLVER to the library or to its folder",
      named.empty() ? " in the loader's folders" : " at KM_CUSOLVER=", named.c_str(),
      failures.c_str(), version_text(driver_version()).c_str());
}

const char* status_name(cusolver_library::Status status) {
  switch (status) {
    case cusolver_library::kSuccess:
      return "CUSOLVER_STATUS_SUCCESS";
    case cusolver_library::kNotInitialized:
      return "CUSOLVER_STATUS_NOT_INITIALIZED";
    case cusolver_library::kAllocFailed:
      return "CUSOLVER_STATUS_ALLOC_FAILED";
    case cusolver_library::kInvalidValue:
      return "CUSOLVER_STATUS_INVALID_VALUE";
    case cusolver_library::kArchMismatch:
      return "CUSOLVER_STATUS_ARCH_MISMATCH";
    case cusolver_library::kExecutionFailed:
      return "CUSOLVER_STATUS_EXECUTION_FAILED";
    case cusolver_library::kInternalError:
      return "CUSOLVER_STATUS_INTERNAL_ERROR";
    case cusolver_library::kNotSupported:
      return "CUSOLVER_STATUS_NOT_SUPPORTED";
  }
  return "an unknown status";
}

struct Meaning {
  km_status status;
  const char* advice;
};
Meaning meaning_of(cusolver_library::Status status) {
  switch (status) {
    case cusolver_library::kNotInitialized:
      return {KM_ERROR_BLAS_UNAVAILABLE,
              ": it cannot start here; check that its version fits the driver"};
    case cusolver_library::kAllocFailed:
      return {KM_ERROR_OUT_OF_DEVICE_MEMORY, ": free device memory"};
    case cusolver_library::kArchMismatch:
    case cusolver_library::kNotSupported:
      return {KM_ERROR_NOT_SUPPORTED, ": it does not have this routine on the device"};
    default:
      return {KM_ERROR_INTERNAL, ""};
  }
}

}  // namespace

Result<Cusolver> Cusolver::load(const std::string& path) {
  Result<Dylib> library = Dylib::open(path);
  if (!library) {
    return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s", library.error().message.c_str());
  }
  Cusolver result;
  result.path_ = library->path().empty() ? path : library->path();
  std::string missing;
  const auto find = [&](const char* name) {
    void* found = library->symbol(name);
    if (found == nullptr && missing.empty()) missing = name;
    return found;
  };
#define KM_CUSOLVER_FUNCTION(name, ...) \
  result.name = reinterpret_cast<cusolver_library::name##_type>(find(#name));
#define KM_CUSOLVER_ROUTINE(routine, s, d, c, z, ...)                                             \
  for (int type = 0; const char* name : {#s, #d, #c, #z}) {                                       \
    result.routine##_of[type++] = reinterpret_cast<cusolver_library::routine##_type>(find(name)); \
  }
#include "cuda/cusolver_functions.def"
#undef KM_CUSOLVER_ROUTINE
#undef KM_CUSOLVER_FUNCTION
  if (!missing.empty()) return not_usable(result.path_, "is not cuSOLVER: it lacks " + missing);
  int major = 0, minor = 0;
  if (result.cusolverGetProperty(cusolver_library::kMajorVersion, &major) !=
          cusolver_library::kSuccess ||
      result.cusolverGetProperty(cusolver_library::kMinorVersion, &minor) !=
          cusolver_library::kSuccess) {
    return not_usable(result.path_, "does not report its version");
  }
  result.version_ = std::to_string(major) + "." + std::to_string(minor);
  return result;
}

Result<const Cusolver*> Cusolver::instance() {
  static const Result<Cusolver> loaded = find_and_load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error solver_error(const char* function, cusolver_library::Status status) {
  const Meaning meaning = meaning_of(status);
  Error error = make_error(meaning.status, "%s gave %s (%d)%s", function, status_name(status),
                           static_cast<int>(status), meaning.advice);
  error.native_code = status;
  return error;
}

void destroy_solver_handle(cusolver_library::Handle handle) {
  // The library is loaded, because it created the handle.
  const Result<const Cusolver*> library = Cusolver::instance();
  const cusolver_library::Status status = (*library)->cusolverDnDestroy(handle);
  if (status == cusolver_library::kSuccess) return;
  log(LogLevel::kWarn, "cuda", "%s", solver_error("cusolverDnDestroy", status).message.c_str());
}

}  // namespace km::cuda
