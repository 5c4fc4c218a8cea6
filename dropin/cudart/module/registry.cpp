#include "dropin/cudart/module/registry.h"

#include <memory>
#include <utility>

#include "base/log.h"
#include "dropin/cudart/frame/call.h"
#include "dropin/cudart/module/fat_binary.h"

namespace km::cudart {
namespace {

/// A thread's cache of recently used kernels, indexed by address.
struct RecentKernels {
  static constexpr size_t kCount = 64;
  struct Entry {
    const void* symbol = nullptr;
    uint64_t generation = 0;
    std::shared_ptr<Kernel> kernel;
  };
  Entry entries[kCount];

  Entry& entry_of(const void* symbol) {
    const auto bits = reinterpret_cast<uintptr_t>(symbol);
    return entries[((bits >> 4) ^ (bits >> 12)) % kCount];
  }
};

// A plain pointer remains readable after the thread's objects are destroyed: code that runs at exit
// may still launch kernels.
thread_local RecentKernels* recent_kernels = nullptr;
struct RecentKernelsEnd {
  ~RecentKernelsEnd() {
    const std::unique_ptr<RecentKernels> last(std::exchange(recent_kernels, nullptr));
  }
};
thread_local RecentKernelsEnd recent_kernels_end;

RecentKernels& recent() {
  if (recent_kernels == nullptr) [[unlikely]] {
    recent_kernels = std::make_unique<RecentKernels>().release();
    static_cast<void>(&recent_kernels_end);  // registers its destructor for the thread's exit
  }
  return *recent_kernels;
}

}  // namespace

cudaError_t Kernel::handle(CUkernel* out) {
  CUkernel found = handle_.load(std::memory_order_acquire);
  if (found == nullptr) {
    CUlibrary library = nullptr;
    LIB_TRY(binary_->library(&library));
    const CUresult result = driver.cuLibraryGetKernel(&found, library, name_.c_str());
    if (result == CUDA_ERROR_NOT_FOUND) {
      log(LogLevel::kInfo, "cuda", "the fat binary has no kernel '%s'", name_.c_str());
      return cudaErrorInvalidDeviceFunction;
    }
    LIB_TRY(result);
    handle_.store(found, std::memory_order_release);
  }
  *out = found;
  return cudaSuccess;
}

cudaError_t Variable::locate(CUdeviceptr* out, size_t* out_bytes) const {
  CUlibrary library = nullptr;
  LIB_TRY(binary->library(&library));
  const auto find = is_managed() ? driver.cuLibraryGetManaged : driver.cuLibraryGetGlobal;
  const CUresult result = find(out, out_bytes, library, name.c_str());
  if (result != CUDA_ERROR_NOT_FOUND) return result;
  log(LogLevel::kInfo, "cuda", "the fat binary has no variable '%s'", name.c_str());
  return cudaErrorInvalidSymbol;
}

Binary::~Binary() {
  if (library_ != nullptr) driver.cuLibraryUnload(library_);
}

cudaError_t Binary::library(CUlibrary* out) {
  const std::lock_guard lock(mutex_);
  if (library_ == nullptr) LIB_TRY(load_fat_binary(wrapper_, &library_));
  *out = library_;
  return cudaSuccess;
}

Registry& Registry::instance() {
  static Registry& only = *new Registry;  // never destroyed: programs unregister late during exit
  return only;
}

void** Registry::add_binary(const void* wrapper) {
  auto made = std::make_shared<Binary>(wrapper);
  Binary* const handle = made.get();
  const std::lock_guard lock(mutex_);
  binaries_.emplace(handle, std::move(made));
  return reinterpret_cast<void**>(handle);
}

std::shared_ptr<Binary> Registry::binary(void** handle) {
  const std::shared_lock lock(mutex_);
  const auto found = binaries_.find(handle);
  return found != binaries_.end() ? found->second : nullptr;
}

void Registry::remove_binary(void** handle) {
  std::shared_ptr<Binary> gone;  // destroyed after the lock: that unloads code
  const std::lock_guard lock(mutex_);
  const auto found = binaries_.find(handle);
  if (found == binaries_.end()) return;
  gone = std::move(found->second);
  binaries_.erase(found);
  std::erase_if(kernels_, [&](const auto& each) { return each.second->binary() == gone.get(); });
  std::erase_if(variables_, [&](const auto& each) { return each.second->binary == gone; });
  generation_.fetch_add(1, std::memory_order_release);
}

void Registry::add_kernel(std::shared_ptr<Binary> binary, const void* symbol, const char* name) {
  auto made = std::make_shared<Kernel>(std::move(binary), name);
  const std::lock_guard lock(mutex_);
  kernels_[symbol] = made;
  kernels_[made.get()] = std::move(made);  // nvcc's stubs keep this handle
  generation_.fetch_add(1, std::memory_order_release);
}

void Registry::add_kernel(CUkernel handle) {
  auto made = std::make_shared<Kernel>(handle);
  const std::lock_guard lock(mutex_);
  kernels_.emplace(handle, std::move(made));
}

void Registry::remove_kernel(CUkernel handle) {
  const std::lock_guard lock(mutex_);
  kernels_.erase(handle);
  generation_.fetch_add(1, std::memory_order_release);
}

void Registry::add_variable(const void* symbol, Variable variable) {
  auto made = std::make_shared<const Variable>(std::move(variable));
  const std::lock_guard lock(mutex_);
  variables_[symbol] = std::move(made);
}

cudaError_t Registry::place_managed(const Binary& binary) {
  std::vector<std::shared_ptr<const Variable>> managed;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [symbol, variable] : variables_) {
      if (variable->binary.get() == &binary && variable->is_managed()) managed.push_back(variable);
    }
  }
  for (const auto& variable : managed) {
    CUdeviceptr address = 0;
    size_t size_bytes = 0;
    LIB_TRY(variable->locate(&address, &size_bytes));
    void* const pointer = reinterpret_cast<void*>(static_cast<uintptr_t>(address));
    *variable->host_pointer = pointer;
    const std::lock_guard lock(mutex_);
    variables_[pointer] = variable;  // becomes the program's symbol for the variable
  }
  return cudaSuccess;
}

