#include "backends/cuda/driver/driver.h"

#include <optional>

#include "backends/cuda/driver/status.h"
#include "base/env.h"
#include "base/log.h"
#include "base/process/dylib.h"

namespace km::cuda {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";
constexpr const char* kInstall =
    "install NVIDIA's driver (it brings libcuda.so.1), in a container with the NVIDIA container "
    "toolkit, or open a CPU device (\"cpu\")";

std::atomic<const Dylib*> g_library{nullptr};
std::atomic<int> g_version{0};

Error unavailable(const std::string& message, cu::CUresult result) {
  return {KM_ERROR_BACKEND_UNAVAILABLE, message, result};
}

Status explain_init(const std::string& path, Called called) {
  if (called.ok()) return {};
  const std::string code = result_text(called.result);
  switch (called.result) {
    case cu::CUDA_ERROR_STUB_LIBRARY:
      return unavailable(path +
                             " is the stub library of a CUDA toolkit, made to link with and not to "
                             "run; take its folder out of LD_LIBRARY_PATH, and " +
                             kInstall,
                         called.result);
    case cu::CUDA_ERROR_NO_DEVICE:
      return Error{KM_ERROR_NO_DEVICE,
                   path + " finds no NVIDIA GPU (" + code +
                       "); check nvidia-smi and CUDA_VISIBLE_DEVICES, or open a CPU device "
                       "(\"cpu\")",
                   called.result};
    case cu::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case cu::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
      return unavailable(path + " does not fit the driver in the kernel (" + code +
                             "); restart the machine after an upgrade of the driver, or take the "
                             "compatibility library out of LD_LIBRARY_PATH",
                         called.result);
    default:
      return unavailable(path + " cannot start: cuInit gave " + code +
                             "; check nvidia-smi, or open a CPU device (\"cpu\")",
                         called.result);
  }
}

Status check_version(const std::string& path) {
  int version = 0;
  const Called called = driver().cuDriverGetVersion(&version);
  if (!called.ok()) {
    return unavailable(path + " does not report its version: " + result_text(called.result),
                       called.result);
  }
  if (version < kMinimumVersion) {
    return unavailable("the NVIDIA driver (" + path + ") is made for CUDA " +
                           version_text(version) + " and lacks functions that came with CUDA " +
                           version_text(kMinimumVersion) +
                           " (instantiating graphs with flags, memory pools): install driver 470 "
                           "or newer",
                       cu::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
  }
  g_version.store(version, std::memory_order_relaxed);
  return {};
}

}  // namespace

void* find_symbol(const SymbolInfo& info) {
  const Dylib* library = g_library.load(std::memory_order_acquire);
  return library != nullptr ? library->symbol(info.name) : nullptr;
}

int driver_version() { return g_version.load(std::memory_order_relaxed); }

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string device_uri(uint32_t ordinal) { return "cuda:" + std::to_string(ordinal); }

Status load_driver() {
  static std::optional<Dylib> library;  // never closed; the registry loads the driver once
  const std::optional<std::string> chosen = env(EnvVar::KM_CUDA_DRIVER);
  const std::string name = chosen.value_or(kLibrary);
  Result<Dylib> opened = Dylib::open(name);
  if (!opened) {
    const std::string hint = chosen ? "correct KM_CUDA_DRIVER or unset it" : std::string(kInstall);
    return unavailable("the CUDA driver cannot be loaded: " + opened.error().message + "; " + hint,
                       0);
  }
  library = std::move(*opened);
  g_library.store(&*library, std::memory_order_release);
  const std::string path = library->path().empty() ? name : library->path();
  if (!driver().cuInit.exists() || !driver().cuDriverGetVersion.exists()) {
    return unavailable(path + " is not a CUDA driver: it lacks cuInit or cuDriverGetVersion", 0);
  }
  KM_TRY(explain_init(path, driver().cuInit(0)));
  KM_TRY(check_version(path));
  log(LogLevel::kInfo, "cuda", "driver %s for CUDA %s", path.c_str(),
      version_text(driver_version()).c_str());
  return {};
}

}  // namespace km::cuda
