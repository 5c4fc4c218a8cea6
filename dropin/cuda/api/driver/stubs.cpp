// Weak definitions of every name that the CUDA driver library exports, so that a program that looks
// them all up can start. An implemented function's definition replaces the weak one. The headers
// with prototypes are not included, because the parameters are not read.
#include <atomic>
#include <cstdint>

#include "base/arch/symbol_name.h"

namespace km::dropin {

int not_implemented(const char* function, std::atomic<bool>& told);  // not_implemented.cpp

}  // namespace km::dropin

#define KM_CUDA_FUNCTION(symbol, base, suffix, version)                \
  extern "C" [[gnu::weak]] int symbol() KM_SYMBOL_NAME("km_" #symbol); \
  extern "C" int symbol() {                                            \
    static std::atomic<bool> told{false};                              \
    return km::dropin::not_implemented(#symbol, told);                 \
  }
#include "cuda/generated/functions.def"
#undef KM_CUDA_FUNCTION

// Symbols that debuggers look up. No debugger can attach: the functions return an error and the
// variables are zero.
namespace {

constexpr int kDebuggerUnknown = 1;  // CUDBG_ERROR_UNKNOWN

template <int kBytes>
struct DebuggerVariable {
  alignas(kBytes < 8 ? kBytes : 8) unsigned char bytes[kBytes];
};

}  // namespace

#define KM_CUDA_FUNCTION(symbol)                       \
  extern "C" [[gnu::weak]] int symbol() {              \
    static std::atomic<bool> told{false};              \
    return km::dropin::not_implemented(#symbol, told); \
  }
#define KM_CUDA_DEBUGGER(symbol) \
  extern "C" int symbol() noexcept { return kDebuggerUnknown; }
#define KM_CUDA_VARIABLE(symbol, bytes)           \
  extern "C" {                                    \
  [[gnu::used]] DebuggerVariable<bytes> symbol{}; \
  }
#include "cuda/generated/undeclared.def"
#undef KM_CUDA_FUNCTION
#undef KM_CUDA_DEBUGGER
#undef KM_CUDA_VARIABLE