Kernel* Registry::kernel(const void* symbol) {
  RecentKernels::Entry& latest = recent().entry_of(symbol);
  const uint64_t now = generation_.load(std::memory_order_acquire);
  if (latest.symbol == symbol && latest.generation == now) [[likely]]
    return latest.kernel.get();
  const std::shared_lock lock(mutex_);
  const auto found = kernels_.find(symbol);
  if (found == kernels_.end()) return nullptr;
  latest = {symbol, now, found->second};
  return latest.kernel.get();
}

std::shared_ptr<const Variable> Registry::variable(const void* symbol) {
  const std::shared_lock lock(mutex_);
  const auto found = variables_.find(symbol);
  return found != variables_.end() ? found->second : nullptr;
}

const void* Registry::symbol_of(CUfunction function, CUkernel handle) {
  const std::shared_lock lock(mutex_);
  for (const auto& [symbol, kernel] : kernels_) {
    if (symbol == kernel.get() || !kernel->is_loaded()) continue;
    CUkernel found = nullptr;
    CUfunction its_function = nullptr;
    if (kernel->handle(&found) != cudaSuccess || found == symbol) continue;
    if (handle != nullptr ? found == handle
                          : driver.cuKernelGetFunction(&its_function, found) == CUDA_SUCCESS &&
                                its_function == function) {
      return symbol;
    }
  }
  return nullptr;
}

cudaError_t find_kernel(const void* symbol, CUkernel* out) {
  Kernel* const kernel = Registry::instance().kernel(symbol);
  return kernel != nullptr ? kernel->handle(out) : cudaErrorInvalidDeviceFunction;
}

cudaError_t find_variable(const void* symbol, CUdeviceptr* out, size_t* out_bytes) {
  const auto variable = Registry::instance().variable(symbol);
  return variable != nullptr ? variable->locate(out, out_bytes) : cudaErrorInvalidSymbol;
}

}  // namespace km::cudart
