#include "dropin/library/driver.h"

#include <atomic>

#include "base/log.h"
#include "base/process/dylib.h"
#include "base/process/fork.h"

namespace km::library {
namespace {

struct Loaded {
  Driver driver{};
  bool is_there = false;
};

std::atomic<const LibraryTable*> found_table{nullptr};

bool find_functions(const Dylib& library, Driver* out) {
  bool has_all = true;
#define KM_LIBRARY_DRIVER(name)                                                      \
  out->name = library.function<decltype(&cu::name)>(#name);                          \
  if (out->name == nullptr) {                                                        \
    log(LogLevel::kInfo, "cuda", "the CUDA driver is too old: it has no %s", #name); \
    has_all = false;                                                                 \
  }
#include "dropin/library/driver.def"
#undef KM_LIBRARY_DRIVER
  return has_all;
}

Loaded load() {
  watch_for_fork();
  Loaded loaded;
  const Result<Dylib> library = Dylib::open("libcuda.so.1");
  if (!library) {
    log(LogLevel::kInfo, "cuda",
        "there is no CUDA driver: %s; run the program by `kernelmill exec`",
        library.error().message.c_str());
    return loaded;
  }
  loaded.is_there = find_functions(*library, &loaded.driver);
  if (!loaded.is_there) return loaded;
  const void* table = nullptr;
  if (loaded.driver.cuGetExportTable(&table, &kLibraryTableId) == cu::CUDA_SUCCESS) {
    loaded.driver.table = static_cast<const LibraryTable*>(table);
    found_table.store(loaded.driver.table, std::memory_order_release);
  }
  return loaded;
}

/// A forked child of a process that used the driver cannot use it.
const Loaded& loaded() {
  static const Loaded none;
  if (is_forked()) return none;
  static const Loaded result = load();
  return result;
}

/// Calls cuInit, without a lock: a callback of CUPTI may call the library within it. Several
/// threads may make the call. Its failure stays.
bool is_initialised(const Driver& driver) {
  static std::atomic<int> result{-1};  // -1: no call has ended yet
  int known = result.load(std::memory_order_acquire);
  if (known < 0) {
    known = static_cast<int>(driver.cuInit(0));
    if (known != 0) log(LogLevel::kInfo, "cuda", "cuInit has failed with %d", known);
    result.store(known, std::memory_order_release);
  }
  return known == 0;
}

}  // namespace

const Driver* loaded_driver() { return loaded().is_there ? &loaded().driver : nullptr; }

const LibraryTable* table_if_loaded() noexcept {
  return found_table.load(std::memory_order_acquire);
}

const Driver* driver() {
  const Loaded& found = loaded();
  return found.is_there && is_initialised(found.driver) ? &found.driver : nullptr;
}

namespace {

/// Retains the primary context again if `gone` is its handle, after a reset.
cu::CUresult revive(const Driver& driver, cu::CUcontext gone) {
  int count = 0;
  driver.cuDeviceGetCount(&count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    cu::CUdevice device = 0;
    cu::CUcontext primary = nullptr;
    if (driver.cuDeviceGet(&device, ordinal) != cu::CUDA_SUCCESS ||
        driver.cuDevicePrimaryCtxRetain(&primary, device) != cu::CUDA_SUCCESS) {
      continue;
    }
    if (primary == gone) return cu::CUDA_SUCCESS;
    driver.cuDevicePrimaryCtxRelease_v2(device);
  }
  return cu::CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

}  // namespace

cu::CUresult ContextLife::note_current(const Driver& driver) {
  cu::CUresult got = driver.cuCtxGetCurrent(&context_);
  if (got == cu::CUDA_SUCCESS) got = driver.cuCtxGetId(context_, &id_);
  if (got != cu::CUDA_SUCCESS) forget();
  return got;
}

bool ContextLife::goes_on(const Driver& driver) const {
  unsigned long long id = 0;
  return driver.cuCtxGetId(context_, &id) == cu::CUDA_SUCCESS && id == id_;
}

cu::CUresult enter_context(const Driver& driver) {
  cu::CUcontext current = nullptr;
  if (const cu::CUresult got = driver.cuCtxGetCurrent(&current); got != cu::CUDA_SUCCESS) {
    return got;
  }
  if (current != nullptr) {
    unsigned long long id = 0;
    const cu::CUresult got = driver.cuCtxGetId(current, &id);
    return got == cu::CUDA_ERROR_CONTEXT_IS_DESTROYED ? revive(driver, current) : got;
  }
  cu::CUdevice device = 0;
  if (const cu::CUresult got = driver.cuDeviceGet(&device, 0); got != cu::CUDA_SUCCESS) return got;
  const cu::CUresult retained = driver.cuDevicePrimaryCtxRetain(&current, device);
  return retained == cu::CUDA_SUCCESS ? driver.cuCtxSetCurrent(current) : retained;
}

}  // namespace km::library
