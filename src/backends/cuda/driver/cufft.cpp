#include "backends/cuda/driver/cufft.h"

#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/library_files.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::cuda {
namespace {

const LibraryFile kFiles[] = {
    {"libcufft.so.12", 13}, {"libcufft.so.11", 12}, {"libcufft.so.10", 11}};

Error not_usable(const std::string& path, const std::string& why) {
  return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s %s", path.c_str(), why.c_str());
}

Result<Cufft> find_and_load() {
  const std::string named = env(EnvVar::KM_CUFFT).value_or("");
  std::string failures;
  for (const std::string& path :
       library_candidates(kFiles, named, cuda_toolkits(), driver_version())) {
    Result<Cufft> loaded = Cufft::load(path);
    if (loaded) {
      log(LogLevel::kInfo, "fft", "cuFFT %s at %s", loaded->version().c_str(),
          loaded->path().c_str());
      return loaded;
    }
    failures += "; " + loaded.error().message;
  }
  return make_error(
      KM_ERROR_BLAS_UNAVAILABLE,
      "cuFFT, which runs transforms on NVIDIA GPUs, was not found%s%s%s. Install that of the CUDA "
      "toolkit for the driver's CUDA %s or older, from 11 on (libcufft.so.%d; the Python package "
      "nvidia-cufft has it too), or set KM_CUFFT to the library or to its folder",
      named.empty() ? " in the loader's folders" : " at KM_CUFFT=", named.c_str(), failures.c_str(),
      version_text(driver_version()).c_str(), driver_version() / 1000 - 1);
}

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

struct Meaning {
  km_status status;
  const char* advice;
};
Meaning meaning_of(cufft_library::Status status) {
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
  Result<Dylib> library = Dylib::open(path);
  if (!library) {
    return make_error(KM_ERROR_BLAS_UNAVAILABLE, "%s", library.error().message.c_str());
  }
  Cufft result;
  result.path_ = library->path().empty() ? path : library->path();
  std::string missing;
  const auto find = [&](const char* name) {
    void* found = library->symbol(name);
    if (found == nullptr && missing.empty()) missing = name;
    return found;
  };
#define KM_CUFFT_FUNCTION(name, ...) \
  result.name = reinterpret_cast<cufft_library::name##_type>(find(#name));
#include "cuda/cufft_functions.def"
#undef KM_CUFFT_FUNCTION
  if (!missing.empty()) return not_usable(result.path_, "is not cuFFT: it lacks " + missing);
  int major = 0, minor = 0;
  if (result.cufftGetProperty(cufft_library::kMajorVersion, &major) != cufft_library::kSuccess ||
      result.cufftGetProperty(cufft_library::kMinorVersion, &minor) != cufft_library::kSuccess) {
    return not_usable(result.path_, "does not report its version");
  }
  result.version_ = std::to_string(major) + "." + std::to_string(minor);
  return result;
}

Result<const Cufft*> Cufft::instance() {
  static const Result<Cufft> loaded = find_and_load();
  if (!loaded) return loaded.error();
  return &*loaded;
}

Error fft_error(const char* function, cufft_library::Status status) {
  const Meaning meaning = meaning_of(status);
  Error error = make_error(meaning.status, "%s gave %s (%d)%s", function, status_name(status),
                           static_cast<int>(status), meaning.advice);
  error.native_code = status;
  return error;
}

}  // namespace km::cuda
