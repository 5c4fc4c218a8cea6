#include "dropin/cudart/frame/driver.h"

#include <dlfcn.h>

#include <atomic>
#include <mutex>

#include "base/log.h"
#include "base/process/fork.h"

namespace km::cudart {

DriverTable driver;

namespace {

constexpr frame::ApiListenerPlace kNobody{nullptr};

}  // namespace

std::atomic<const frame::ApiListenerPlace*> api_listener{&kNobody};

namespace {

template <class Function>
struct Missing;
template <class... Arguments>
struct Missing<CUresult (*)(Arguments...)> {
  static CUresult call(Arguments...) { return cudaErrorCallRequiresNewerDriver; }
};

template <class Function>
void find(void* library, const char* name, Function* out) {
  void* const found = library != nullptr ? dlsym(library, name) : nullptr;
  *out = found != nullptr ? reinterpret_cast<Function>(found) : &Missing<Function>::call;
}

void fill(void* library) {
#define KM_CUDART_DRIVER(name) find(library, #name, &driver.name);
#include "dropin/cudart/frame/driver.def"
#undef KM_CUDART_DRIVER
}

/// Opens the driver once, and fills the table of its functions.
cudaError_t open_driver() {
  static std::mutex mutex;
  static bool is_open = false, is_there = false;  // guarded by `mutex`
  const std::lock_guard lock(mutex);
  if (!is_open) {
    watch_for_fork();
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    fill(library);
    is_there = library != nullptr;
    is_open = true;
    if (!is_there) {
      log(LogLevel::kInfo, "cuda",
          "there is no CUDA driver: %s; run the program by `kernelmill exec`", dlerror());
    }
  }
  return is_there ? cudaSuccess : cudaErrorInsufficientDriver;
}

/// Makes the first calls of the driver. Nothing is locked, because callbacks of CUPTI may call the
/// runtime within them, and several threads may make them.
cudaError_t start_driver() {
  constexpr int kOldestDriver = 12000;  // the first version with cuLibraryLoadData
  int version = 0;
  if (const CUresult known = driver.cuDriverGetVersion(&version); known != cudaSuccess) {
    return known;
  }
  if (version < kOldestDriver) {
    log(LogLevel::kInfo, "cuda", "the CUDA driver is of version %d; at least %d is needed", version,
        kOldestDriver);
    return cudaErrorInsufficientDriver;
  }
  const void* listener = nullptr;
  if (driver.cuGetExportTable(&listener, &frame::kApiListenerId) == cudaSuccess) {
    api_listener.store(static_cast<const frame::ApiListenerPlace*>(listener),
                       std::memory_order_release);
  }
  return driver.cuInit(0);
}

}  // namespace

cudaError_t load_driver() {
  static std::atomic<bool> is_loaded{false};
  static std::atomic<cudaError_t> result{cudaSuccess};
  if (is_forked()) [[unlikely]]
    return cudaErrorInitializationError;
  if (is_loaded.load(std::memory_order_acquire)) return result.load(std::memory_order_relaxed);
  cudaError_t done = open_driver();
  if (done == cudaSuccess) done = start_driver();
  result.store(done, std::memory_order_relaxed);
  is_loaded.store(true, std::memory_order_release);
  return done;
}

}  // namespace km::cudart
