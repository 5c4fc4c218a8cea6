// The CUDA driver, libcuda.so.1: opened at run time, with functions looked up at their first call.
#pragma once

#include <atomic>

#include "base/result.h"
#include "cuda/driver.h"

namespace km::cuda {

/// CUDA 11.4, the first version with cuGraphInstantiateWithFlags and all functions of memory pools
/// that are used.
constexpr int kMinimumVersion = 11040;

/// The CUDA version that introduced each function.
enum Since : int {
#define KM_CUDA_FUNCTION(symbol, base, suffix, version) kSince_##symbol = version,
#include "cuda/generated/functions.def"
#undef KM_CUDA_FUNCTION
};

struct SymbolInfo {
  const char* name;
  int since;
};

/// The result of a driver function and the function's name.
struct Called {
  cu::CUresult result;
  const SymbolInfo* symbol;
  bool ok() const { return result == cu::CUDA_SUCCESS; }
};

/// The address of an exported function; null if the driver lacks it.
void* find_symbol(const SymbolInfo& info);

template <class Function>
class Symbol;

template <class... Parameters>
class Symbol<cu::CUresult (*)(Parameters...)> {
 public:
  using Function = cu::CUresult (*)(Parameters...);
  constexpr Symbol(const char* name, int since) : info_{name, since} {}

  /// Returns CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER if the driver lacks the function.
  Called operator()(Parameters... parameters) {
    Function function = address_.load(std::memory_order_acquire);
    if (function == nullptr) [[unlikely]] {
      function = find();
      if (function == nullptr) return {cu::CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, &info_};
    }
    return {function(parameters...), &info_};
  }
  bool exists() { return address_.load(std::memory_order_acquire) != nullptr || find() != nullptr; }

 private:
  Function find() {
    const auto found = reinterpret_cast<Function>(find_symbol(info_));
    if (found != nullptr) address_.store(found, std::memory_order_release);
    return found;
  }
  const SymbolInfo info_;
  std::atomic<Function> address_{nullptr};
};

struct Driver {
#define KM_CUDA_SYMBOL(name) Symbol<decltype(&cu::name)> name{#name, kSince_##name};
#include "backends/cuda/driver/symbols.def"
#undef KM_CUDA_SYMBOL
};

inline constinit Driver g_driver;
inline Driver& driver() { return g_driver; }

/// Opens and initialises the driver, once for the process; the error says what is wrong and what to
/// do.
Status load_driver();
/// The driver's version, for example 12040.
int driver_version();

/// The version as text: "12.4".
std::string version_text(int version);

/// The device's name in messages: "cuda:0".
std::string device_uri(uint32_t ordinal);

}  // namespace km::cuda
