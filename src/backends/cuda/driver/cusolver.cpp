#include "backends/cuda/driver/cusolver.h"

#include "backends/cuda/driver/library_symbols.h"

namespace km::cuda {
namespace {

const LibraryFile kFiles[] = {{"libcusolver.so.12", 13}, {"libcusolver.so.11", 11}};

const LibraryAbout kAbout{"cuSOLVER", "runs km_solve",     "nvidia-cusolver",
                          "solve",    EnvVar::KM_CUSOLVER, "KM_CUSOLVER",
                          kFiles};

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

LibraryMeaning meaning_of(cusolver_library::Status status) {
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
  Result<LibrarySymbols> opened = LibrarySymbols::open(kAbout, path);
  if (!opened) return opened.error();
  LibrarySymbols& symbols = *opened;
  Cusolver result;
  result.path_ = symbols.path();
#define KM_CUSOLVER_FUNCTION(name, ...) \
  result.name = reinterpret_cast<cusolver_library::name##_type>(symbols.address(#name));
#define KM_CUSOLVER_ROUTINE(routine, s, d, c, z, ...)                              \
  for (int type = 0; const char* name : {#s, #d, #c, #z}) {                        \
    result.routine##_of[type++] =                                                  \
        reinterpret_cast<cusolver_library::routine##_type>(symbols.address(name)); \
  }
#include "cuda/cusolver_functions.def"
#undef KM_CUSOLVER_ROUTINE
#undef KM_CUSOLVER_FUNCTION
  KM_ASSIGN(result.version_,
            symbols.version(result.cusolverGetProperty, cusolver_library::kMajorVersion,
                            cusolver_library::kMinorVersion));
  return result;
}

Result<const Cusolver*> Cusolver::instance() {
  static const Result<Cusolver> loaded = find_and_load<Cusolver>(kAbout);
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error solver_error(const char* function, cusolver_library::Status status) {
  return library_failure(function, status_name(status), static_cast<int>(status),
                         meaning_of(status));
}

void destroy_solver_handle(cusolver_library::Handle handle) {
  // The library is loaded, because it created the handle.
  const Result<const Cusolver*> library = Cusolver::instance();
  const cusolver_library::Status status = (*library)->cusolverDnDestroy(handle);
  if (status == cusolver_library::kSuccess) return;
  log(LogLevel::kWarn, "cuda", "%s", solver_error("cusolverDnDestroy", status).message.c_str());
}

}  // namespace km::cuda
