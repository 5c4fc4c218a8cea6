#include "backends/cuda/driver/cusparse.h"

#include "backends/cuda/driver/library_symbols.h"

namespace km::cuda {
namespace {

const LibraryFile kFiles[] = {{"libcusparse.so.12", 12}};  // of CUDA 12 and 13

const LibraryAbout kAbout{"cuSPARSE", "runs sparse calls", "nvidia-cusparse",
                          "sparse",   EnvVar::KM_CUSPARSE, "KM_CUSPARSE",
                          kFiles};

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

LibraryMeaning meaning_of(cusparse_library::Status status) {
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
  Result<LibrarySymbols> opened = LibrarySymbols::open(kAbout, path);
  if (!opened) return opened.error();
  LibrarySymbols& symbols = *opened;
  Cusparse result;
  result.path_ = symbols.path();
#define KM_CUSPARSE_FUNCTION(name, ...) \
  result.name = reinterpret_cast<cusparse_library::name##_type>(symbols.address(#name));
#include "cuda/cusparse_functions.def"
#undef KM_CUSPARSE_FUNCTION
  KM_ASSIGN(result.version_,
            symbols.version(result.cusparseGetProperty, cusparse_library::kMajorVersion,
                            cusparse_library::kMinorVersion));
  return result;
}

Result<const Cusparse*> Cusparse::instance() {
  static const Result<Cusparse> loaded = find_and_load<Cusparse>(kAbout);
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error sparse_error(const char* function, cusparse_library::Status status) {
  return library_failure(function, status_name(status), static_cast<int>(status),
                         meaning_of(status));
}

void destroy_sparse_handle(cusparse_library::Handle handle) {
  // The library is loaded, because it created the handle.
  const Result<const Cusparse*> library = Cusparse::instance();
  const cusparse_library::Status status = (*library)->cusparseDestroy(handle);
  if (status == cusparse_library::kSuccess) return;
  log(LogLevel::kWarn, "cuda", "cusparseDestroy gave %s (%d)", status_name(status), status);
}

}  // namespace km::cuda
