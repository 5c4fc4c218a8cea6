#include "backends/cuda/driver/cufft.h"

#include "backends/cuda/driver/library_symbols.h"

namespace km::cuda {
namespace {

const LibraryFile kFiles[] = {
    {"libcufft.so.12", 13}, {"libcufft.so.11", 12}, {"libcufft.so.10", 11}};

const LibraryAbout kAbout{"cuFFT",          "runs transforms", "nvidia-cufft", "fft",
                          EnvVar::KM_CUFFT, "KM_CUFFT",        kFiles};

const char* status_name(cufft_library::Status status) {
  switch (status) {
    case cufft_library::kSuccess:
      return "CUFFT_SUCCESS";
    case cufft_library::kAllocFailed:
      return "CUFFT_ALLOC_FAILED";
    case cufft_library::kInvalidType:
      return "CUFFT_INVALID_TYPE";
    case cufft_library::kInvalidValue:
      return "CUFFT_INVALID_VALUE";
    case cufft_library::kInternalError:
      return "CUFFT_INTERNAL_ERROR";
    case cufft_library::kExecFailed:
      return "CUFFT_EXEC_FAILED";
    case cufft_library::kSetupFailed:
      return "CUFFT_SETUP_FAILED";
    case cufft_library::kInvalidSize:
      return "CUFFT_INVALID_SIZE";
    case cufft_library::kUnalignedData:
      return "CUFFT_UNALIGNED_DATA";
    case cufft_library::kInvalidDevice:
      return "CUFFT_INVALID_DEVICE";
    case cufft_library::kNoWorkspace:
      return "CUFFT_NO_WORKSPACE";
    case cufft_library::kNotImplemented:
      return "CUFFT_NOT_IMPLEMENTED";
    case cufft_library::kNotSupported:
      return "CUFFT_NOT_SUPPORTED";
  }
  return "an unknown status";
}

LibraryMeaning meaning_of(cufft_library::Status status) {
  switch (status) {
    case cufft_library::kSetupFailed:
      return {KM_ERROR_BLAS_UNAVAILABLE,
              ": it cannot start here; check that its version fits the driver"};
    case cufft_library::kAllocFailed:
    case cufft_library::kNoWorkspace:
      return {KM_ERROR_OUT_OF_DEVICE_MEMORY, ": free device memory"};
    case cufft_library::kInvalidType:
    case cufft_library::kInvalidSize:
    case cufft_library::kInvalidValue:
    case cufft_library::kInvalidDevice:
    case cufft_library::kNotImplemented:
    case cufft_library::kNotSupported:
      return {KM_ERROR_NOT_SUPPORTED,
              ": it has no transforms of this shape; those of f16 and bf16 need sizes that are "
              "powers of two and a device that computes with the type"};
    default:
      return {KM_ERROR_INTERNAL, ""};
  }
}

}  // namespace

Result<Cufft> Cufft::load(const std::string& path) {
  Result<LibrarySymbols> opened = LibrarySymbols::open(kAbout, path);
  if (!opened) return opened.error();
  LibrarySymbols& symbols = *opened;
  Cufft result;
  result.path_ = symbols.path();
#define KM_CUFFT_FUNCTION(name, ...) \
  result.name = reinterpret_cast<cufft_library::name##_type>(symbols.address(#name));
#include "cuda/cufft_functions.def"
#undef KM_CUFFT_FUNCTION
  KM_ASSIGN(result.version_, symbols.version(result.cufftGetProperty, cufft_library::kMajorVersion,
                                             cufft_library::kMinorVersion));
  return result;
}

Result<const Cufft*> Cufft::instance() {
  static const Result<Cufft> loaded = find_and_load<Cufft>(kAbout);
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error fft_error(const char* function, cufft_library::Status status) {
  return library_failure(function, status_name(status), static_cast<int>(status),
                         meaning_of(status));
}

}  // namespace km::cuda
