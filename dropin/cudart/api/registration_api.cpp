// Functions that compiler-generated stubs call: before main() to register code, at each launch, and
// at exit.
#include "base/log.h"
#include "base/process/fork.h"
#include "dropin/cudart/device/context.h"
#include "dropin/cudart/module/registry.h"

namespace km::cudart {
namespace {

/// Runs the body of a registration function, which returns nothing and must not throw. Programs
/// call these at exit, too; a forked child of a process that used the runtime has nothing to
/// release.
template <class Body>
void registering(const char* function, Body&& body) {
  if (is_forked()) return;
  try {
    body();
  } catch (const std::bad_alloc&) {
    log(LogLevel::kInfo, "cuda", "%s: out of memory: the code that it registers is missing",
        function);
  }
}

template <class Body>
void with_binary(const char* function, void** handle, Body&& body) {
  registering(function, [&] {
    auto binary = Registry::instance().binary(handle);
    if (binary != nullptr) {
      body(std::move(binary));
    } else {
      log(LogLevel::kInfo, "cuda", "%s: the handle does not refer to a registered fat binary",
          function);
    }
  });
}

struct Configuration {
  dim3 grid, block;
  size_t shared_bytes;
  cudaStream_t stream;
};
/// A stack of launch configurations: evaluating a launch's arguments may launch other kernels.
struct Configurations {
  static constexpr unsigned kMost = 64;
  unsigned count;
  Configuration all[kMost];
};
thread_local Configurations configurations;

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  void** handle = nullptr;
  registering(__func__, [&] { handle = Registry::instance().add_binary(wrapper); });
  return handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  registering(__func__, [&] { Registry::instance().remove_binary(handle); });
}

void __cudaRegisterFunction(void** handle, const char* symbol, char*, const char* name, int, void*,
                            void*, dim3*, dim3*, int*) {
  with_binary(__func__, handle, [&](std::shared_ptr<Binary> binary) {
    Registry::instance().add_kernel(std::move(binary), symbol, name);
  });
}

void __cudaRegisterVar(void** handle, char* symbol, char*, const char* name, int, size_t, int,
                       int) {
  with_binary(__func__, handle, [&](std::shared_ptr<Binary> binary) {
    Registry::instance().add_variable(symbol, {std::move(binary), name});
  });
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                              size_t, int, int) {
  with_binary(__func__, handle, [&](std::shared_ptr<Binary> binary) {
    Registry::instance().add_variable(host_pointer, {std::move(binary), name, host_pointer});
  });
}

// Registration of host functions and data that kernels would access through unified function
// pointers. It does nothing: no driver that reports them (cudaDeviceProp::unifiedFunctionPointers)
// runs on the CPU.
void __cudaRegisterHostVar(void**, const char* name, char*, size_t) {
  log(LogLevel::kInfo, "cuda", "the variable '%s' of the host is not shared with kernels", name);
}

void __cudaRegisterUnifiedTable(void**, void*) {
  log(LogLevel::kInfo, "cuda", "the program's table of unified functions is not used");
}

char __cudaInitModule(void** handle) {
  const cudaError_t result = call_context([&]() -> cudaError_t {
    Registry& registry = Registry::instance();
    const auto binary = registry.binary(handle);
    return binary != nullptr ? registry.place_managed(*binary) : cudaErrorInvalidResourceHandle;
  });
  return result == cudaSuccess ? 1 : 0;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void* stream) {
  const cudaError_t result = call([&]() -> cudaError_t {
    if (configurations.count == Configurations::kMost) return cudaErrorLaunchMaxDepthExceeded;
    configurations.all[configurations.count++] = {grid, block, shared_bytes,
                                                  static_cast<cudaStream_t>(stream)};
    return cudaSuccess;
  });
  return static_cast<unsigned>(result);
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  return call([&]() -> cudaError_t {
    if (configurations.count == 0) return cudaErrorMissingConfiguration;
    const Configuration last = configurations.all[--configurations.count];
    *grid = last.grid;
    *block = last.block;
    *shared_bytes = last.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = last.stream;
    return cudaSuccess;
  });
}

// The stub caches this result forever, so the call must succeed even if the code cannot be loaded
// yet: the launch then reports the error.
cudaError_t __cudaGetKernel(cudaKernel_t* out, const void* symbol) {
  return call([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    if (is_forked()) return cudaErrorInitializationError;
    Kernel* const kernel = Registry::instance().kernel(symbol);
    if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
    *out = reinterpret_cast<cudaKernel_t>(kernel);
    return cudaSuccess;
  });
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, per_thread(stream));
}

}  // extern "C"

}  // namespace km::cudart
